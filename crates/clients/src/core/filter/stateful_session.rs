//! Cookie-based sessions (A55, A60): a cookie names the backend that an RPC goes back to. Clients
//! only.
//!
//! Follows C-core `ParseStatefulSession` (xds_http_stateful_session_filter.cc). Nothing configured
//! means that the filter does nothing; an override uses that to switch the filter off.

use super::FilterType;
use xdsctl_document::proto::any::{Extension, extract};
use xdsctl_document::proto::duration;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::stateful_session::v3::stateful_session_per_route::Override;
use xdsctl_document::proto::pb::envoy::extensions::filters::http::stateful_session::v3::{
    StatefulSession, StatefulSessionPerRoute,
};
use xdsctl_document::proto::pb::envoy::extensions::http::stateful_session::cookie::v3::CookieBasedSessionState;
use xdsctl_model::diag::{Path, Validation, rules};
use xdsctl_model::profile::Feature;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::filter::{FilterConfig, SessionCookie};

rules! {
    /// A stateful session keeps its state in something other than a cookie.
    SESSION_STATE_UNKNOWN = "stateful-session-state-unknown", Filter, Nack, "gRFC A55; C-core ParseStatefulSession";
    /// The cookie of a stateful session is missing.
    SESSION_WITHOUT_COOKIE = "stateful-session-without-cookie", Filter, Nack, "gRFC A55; C-core ParseStatefulSession";
    /// The cookie of a stateful session has no name.
    SESSION_COOKIE_WITHOUT_NAME = "stateful-session-cookie-without-name", Filter, Nack, "gRFC A55; C-core ParseStatefulSession";
    /// An override of the stateful session filter says neither `disabled: true` nor what the session is, and so switches it off.
    SESSION_OVERRIDE_EMPTY = "stateful-session-override-empty", Filter, Advice, "C-core xds_http_stateful_session_filter.cc ParseOverrideConfig";
}

/// The filter's place in the registry.
pub static TYPE: FilterType = FilterType {
    type_name: "envoy.extensions.filters.http.stateful_session.v3.StatefulSession",
    override_type: Some((
        "envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute",
        parse_override,
    )),
    on_client: true,
    on_server: false,
    is_terminal: false,
    guard: Some(Feature::OverrideHost),
    parse,
    parse_in_composite: None,
};

/// The only kind of session state that the client has.
const COOKIE_STATE: &str = "envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState";

fn parse(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig> {
    let message: StatefulSession = extension.decode(at, cx)?;
    Some(FilterConfig::StatefulSession(session(&message, at, cx)))
}

fn parse_override(extension: &Extension<'_>, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<FilterConfig> {
    let message: StatefulSessionPerRoute = extension.decode(at, cx)?;
    let cookie = match &message.r#override {
        Some(Override::StatefulSession(message)) => session(message, &at.field("stateful_session"), cx),
        Some(Override::Disabled(true)) => None,
        Some(Override::Disabled(false)) | None => {
            cx.report(
                &SESSION_OVERRIDE_EMPTY,
                at,
                format_args!("neither `disabled: true` nor stateful_session is set, which switches the filter off"),
            )
            .help("remove the override to keep the session, or set `disabled: true`");
            None
        }
    };
    Some(FilterConfig::StatefulSession(cookie))
}

/// Returns the session's cookie; `None` when there is none, or after a rejection.
fn session(message: &StatefulSession, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<SessionCookie> {
    let state = message.session_state.as_ref()?;
    let at = at.field("session_state");
    let at = at.field("typed_config");
    let extension = extract(state.typed_config.as_ref(), &at, cx)?;
    let at = extension.at(&at);
    let name = &extension.type_name;
    let why = format_args!("session state `{name}` is not supported, must be `{COOKIE_STATE}`");
    cx.check(name == COOKIE_STATE, &SESSION_STATE_UNKNOWN, &at, why)?;
    let state: CookieBasedSessionState = extension.decode(&at, cx)?;
    let at = at.field("cookie");
    let why = "missing, must say which cookie holds the session";
    let cookie = cx.required(state.cookie, &SESSION_WITHOUT_COOKIE, &at, why)?;
    let (name_at, why) = (at.field("name"), "the cookie's name is empty");
    cx.check(!cookie.name.is_empty(), &SESSION_COOKIE_WITHOUT_NAME, &name_at, why);
    let ttl = cookie
        .ttl
        .map_or(Millis(0), |ttl| duration::parse(&ttl, &at.field("ttl"), cx));
    Some(SessionCookie {
        name: cookie.name,
        path: cookie.path,
        ttl,
    })
}
