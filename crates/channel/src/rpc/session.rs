//! Stateful sessions (A55, A60, A75): what a cookie asks for, and the cookie that the answer sets.
//!
//! Follows C-core stateful_session_filter.cc. If a chain has two session filters, the later one
//! decides about the host, and the earlier one never learns which host was used.

use std::borrow::Cow;

use super::Request;
use xdsctl_model::cookie::{self, covers};
use xdsctl_model::resource::filter::SessionCookie;

/// An active session filter of one RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveSession {
    /// The cookie that identifies sessions for the filter, with its name, path and lifetime.
    pub cookie: SessionCookie,
    /// The addresses that the request's cookie asks for, joined by commas; empty for none.
    pub addresses: String,
    /// The cluster that the request's cookie names; empty for none.
    pub cookie_cluster: String,
    /// The cluster that is used, and written into the answer's cookie; empty on a plugin route.
    pub cluster: String,
    /// Why the request's cookie could not be decoded. It then counts as none.
    pub undecodable: Option<cookie::DecodeError>,
}

impl ActiveSession {
    /// Reads the request's cookie; `None` if the filter does nothing for this path.
    pub(super) fn read(cookie: &SessionCookie, request: &Request<'_>) -> Option<ActiveSession> {
        if cookie.name.is_empty() || !covers(&cookie.path, request.path) {
            return None;
        }
        let header = request.joined("cookie").unwrap_or(Cow::Borrowed(""));
        let decoded = cookie::find(&header, &cookie.name)
            .map_or_else(|| Ok(cookie::SessionCookie::default()), cookie::SessionCookie::decode);
        let undecodable = decoded.as_ref().err().copied();
        let decoded = decoded.unwrap_or_default();
        Some(ActiveSession {
            cookie: cookie.clone(),
            addresses: decoded.addresses,
            cookie_cluster: decoded.cluster,
            cluster: String::new(),
            undecodable,
        })
    }

    /// The `set-cookie` header of an answer from an endpoint with these addresses; `None` if the
    /// request's cookie is still right.
    pub fn set_cookie(&self, actual: &str) -> Option<String> {
        if self.addresses == actual && self.cluster == self.cookie_cluster {
            return None;
        }
        let value = cookie::encode(actual, &self.cluster);
        let mut header = format!("{}={value}; HttpOnly", self.cookie.name);
        if !self.cookie.path.is_empty() {
            header.push_str("; Path=");
            header.push_str(&self.cookie.path);
        }
        if self.cookie.ttl.0 > 0 {
            header.push_str(&format!("; Max-Age={}", self.cookie.ttl.0 / 1000));
        }
        Some(header)
    }
}

/// The addresses that a cookie asks for; `None` without an active session, empty without a usable
/// cookie.
pub(crate) fn override_addresses(sessions: &[ActiveSession]) -> Option<&str> {
    sessions.last().map(|session| session.addresses.as_str())
}

/// The `set-cookie` headers of the answer, given the address list of the endpoint that was picked.
///
/// The header of the later filter comes first, as on the way back. Earlier filters never learn the
/// endpoint.
pub(crate) fn set_cookies(sessions: &[ActiveSession], actual: &str) -> Vec<String> {
    let mut actual = Some(actual);
    let sessions = sessions.iter().rev();
    sessions
        .filter_map(|session| session.set_cookie(actual.take().unwrap_or_default()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::resource::Millis;

    #[test]
    fn set_cookie_has_path_and_age_only_if_configured() {
        let cookie = SessionCookie {
            name: "session".into(),
            path: "/pkg.Svc".into(),
            ttl: Millis(3_600_000),
        };
        let request = Request {
            path: "/pkg.Svc/M",
            headers: &[],
            timeout: None,
        };
        let mut session = ActiveSession::read(&cookie, &request).unwrap();
        session.cluster = "cluster_a".into();
        assert_eq!(
            session.set_cookie("10.0.0.2:80").as_deref(),
            Some("session=MTAuMC4wLjI6ODA7Y2x1c3Rlcl9h; HttpOnly; Path=/pkg.Svc; Max-Age=3600")
        );
        let plain = SessionCookie {
            path: String::new(),
            ttl: Millis(500),
            ..cookie.clone()
        };
        session.cookie = plain;
        session.addresses = "10.0.0.2:80".into();
        session.cookie_cluster = "cluster_a".into();
        assert_eq!(session.set_cookie("10.0.0.2:80"), None);
        assert_eq!(
            session.set_cookie("").as_deref(),
            Some("session=O2NsdXN0ZXJfYQ==; HttpOnly; Max-Age=0")
        );
    }
}
