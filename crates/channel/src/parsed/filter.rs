//! HTTP filters and their overrides as the client keeps them.

use super::fields::{FieldValue, Fields, Form};
use xdsctl_clients::core::filter::fault;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::filter::{Fault, FilterConfig, FilterOverride, HttpFilter, SessionCookie};

impl Fields for HttpFilter {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("index", self.index)
            .put("name", &self.name)
            .set("disabled", self.disabled, false)
            .put("config", &self.config);
    }
}

impl Fields for FilterOverride {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.set("disabled", self.disabled, false)
            .optional("config", self.config.as_deref());
    }
}

impl Fields for FilterConfig {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("type", self.kind());
        match self {
            FilterConfig::Router => form,
            FilterConfig::Fault(fault) => faults(fault, form),
            FilterConfig::Described(description) => {
                let kept = description.kept.iter();
                kept.fold(form, |form, (name, value, is_default)| {
                    form.mark(name, value, *is_default)
                })
            }
            FilterConfig::Rbac(own) => form.optional("rules", own.rules.as_deref()),
            FilterConfig::StatefulSession(None) => form.put("cookie", FieldValue::Null),
            FilterConfig::StatefulSession(Some(session)) => form.put("cookie", session),
        };
    }
}

impl Fields for SessionCookie {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("name", &self.name)
            .set("path", self.path.as_str(), "")
            .set("ttl", self.ttl, Millis(0));
    }
}

fn faults<'f, 'a, 'w>(fault: &'a Fault, form: &'f mut Form<'a, 'w>) -> &'f mut Form<'a, 'w> {
    let percentage = |numerator: u32, denominator: u32| format!("{numerator}/{denominator}");
    let abort = move |form: &mut Form<'a, '_>| {
        form.set("grpc_status", fault.abort_code, 0)
            .set("header_abort", fault.abort_from_header, false)
            .put("percentage", percentage(fault.abort_numerator, fault.abort_denominator));
    };
    let delay = move |form: &mut Form<'a, '_>| {
        form.set("fixed_delay", fault.delay, Millis(0))
            .set("header_delay", fault.delay_from_header, false)
            .put("percentage", percentage(fault.delay_numerator, fault.delay_denominator));
    };
    form.optional("abort", fault.has_abort().then(|| FieldValue::named(abort)))
        .optional("delay", fault.has_delay().then(|| FieldValue::named(delay)))
        .set("max_active_faults", fault.max_active_faults, fault::MAX_ACTIVE_FAULTS)
}
