//! TLS contexts as the client keeps them.

use super::fields::{FieldValue, Fields, Form};
use xdsctl_model::resource::tls::{
    CaCerts, CommonTlsContext, DownstreamTlsContext, ProviderInstance, UpstreamTlsContext,
};

impl Fields for UpstreamTlsContext {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        self.common.fields(form);
        form.set("sni", self.sni.as_str(), "")
            .set("auto_host_sni", self.auto_host_sni, false)
            .set("auto_sni_san_validation", self.auto_sni_san_validation, false);
    }
}

impl Fields for DownstreamTlsContext {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        self.common.fields(form);
        form.set("require_client_certificate", self.require_client_certificate, false);
    }
}

impl Fields for CommonTlsContext {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        let ca = match &self.ca_certs {
            CaCerts::None => None,
            CaCerts::Provider(instance) => Some(FieldValue::from(instance)),
            CaCerts::SystemRoots => Some("system_root_certs".into()),
        };
        form.optional("ca_certificates", ca)
            .list("match_subject_alt_names", &self.match_subject_alt_names)
            .optional("identity_certificate", self.identity.as_ref());
    }
}

impl Fields for ProviderInstance {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("instance_name", &self.instance_name)
            .set("certificate_name", self.certificate_name.as_str(), "");
    }
}
