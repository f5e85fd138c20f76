//! Permissions: what an RPC wants to do (A41).
//!
//! Follows C-core `ParsePermission` and `ParsePermissionToJson`. Their paths say `and_permission`
//! and `or_permission` for the fields `and_rules` and `or_rules`.

use serde_json::{Value, json};

use super::condition::PolicyWalk;
use crate::shared::rules::RBAC_PERMISSION_UNSUPPORTED;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::Permission;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::permission::{Rule, Set};
use xdsctl_model::diag::{Path, rules};

rules! {
    /// A permission's destination_port is no port, so that it never matches.
    RBAC_PORT_OUT_OF_RANGE = "rbac-port-out-of-range", Filter, Advice, "C-core Rbac::Permission::MakeDestPortPermission";
}

impl PolicyWalk<'_, '_> {
    pub(super) fn permission(&mut self, permission: &Permission, depth: u32, at: &Path<'_>) -> Value {
        if !self.may_descend(depth, at) {
            return Value::Null;
        }
        let unsupported = match &permission.rule {
            Some(Rule::AndRules(set)) => {
                return json!({ "andRules": self.permissions(set, depth, &at.field("and_permission")) });
            }
            Some(Rule::OrRules(set)) => {
                return json!({ "orRules": self.permissions(set, depth, &at.field("or_permission")) });
            }
            Some(Rule::NotRule(inner)) => {
                return json!({ "notRule": self.permission(inner, depth + 1, &at.field("not_rule")) });
            }
            Some(Rule::Any(any)) => return self.any(*any, at),
            Some(Rule::Header(header)) => return json!({ "header": self.header(header, &at.field("header")) }),
            Some(Rule::UrlPath(path)) => return json!({ "urlPath": self.url_path(path, &at.field("url_path")) }),
            Some(Rule::DestinationIp(range)) => {
                return json!({ "destinationIp": self.cidr(range, &at.field("destination_ip")) });
            }
            Some(Rule::DestinationPort(port)) => return self.port(*port, at),
            Some(Rule::Metadata(metadata)) => {
                return json!({ "metadata": self.metadata(metadata, &at.field("metadata")) });
            }
            Some(Rule::RequestedServerName(name)) => {
                return json!({ "requestedServerName": self.server_name(name, &at.field("requested_server_name")) });
            }
            Some(Rule::DestinationPortRange(_)) => "destination_port_range is not supported",
            Some(Rule::Matcher(_)) => "matcher is not supported",
            Some(Rule::UriTemplate(_)) => "uri_template is not supported",
            Some(Rule::SourcedMetadata(_)) => "sourced_metadata is not supported",
            None => "no rule is set",
        };
        self.cx
            .report(&RBAC_PERMISSION_UNSUPPORTED, at, format_args!("{unsupported}"));
        json!({})
    }

    fn permissions(&mut self, set: &Set, depth: u32, at: &Path<'_>) -> Value {
        let at = at.field("rules");
        let rules: Value = set
            .rules
            .iter()
            .enumerate()
            .map(|(i, rule)| self.permission(rule, depth + 1, &at.index(i)))
            .collect();
        json!({ "rules": rules })
    }

    fn port(&mut self, port: u32, at: &Path<'_>) -> Value {
        if u16::try_from(port).is_err() {
            self.cx.report(
                &RBAC_PORT_OUT_OF_RANGE,
                &at.field("destination_port"),
                format_args!("{port} is no port, so it never matches"),
            );
        }
        json!({ "destinationPort": port })
    }
}
