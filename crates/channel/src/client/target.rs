//! A channel's target, `xds:///name`, and what follows from it: the Listener's name and the data-plane authority.
//!
//! Follows C-core `XdsResolverFactory` and `XdsResolver::StartLocked` (xds_resolver.cc) with
//! uri.cc. The Listener's name comes from a template of the bootstrap (A47). The authority is the
//! channel's own or the path of the URI.

use xdsctl_clients::bootstrap::Bootstrap;
use xdsctl_clients::core::convert::resource_name::{self, is_authority, is_path};
use xdsctl_model::target_uri;

/// A target with which the client can start a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The URI as given.
    pub uri: String,
    /// Name of the Listener to ask for.
    pub listener: String,
    /// The authority that is compared with the domains of virtual hosts; percent-encoded.
    pub authority: String,
}

/// Why a channel to a target cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The text is no URI of the scheme `xds`.
    #[error("`{0}` is not an xDS target, expected `xds:///NAME`")]
    NotXds(String),
    /// The path is empty or ends in a slash, so no channel is made.
    #[error("Failed to create channel to '{0}':the target uri is not valid: {0}")]
    Invalid(String),
    /// The URI's authority is not in the bootstrap: every RPC fails.
    #[error("Invalid target URI -- authority not found for {0}")]
    UnknownAuthority(String),
}

impl Target {
    /// Reads a target. `authority` is the channel's own (`grpc.default_authority`), and `bootstrap`
    /// has the templates.
    ///
    /// # Errors
    /// A [`TargetError`] if the client makes no channel, or one on which every RPC fails.
    pub fn parse(uri: &str, authority: Option<&str>, bootstrap: &Bootstrap) -> Result<Target, TargetError> {
        let rest = uri
            .strip_prefix("xds:")
            .ok_or_else(|| TargetError::NotXds(uri.to_owned()))?;
        let rest = rest.split(['?', '#']).next().unwrap_or(rest);
        let (uri_authority, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash)),
            None => ("", rest),
        };
        let (uri_authority, path) = (percent_decode(uri_authority), percent_decode(path));
        if path.is_empty() || path.ends_with('/') {
            return Err(TargetError::Invalid(uri.to_owned()));
        }
        let name = path.strip_prefix('/').unwrap_or(&path);
        let listener = if uri_authority.is_empty() {
            let template = match bootstrap.client_default_listener_template.as_str() {
                "" => "%s",
                template => template,
            };
            if template.starts_with("xdstp:") {
                template.replace("%s", &percent_encode(name, is_path))
            } else {
                template.replace("%s", name)
            }
        } else {
            let Some(found) = bootstrap.authorities.get(&uri_authority) else {
                return Err(TargetError::UnknownAuthority(uri_authority));
            };
            let name = percent_encode(name, is_path);
            if found.client_listener_template.is_empty() {
                let authority = percent_encode(&uri_authority, is_authority);
                format!("xdstp://{authority}/envoy.config.listener.v3.Listener/{name}")
            } else {
                found.client_listener_template.replace("%s", &name)
            }
        };
        Ok(Target {
            uri: uri.to_owned(),
            listener,
            authority: percent_encode(authority.unwrap_or(name), is_authority),
        })
    }

    /// The target whose Listener has this name, without regard to the bootstrap's templates.
    pub fn of_listener(name: &str, authority: Option<&str>) -> Target {
        Target {
            uri: format!("xds:///{name}"),
            listener: name.to_owned(),
            authority: percent_encode(authority.unwrap_or(name), is_authority),
        }
    }
}

pub(super) fn percent_encode(text: &str, allowed: fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    resource_name::percent_encode(text.as_bytes(), allowed, &mut out);
    out
}

/// Decodes `%41`; a `%` that is not followed by two hexadecimal digits stays as it is.
pub fn percent_decode(text: &str) -> String {
    String::from_utf8_lossy(&target_uri::percent_decode(text)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_clients::bootstrap::Authority;

    #[track_caller]
    fn check(uri: &str, bootstrap: &Bootstrap, listener: &str, authority: &str) {
        let target = Target::parse(uri, None, bootstrap).unwrap();
        assert_eq!(
            (target.listener.as_str(), target.authority.as_str()),
            (listener, authority),
            "{uri}"
        );
    }

    #[test]
    fn name_and_authority_come_from_the_path() {
        let bootstrap = Bootstrap::default();
        check("xds:///svc:80", &bootstrap, "svc:80", "svc:80");
        check("xds:svc", &bootstrap, "svc", "svc");
        check("xds:///a/b c", &bootstrap, "a/b c", "a%2Fb%20c");
        check("xds:///a%2Fb", &bootstrap, "a/b", "a%2Fb");
        let target = Target::parse("xds:///svc", Some("x/y"), &bootstrap).unwrap();
        assert_eq!(target.authority, "x%2Fy");
    }

    #[test]
    fn templates_are_filled_in() {
        let mut bootstrap = Bootstrap {
            client_default_listener_template: "grpc/%s/%s".into(),
            ..Bootstrap::default()
        };
        check("xds:///a b", &bootstrap, "grpc/a b/a b", "a%20b");
        bootstrap.client_default_listener_template = "xdstp://t/envoy.config.listener.v3.Listener/%s".into();
        check(
            "xds:///a b",
            &bootstrap,
            "xdstp://t/envoy.config.listener.v3.Listener/a%20b",
            "a%20b",
        );
        bootstrap.authorities.insert("auth".into(), Authority::default());
        check(
            "xds://auth/x y",
            &bootstrap,
            "xdstp://auth/envoy.config.listener.v3.Listener/x%20y",
            "x%20y",
        );
    }

    #[test]
    fn bad_targets_are_refused() {
        let parse = |uri: &str| Target::parse(uri, None, &Bootstrap::default()).unwrap_err();
        assert_eq!(parse("dns:///x"), TargetError::NotXds("dns:///x".into()));
        for uri in ["xds:", "xds:///", "xds:///a/", "xds://a"] {
            assert_eq!(parse(uri), TargetError::Invalid(uri.into()));
        }
        assert_eq!(parse("xds://a/b"), TargetError::UnknownAuthority("a".into()));
    }
}
