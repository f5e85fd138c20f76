//! Principals: who sends an RPC (A41).
//!
//! Follows C-core `ParsePrincipal` and `ParsePrincipalToJson`.

use serde_json::{Value, json};

use super::condition::PolicyWalk;
use crate::shared::rules::RBAC_PRINCIPAL_UNSUPPORTED;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::Principal;
use xdsctl_document::proto::pb::envoy::config::rbac::v3::principal::{Authenticated, Identifier, Set};
use xdsctl_model::diag::{Path, rules};
use xdsctl_model::profile::Feature;

rules! {
    /// A principal is any authenticated peer, and the client crashes when it prints that.
    RBAC_AUTHENTICATED_CRASHES_TRACING = "rbac-authenticated-crashes-tracing", Filter, Fails, "C-core Rbac::Principal::ToString";
}

impl PolicyWalk<'_, '_> {
    pub(super) fn principal(&mut self, principal: &Principal, depth: u32, at: &Path<'_>) -> Value {
        if !self.may_descend(depth, at) {
            return Value::Null;
        }
        let unsupported = match &principal.identifier {
            Some(Identifier::AndIds(set)) => {
                return json!({ "andIds": self.principals(set, depth, &at.field("and_ids")) });
            }
            Some(Identifier::OrIds(set)) => {
                return json!({ "orIds": self.principals(set, depth, &at.field("or_ids")) });
            }
            Some(Identifier::NotId(inner)) => {
                return json!({ "notId": self.principal(inner, depth + 1, &at.field("not_id")) });
            }
            Some(Identifier::Any(any)) => return self.any(*any, at),
            Some(Identifier::Authenticated(peer)) => {
                return json!({ "authenticated": self.authenticated(peer, &at.field("authenticated")) });
            }
            Some(Identifier::SourceIp(range)) => {
                return json!({ "sourceIp": self.cidr(range, &at.field("source_ip")) });
            }
            Some(Identifier::DirectRemoteIp(range)) => {
                return json!({ "directRemoteIp": self.cidr(range, &at.field("direct_remote_ip")) });
            }
            Some(Identifier::RemoteIp(range)) => {
                return json!({ "remoteIp": self.cidr(range, &at.field("remote_ip")) });
            }
            Some(Identifier::Header(header)) => {
                return json!({ "header": self.header(header, &at.field("header")) });
            }
            Some(Identifier::UrlPath(path)) => {
                return json!({ "urlPath": self.url_path(path, &at.field("url_path")) });
            }
            Some(Identifier::Metadata(metadata)) => {
                return json!({ "metadata": self.metadata(metadata, &at.field("metadata")) });
            }
            Some(Identifier::FilterState(_)) => "filter_state is not supported",
            Some(Identifier::SourcedMetadata(_)) => "sourced_metadata is not supported",
            Some(Identifier::Custom(_)) => "custom is not supported",
            None => "no identifier is set",
        };
        self.cx
            .report(&RBAC_PRINCIPAL_UNSUPPORTED, at, format_args!("{unsupported}"));
        json!({})
    }

    fn principals(&mut self, set: &Set, depth: u32, at: &Path<'_>) -> Value {
        let at = at.field("ids");
        let ids: Value = set
            .ids
            .iter()
            .enumerate()
            .map(|(i, id)| self.principal(id, depth + 1, &at.index(i)))
            .collect();
        json!({ "ids": ids })
    }

    /// A peer with a certificate, any one if no name is given.
    ///
    /// C-core's printing takes the name for granted, and it prints every accepted resource when it
    /// is told to trace.
    fn authenticated(&mut self, peer: &Authenticated, at: &Path<'_>) -> Value {
        if let Some(name) = &peer.principal_name {
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
