//! An RPC as the config selector sees it: its path and the metadata that the application gave it.
//!
//! Most headers are added later, below the config selector: `:method`, `te`, `user-agent`, the
//! channel's authority, and those of call credentials. Matchers and hash policies do not see them
//! (C-core `XdsRouting::GetHeaderValue`, xds_routing.cc).

use std::borrow::Cow;

use super::known;
use xdsctl_lb::metadata;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::matcher::HeaderView;

/// One RPC, as the config selector sees it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The path of the method, `/package.Service/Method`.
    pub path: &'a str,
    /// Metadata in the order of sending; keys in lower case.
    pub headers: &'a [(String, String)],
    /// The application's deadline, counted from now.
    pub timeout: Option<Millis>,
}

impl<'a> Request<'a> {
    /// The value of a header that route matching and hash policies see, if any.
    ///
    /// Values of one key are joined by a comma, except for keys that the client knows. Binary
    /// headers are never seen. `content-type` is always `application/grpc`, and the authority is
    /// seen only if the application set one for this RPC.
    pub fn value(&self, name: &str) -> Option<Cow<'a, str>> {
        if name.ends_with("-bin") {
            return None;
        }
        if name == "content-type" {
            return Some(Cow::Borrowed("application/grpc"));
        }
        if name.eq_ignore_ascii_case("host") || name.eq_ignore_ascii_case(":authority") {
            let mut own = self.headers.iter().rev();
            return own
                .find(|(key, _)| key == "host" || key == ":authority")
                .map(|(_, value)| Cow::Borrowed(value.as_str()));
        }
        if name == "grpc-timeout" {
            return self.timeout.map(|timeout| Cow::Owned(metadata::wire_timeout(timeout)));
        }
        if name == ":path" {
            return Some(Cow::Borrowed(self.path));
        }
        // An application's `te` is invalid, and its `content-length` is left out.
        if name == "te" || name == "content-length" {
            return None;
        }
        known::value(self.headers, name)
    }

    /// The value of a header that a client with this view sees, if any.
    pub fn seen(&self, name: &str, view: HeaderView) -> Option<Cow<'a, str>> {
        match view {
            HeaderView::Completed => self.value(name),
            HeaderView::AsSent => self.joined(name),
            HeaderView::OfApplication | HeaderView::OfMetadata if name.ends_with("-bin") => None,
            HeaderView::OfApplication if name.starts_with(':') => None,
            HeaderView::OfApplication | HeaderView::OfMetadata if name == "content-type" => {
                Some(Cow::Borrowed("application/grpc"))
            }
            HeaderView::OfMetadata => self.joined(&name.to_ascii_lowercase()),
            HeaderView::OfApplication => self.joined(&name.to_ascii_lowercase()).map(in_ascii),
            HeaderView::OfRequest => self.of_request(&name.to_ascii_lowercase()),
        }
    }

    /// The first value of a header of the HTTP request, as tonic makes it; `None` if the value is
    /// not plain ASCII.
    fn of_request(&self, name: &str) -> Option<Cow<'a, str>> {
        match name {
            "content-type" => return Some(Cow::Borrowed("application/grpc")),
            "te" => return Some(Cow::Borrowed("trailers")),
            // tonic removes these from an application's metadata.
            "grpc-message" | "grpc-message-type" | "grpc-status" => return None,
            "grpc-timeout" => return self.timeout.map(|timeout| Cow::Owned(tonic_timeout(timeout))),
            _ => {}
        }
        let first = self.headers.iter().find(|(key, _)| key == name);
        let value = first.map(|(_, value)| value.as_str())?;
        let is_plain = value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
        is_plain.then_some(Cow::Borrowed(value))
    }

    /// The values of a key, joined by a comma.
    pub fn joined(&self, name: &str) -> Option<Cow<'a, str>> {
        metadata::joined(self.headers, name)
    }
}

/// Converts a text to ASCII as Java does: other letters become question marks.
fn in_ascii(value: Cow<'_, str>) -> Cow<'_, str> {
    match value.is_ascii() {
        true => value,
        false => value.replace(|letter: char| !letter.is_ascii(), "?").into(),
    }
}

/// A deadline as tonic writes it: in the finest unit in which it has at most eight digits.
fn tonic_timeout(timeout: Millis) -> String {
    const DIGITS: u128 = 100_000_000;
    let nanos = u128::try_from(timeout.0).unwrap_or(0) * 1_000_000;
    let units = [(1, 'n'), (1_000, 'u'), (1_000_000, 'm'), (1_000_000_000, 'S')];
    let fitting = units.into_iter().find(|(size, _)| nanos / size < DIGITS);
    let (size, unit) = fitting.unwrap_or((60_000_000_000, 'M'));
    format!("{}{unit}", nanos / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect()
    }

    #[test]
    fn values_are_joined_and_some_headers_are_never_seen() {
        let headers = headers(&[
            ("a", "1"),
            ("b-bin", "x"),
            ("a", "2"),
            ("te", "x"),
            ("content-type", "y"),
        ]);
        let request = Request {
            path: "/s/m",
            headers: &headers,
            timeout: Some(Millis(3000)),
        };
        for (name, value) in [
            ("a", Some("1,2")),
            ("A", None),
            ("b-bin", None),
            ("content-type", Some("application/grpc")),
            (":authority", None),
            (":path", Some("/s/m")),
            ("user-agent", None),
            ("grpc-timeout", Some("3S")),
        ] {
            assert_eq!(request.value(name).as_deref(), value, "{name}");
        }
    }

    #[test]
    fn one_value_of_each_header_of_the_request_is_seen() {
        let headers = headers(&[("a", "1"), ("a", "2"), ("b", "\u{e9}"), ("content-type", "x/y")]);
        let request = Request {
            path: "/s/m",
            headers: &headers,
            timeout: Some(Millis(3000)),
        };
        for (name, value) in [
            ("A", Some("1")),
            ("b", None),
            ("content-type", Some("application/grpc")),
            ("te", Some("trailers")),
            ("grpc-timeout", Some("3000000u")),
            (":path", None),
        ] {
            assert_eq!(request.seen(name, HeaderView::OfRequest).as_deref(), value, "{name}");
        }
        assert_eq!(tonic_timeout(Millis(50)), "50000000n");
        assert_eq!(tonic_timeout(Millis(3_600_000_000)), "3600000S");
    }

    #[test]
    fn authority_is_the_one_of_the_rpc() {
        let headers = headers(&[("host", "x")]);
        let request = Request {
            path: "/s/m",
            headers: &headers,
            timeout: None,
        };
        for name in [":authority", "host", "Host", ":AUTHORITY"] {
            assert_eq!(request.value(name).as_deref(), Some("x"), "{name}");
        }
        assert_eq!(request.value("grpc-timeout"), None);
    }
}
