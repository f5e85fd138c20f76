//! `xdsctl cookie`: encodes and decodes session cookies.

use std::net::SocketAddr;

use serde::Serialize;

use crate::args::{CookieArgs, CookieCommand, Format};
use crate::{Error, Io};
use xdsctl_model::cookie::{SessionCookie, encode};

/// The name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.cookie/v1";

/// The JSON form of a decoded cookie.
#[derive(Serialize)]
struct CookieJson<'a> {
    schema: &'static str,
    /// The name of the cookie; null if only a value was given.
    name: Option<&'a str>,
    addresses: &'a [&'a str],
    cluster: &'a str,
}

pub(super) fn run(args: &CookieArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    match &args.command {
        CookieCommand::Encode {
            addresses,
            cluster,
            name,
        } => {
            let addresses = addresses.join(",");
            if let Some(wrong) = addresses.split(',').find(|a| a.parse::<SocketAddr>().is_err()) {
                return Err(Error::Usage(format!(
                    "`{wrong}` is not an address, expected IP:PORT such as 10.0.0.1:80 or [2001:db8::1]:80"
                )));
            }
            let value = encode(&addresses, cluster);
            match name {
                Some(name) => say!(io.out, "{name}={value}")?,
                None => say!(io.out, "{value}")?,
            }
        }
        CookieCommand::Decode { value, format } => decode(value, *format, io)?,
    }
    Ok(0)
}

/// Returns the name and value of a cookie, from a value, a `name=value` or a whole header. Base64
/// may end in `=`, so a text before `=` is a name only if more follows.
fn parts(text: &str) -> (Option<&str>, &str) {
    let text = text.split(';').next().unwrap_or(text).trim();
    match text.split_once('=') {
        Some((name, value)) if !value.trim_matches(['=', '.']).is_empty() => (Some(name.trim()), value),
        _ => (None, text),
    }
}

fn decode(text: &str, format: Format, io: &mut Io<'_>) -> Result<(), Error> {
    let header = text
        .trim_start()
        .strip_prefix("set-cookie:")
        .or_else(|| text.trim_start().strip_prefix("Set-Cookie:"))
        .unwrap_or(text);
    let (name, value) = parts(header);
    let session = SessionCookie::decode(value).map_err(|error| {
        Error::Usage(format!(
            "`{value}` is not the value of a session cookie, which is `ADDRESS[,ADDRESS...];CLUSTER` in base64: {error}"
        ))
    })?;
    let addresses: Vec<&str> = session.addresses.split(',').filter(|a| !a.is_empty()).collect();
    if format == Format::Json {
        let document = CookieJson {
            schema: SCHEMA,
            name,
            addresses: &addresses,
            cluster: &session.cluster,
        };
        xdsctl_report::write_json(&document, &mut io.out)?;
        return Ok(());
    }
    if let Some(name) = name {
        say!(io.out, "cookie     {name}")?;
    }
    let shown = |text: String| if text.is_empty() { "(none)".to_owned() } else { text };
    say!(io.out, "addresses  {}", shown(addresses.join(", ")))?;
    say!(io.out, "cluster    {}", shown(session.cluster.clone()))?;
    for address in addresses {
        if address.parse::<SocketAddr>().is_err() {
            say!(io.err, "note: `{address}` is no address and matches no endpoint")?;
        }
    }
    if session.cluster.starts_with("cluster:") {
        say!(
            io.err,
            "note: gRPC C-core writes the name of the cluster without `cluster:`"
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_attributes_are_taken_off() {
        for (text, expected) in [
            ("YQ==", (None, "YQ==")),
            ("a=YQ==", (Some("a"), "YQ==")),
            ("a=YWI=; HttpOnly; Path=/", (Some("a"), "YWI=")),
            ("YWI=", (None, "YWI=")),
            ("", (None, "")),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }
}
