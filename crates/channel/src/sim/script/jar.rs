//! Cookie jars: what a browser keeps of `set-cookie` headers and sends again (RFC 6265, section 5).

use std::collections::BTreeMap;

use crate::sim::Rpc;
use xdsctl_lb::runtime::Time;
use xdsctl_model::cookie::covers;

/// A cookie that answers have set, until it expires.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cookie {
    value: String,
    path: String,
    /// When it expires; `None` for a cookie that lasts as long as the browser.
    ends: Option<Time>,
}

/// The cookies of one browser, by name and path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Jar {
    cookies: BTreeMap<(String, String), Cookie>,
}

impl Jar {
    /// Stores the cookie of a `set-cookie` header, of an answer that came at `now`.
    pub fn take(&mut self, header: &str, now: Time) {
        let mut parts = header.split("; ");
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
            return;
        };
        let mut cookie = Cookie {
            value: value.to_owned(),
            path: String::new(),
            ends: None,
        };
        for part in parts {
            match part.split_once('=') {
                Some(("Path", path)) => path.clone_into(&mut cookie.path),
                Some(("Max-Age", seconds)) => {
                    let ms = seconds.parse::<i64>().ok().map(|seconds| seconds.saturating_mul(1000));
                    cookie.ends = ms.map(|ms| now.saturating_add(ms));
                }
                _ => {}
            }
        }
        self.cookies.insert((name.to_owned(), cookie.path.clone()), cookie);
    }

    /// Adds the cookies for the RPC's path to its headers.
    pub fn fill(&mut self, rpc: &mut Rpc, now: Time) {
        self.cookies
            .retain(|_, cookie| cookie.ends.is_none_or(|ends| ends > now));
        let fitting = self
            .cookies
            .iter()
            .filter(|(_, cookie)| covers(&cookie.path, &rpc.method));
        let pairs: Vec<String> = fitting
            .map(|((name, _), cookie)| format!("{name}={}", cookie.value))
            .collect();
        if pairs.is_empty() {
            return;
        }
        let list = pairs.join("; ");
        match rpc.headers.iter_mut().find(|(name, _)| name == "cookie") {
            Some((_, value)) => *value = format!("{value}; {list}"),
            None => rpc.headers.push(("cookie".to_owned(), list)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jar_keeps_what_covers_the_path_until_it_is_over() {
        let mut jar = Jar::default();
        jar.take("a=1; HttpOnly; Path=/shop.Cart; Max-Age=10", 0);
        jar.take("b=x=y", 0);
        let mut sent = |method: &str, now| {
            let mut rpc = Rpc {
                method: method.to_owned(),
                ..Rpc::default()
            };
            jar.fill(&mut rpc, now);
            rpc.headers.pop().map(|(_, value)| value)
        };
        assert_eq!(sent("/shop.Cart/Get", 9_999).as_deref(), Some("a=1; b=x=y"));
        assert_eq!(sent("/shop.Carts/Get", 0).as_deref(), Some("b=x=y"));
        assert_eq!(sent("/shop.Cart/Get", 10_000).as_deref(), Some("b=x=y"));
    }

    #[test]
    fn a_newer_cookie_takes_the_place_of_the_older_one() {
        let mut jar = Jar::default();
        jar.take("a=1; Path=/", 0);
        jar.take("a=2; Path=/", 0);
        let mut rpc = Rpc {
            headers: vec![("cookie".to_owned(), "own=1".to_owned())],
            ..Rpc::default()
        };
        jar.fill(&mut rpc, 0);
        assert_eq!(rpc.headers, [("cookie".to_owned(), "own=1; a=2".to_owned())]);
    }
}
