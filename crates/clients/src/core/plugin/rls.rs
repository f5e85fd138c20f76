//! The RLS plugin: `grpc.lookup.v1.RouteLookupClusterSpecifier` as the config of the LB policy
//! `rls_experimental`.
//!
//! Follows C-core `XdsRouteLookupClusterSpecifierPlugin` (xds_cluster_specifier_plugin.cc): the
//! message is printed as canonical JSON, without fields that have their default, and that JSON goes
//! through the LB policy's own loader. So an empty text or a 0 is an absent field, and what the
//! loader says is quoted with the loader's paths.

use std::sync::Arc;

use crate::shared::rls::{config_to_json, policy_json};
use crate::shared::rules::{RLS_CONFIG_MISSING, RLS_CONFIG_NOT_JSON, RLS_CONFIG_REJECTED};

use xdsctl_document::proto::any::Extension;
use xdsctl_document::proto::pb::grpc::lookup::v1::RouteLookupClusterSpecifier;
use xdsctl_lb::rejected;
use xdsctl_lb::rls as policy;
use xdsctl_lb::xds::Chain;
use xdsctl_model::diag::{Path, Related, Validation};
use xdsctl_model::resource::{LbPolicy, MAX_DURATION_SECONDS};

/// Converts the plugin to the LB policy `rls_experimental`.
///
/// `at` is the path of the message, `any_at` that of the Any that holds it. What the LB policy
/// rejects is reported at `any_at`, as the client does.
pub fn lb_policy(
    extension: &Extension<'_>,
    at: &Path<'_>,
    any_at: &Path<'_>,
    cx: &mut Validation<'_>,
) -> Option<Arc<LbPolicy>> {
    let message: RouteLookupClusterSpecifier = extension.decode(at, cx)?;
    let config = message.route_lookup_config.as_ref();
    let config_at = at.field("route_lookup_config");
    let config = cx.required(config, &RLS_CONFIG_MISSING, &config_at, "missing, must be set")?;
    let config = match config_to_json(config) {
        Ok(config) => config,
        Err(name) => {
            cx.report(
                &RLS_CONFIG_NOT_JSON,
                at,
                format_args!(
                    "{name} is not a Duration: seconds must be within {MAX_DURATION_SECONDS} of 0, nanos within 999999999, of the same sign"
                ),
            );
            return None;
        }
    };
    let json = policy_json(config, cx.profile());
    match xdsctl_lb::parse_list(&json, cx.profile()) {
        Ok(config) => Some(Arc::new(LbPolicy {
            config,
            refusal: None,
            json,
        })),
        Err(faults) => {
            let rejected = Related {
                path: any_at.to_owned(),
                message: format!("the LB policy `{}` rejects the config", policy::NAME),
                rule: Some(&RLS_CONFIG_REJECTED),
            };
            rejected::report(&faults, rejected, &Chain::default(), any_at, cx);
            None
        }
    }
}
