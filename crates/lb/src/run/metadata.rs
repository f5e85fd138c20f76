//! The metadata of an RPC as LB policies see it.
//!
//! It holds what the application sent, with the path and the time that is left. What the layers
//! below the config selector add (`content-type`, `user-agent`, the channel's authority) is not
//! there yet, while binary headers are. Follows C-core `LbMetadata` (lb_metadata.cc).

use std::borrow::Cow;

use xdsctl_model::resource::Millis;

/// What the policies know about an RPC besides its cluster.
#[derive(Debug, Clone, Copy, Default)]
pub struct Metadata<'a> {
    /// `/package.Service/Method`.
    pub path: &'a str,
    /// The channel's authority.
    pub authority: &'a str,
    /// Headers of the application in the order of sending; keys in lower case.
    pub headers: &'a [(String, String)],
    /// The time until the RPC's deadline; `None` without a deadline.
    pub timeout: Option<Millis>,
}

impl<'a> Metadata<'a> {
    /// Returns the value of a header. Several values of one key are joined by commas.
    pub fn value(&self, name: &str) -> Option<Cow<'a, str>> {
        match name {
            ":path" => Some(Cow::Borrowed(self.path)),
            "grpc-timeout" => self.timeout.map(|timeout| Cow::Owned(wire_timeout(timeout))),
            _ => joined(self.headers, name),
        }
    }
}

/// Returns the values of a key, joined by commas.
pub fn joined<'a>(headers: &'a [(String, String)], name: &str) -> Option<Cow<'a, str>> {
    let values = headers.iter().filter(|(key, _)| key == name);
    let mut values = values.map(|(_, value)| value.as_str());
    let mut joined = Cow::Borrowed(values.next()?);
    for value in values {
        joined += ",";
        joined += value;
    }
    Some(joined)
}

/// Writes a deadline in wire form. The client sends the time that is left at that moment; this is
/// the nominal value.
pub fn wire_timeout(timeout: Millis) -> String {
    let ms = timeout.0.max(1);
    if ms % 1000 == 0 {
        format!("{}S", ms / 1000)
    } else {
        format!("{ms}m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_see_path_deadline_and_what_the_application_sent() {
        let headers = [("a", "1"), ("b-bin", "x"), ("a", "2")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let metadata = Metadata {
            path: "/s/m",
            authority: "t",
            headers: &headers,
            timeout: Some(Millis(1500)),
        };
        let value = |name: &str| metadata.value(name).map(Cow::into_owned);
        assert_eq!(value("a").as_deref(), Some("1,2"));
        assert_eq!(value("b-bin").as_deref(), Some("x"));
        assert_eq!(value(":path").as_deref(), Some("/s/m"));
        assert_eq!(value("grpc-timeout").as_deref(), Some("1500m"));
        assert_eq!(value(":authority"), None);
        assert_eq!(value("content-type"), None);
    }
}
