//! The trees of a policy: permissions, which say what an RPC wants to do, and principals, who sends
//! it (A41).
//!
//! Follows C-core `ParsePermission`, `ParsePrincipal`, `ParsePermissionToJson` and
//! `ParsePrincipalToJson`. The paths of permissions say `and_permission` and `or_permission` for
//! the fields `and_rules` and `or_rules`.

use serde_json::{Value, json};

use super::condition::PolicyWalk;
use crate::shared::conditions::{Condition, ConditionKind, Conditions};
use xdsctl_document::proto::pb::envoy::r#type::matcher::v3::StringMatcher;
use xdsctl_model::diag::{Path, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::rbac::RbacAddress;

rules! {
    /// A permission's destination_port is no port, so that it never matches.
    RBAC_PORT_OUT_OF_RANGE = "rbac-port-out-of-range", Filter, Advice, "C-core Rbac::Permission::MakeDestPortPermission";
    /// A principal is any authenticated peer, and the client crashes when it prints that.
    RBAC_AUTHENTICATED_CRASHES_TRACING = "rbac-authenticated-crashes-tracing", Filter, Fails, "C-core Rbac::Principal::ToString";
}

impl PolicyWalk<'_, '_> {
    /// Returns the JSON of a permission or a principal with `depth` sets and negations around it.
    pub(super) fn tree(&mut self, condition: Condition<'_>, depth: u32, at: &Path<'_>) -> Value {
        if !self.may_descend(depth, at) {
            return Value::Null;
        }
        let fields = condition.fields();
        // The names in JSON, and those in the client's paths.
        let ([all, one_of, not], [all_at, one_of_at]) = match condition {
            Condition::Permission(_) => (["andRules", "orRules", "notRule"], ["and_permission", "or_permission"]),
            Condition::Principal(_) => (["andIds", "orIds", "notId"], [fields.all, fields.one_of]),
        };
        match condition.kind() {
            ConditionKind::All(list) => json!({ all: self.set(list, fields.list, depth, &at.field(all_at)) }),
            ConditionKind::OneOf(list) => json!({ one_of: self.set(list, fields.list, depth, &at.field(one_of_at)) }),
            ConditionKind::Not(inner) => json!({ not: self.tree(inner, depth + 1, &at.field(fields.not)) }),
            ConditionKind::Any(any) => self.any(any, at),
            ConditionKind::Header(header) => json!({ "header": self.header(header, &at.field("header")) }),
            ConditionKind::Path(path) => json!({ "urlPath": self.url_path(path, &at.field("url_path")) }),
            ConditionKind::Address(which, range) => {
                let name = match which {
                    RbacAddress::Destination => "destinationIp",
                    RbacAddress::Source => "sourceIp",
                    RbacAddress::DirectRemote => "directRemoteIp",
                    RbacAddress::Remote => "remoteIp",
                };
                json!({ name: self.cidr(range, &at.field(which.field())) })
            }
            ConditionKind::Port(port) => self.port(port, at),
            ConditionKind::Metadata(metadata) => json!({ "metadata": self.metadata(metadata, &at.field("metadata")) }),
            ConditionKind::ServerName(name) => {
                json!({ "requestedServerName": self.server_name(name, &at.field("requested_server_name")) })
            }
            ConditionKind::Authenticated(name) => {
                json!({ "authenticated": self.authenticated(name, &at.field("authenticated")) })
            }
            ConditionKind::PortRange(_) => self.unsupported(condition, "destination_port_range", at),
            ConditionKind::Other(field) => self.unsupported(condition, field, at),
        }
    }

    fn unsupported(&mut self, condition: Condition<'_>, field: &str, at: &Path<'_>) -> Value {
        let (rule, kind) = (condition.unsupported_rule(), condition.fields().oneof);
        match field {
            "" => self.cx.report(rule, at, format_args!("no {kind} is set")),
            field => self.cx.report(rule, at, format_args!("{field} is not supported")),
        };
        json!({})
    }

    fn set(&mut self, list: Conditions<'_>, name: &'static str, depth: u32, at: &Path<'_>) -> Value {
        let at = at.field(name);
        let all = list.iter().enumerate();
        let all: Value = all.map(|(i, one)| self.tree(one, depth + 1, &at.index(i))).collect();
        json!({ name: all })
    }

    fn port(&mut self, port: u32, at: &Path<'_>) -> Value {
        let port_at = at.field("destination_port");
        let why = format_args!("{port} is no port, so it never matches");
        let known = u16::try_from(port).ok();
        self.cx.required(known, &RBAC_PORT_OUT_OF_RANGE, &port_at, why);
        json!({ "destinationPort": port })
    }

    /// Converts an authenticated peer. Without a name, any peer with a certificate matches.
    ///
    /// C-core's code for printing takes the name for granted, and it prints every accepted resource
    /// when it is told to trace.
    fn authenticated(&mut self, name: Option<&StringMatcher>, at: &Path<'_>) -> Value {
        if let Some(name) = name {
            return json!({ "principalName": self.string(name, &at.field("principal_name")) });
        }
        if self.cx.has(Feature::TraceXdsClient) {
            self.cx
                .report(
                    &RBAC_AUTHENTICATED_CRASHES_TRACING,
                    at,
                    format_args!("no principal_name: the client crashes while it prints the resource"),
                )
                .help("run without GRPC_TRACE=xds_client, or match every name with `prefix: \"\"`");
        }
        json!({})
    }
}
