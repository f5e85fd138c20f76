//! TLS contexts as the client keeps them.

use serde_json::{Value, json};

use super::matcher;
use super::object::ParsedObject;
use xdsctl_model::resource::tls::{
    CaCerts, CommonTlsContext, DownstreamTlsContext, ProviderInstance, UpstreamTlsContext,
};

pub(super) fn upstream(context: &UpstreamTlsContext) -> Value {
    common(&context.common)
        .set("sni", context.sni.as_str(), "")
        .set("auto_host_sni", context.auto_host_sni, false)
        .set("auto_sni_san_validation", context.auto_sni_san_validation, false)
        .done()
}

pub(super) fn downstream(context: &DownstreamTlsContext) -> Value {
    common(&context.common)
        .set("require_client_certificate", context.require_client_certificate, false)
        .done()
}

fn common(context: &CommonTlsContext) -> ParsedObject {
    let ca = match &context.ca_certs {
        CaCerts::None => None,
        CaCerts::Provider(instance) => Some(provider(instance)),
        CaCerts::SystemRoots => Some(json!("system_root_certs")),
    };
    ParsedObject::new()
        .optional("ca_certificates", ca)
        .list(
            "match_subject_alt_names",
            context.match_subject_alt_names.iter().map(matcher::string),
        )
        .optional("identity_certificate", context.identity.as_ref().map(provider))
}

fn provider(instance: &ProviderInstance) -> Value {
    ParsedObject::new()
        .put("instance_name", instance.instance_name.as_str())
        .set("certificate_name", instance.certificate_name.as_str(), "")
        .done()
}
