//! Targets of channels, as grpc-go reads the URI of one.

/// The schemes of targets for which xDS brings a resolver.
pub(super) const SCHEMES: [&str; 5] = ["dns", "passthrough", "unix", "unix-abstract", "xds"];

/// Says whether a resolver accepts a target (`validateTargetURI`), either by the target's scheme or
/// with all of it as a name.
pub(super) fn is_target(uri: &str) -> bool {
    let (before, fragment) = uri.split_once('#').unwrap_or((uri, ""));
    if before.bytes().any(|byte| byte.is_ascii_control()) || !is_escaped(fragment) {
        return false;
    }
    let path = before.split_once('?').map_or(before, |(path, _)| path);
    let is_opaque = path.split_once(':').is_some_and(|(scheme, rest)| {
        !rest.starts_with('/') && SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known))
    });
    is_opaque || is_escaped(path)
}

/// Returns the scheme of a target, which is `dns` for a target without a scheme; `None` if the
/// target is no URI, even with `dns:///` in front (`net/url.Parse`, twice).
pub(super) fn scheme(target: &str) -> Option<String> {
    match parse(target) {
        Some(scheme) if scheme.is_empty() => Some("dns".to_owned()),
        Some(scheme) => Some(scheme),
        None => parse(&format!("dns:///{target}")),
    }
}

/// Returns the scheme of a URI, empty if it has none; `None` if the text is no URI.
fn parse(text: &str) -> Option<String> {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) || !is_escaped(fragment) {
        return None;
    }
    let (scheme, rest) = split_scheme(text)?;
    let rest = rest.split('?').next().unwrap_or(rest);
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            return Some(scheme);
        }
        let first = rest.split('/').next().unwrap_or(rest);
        if first.contains(':') {
            return None;
        }
    }
    let path = match rest
        .strip_prefix("//")
        .filter(|_| !scheme.is_empty() || !rest.starts_with("///"))
    {
        Some(rest) => {
            let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
            is_authority(authority).then_some(path)?
        }
        None => rest,
    };
    is_escaped(path).then_some(scheme)
}

/// Splits a scheme of letters, digits, `+`, `-` and `.` off a text, in lower case; empty if there
/// is none. Returns `None` if there is nothing before the colon.
fn split_scheme(text: &str) -> Option<(String, &str)> {
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if i > 0 => {}
            b':' if i == 0 => return None,
            b':' => return Some((text[..i].to_ascii_lowercase(), &text[i + 1..])),
            _ => break,
        }
    }
    Some((String::new(), text))
}

/// Says whether every `%` is followed by two hexadecimal digits.
fn is_escaped(text: &str) -> bool {
    let mut parts = text.split('%').skip(1);
    parts.all(|part| part.len() >= 2 && part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()))
}

/// Says whether a text is a host with or without a port (`parseAuthority`).
fn is_authority(text: &str) -> bool {
    let host = text.rsplit_once('@').map_or(text, |(_, host)| host);
    let port = match (host.starts_with('['), host.rfind(']'), host.rfind(':')) {
        (true, None, _) => return false,
        (true, Some(end), _) => host.get(end + 1..).unwrap_or_default(),
        (false, _, Some(colon)) => host.get(colon..).unwrap_or_default(),
        (false, _, None) => "",
    };
    let is_port = |text: &str| {
        let digits = text.strip_prefix(':');
        text.is_empty() || digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_host = |byte: u8| {
        !matches!(
            byte,
            b' ' | b'<' | b'>' | b'"' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}'
        )
    };
    is_port(port) && host.bytes().all(is_host) && is_escaped(host)
}
