//! URIs, as `java.net.URI` parses them.

/// The parts of a URI that the client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Uri<'u> {
    pub scheme: Option<&'u str>,
    /// The path with its escapes; `None` for a URI like `mailto:a`.
    pub path: Option<&'u str>,
}

/// Characters that a path may have, besides letters, digits and escapes.
const PATH: &str = "_-!.~'()*:@&=+$,;/";
/// Characters that a query or a fragment may have, or what follows the scheme of a URI without a
/// path.
const ANY: &str = "_-!.~'()*:@&=+$,;/?[]";
/// Characters that an authority may have.
const AUTHORITY: &str = "_-!.~'()*:@&=+$,;[]";

impl<'u> Uri<'u> {
    /// Parses a text; `None` if it is no URI.
    pub(super) fn parse(text: &'u str) -> Option<Self> {
        let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
        let end = rest.find([':', '/', '?']).filter(|end| rest[*end..].starts_with(':'));
        let (scheme, rest) = match end.and_then(|end| rest.split_at_checked(end)) {
            Some((scheme, rest)) => (Some(scheme), rest.strip_prefix(':')?),
            None => (None, rest),
        };
        let is_scheme = |scheme: &str| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        };
        let is_opaque = scheme.is_some() && !rest.starts_with('/');
        let path = if is_opaque {
            Some(None).filter(|_| !rest.is_empty() && is_made_of(rest, ANY))
        } else {
            path(rest).map(Some)
        };
        let is_legal = scheme.is_none_or(is_scheme) && is_made_of(fragment, ANY);
        path.filter(|_| is_legal).map(|path| Uri { scheme, path })
    }
}

/// Returns the path of what follows the scheme; `None` if a part has characters that it must not
/// have.
fn path(rest: &str) -> Option<&str> {
    let (rest, query) = rest
        .split_once('?')
        .map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (authority, path) = match rest.strip_prefix("//") {
        // The authority may be empty if anything follows it.
        Some("") if query.is_none() => return None,
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    let parts = [(authority, AUTHORITY), (path, PATH), (query.unwrap_or_default(), ANY)];
    let is_legal = parts.into_iter().all(|(part, legal)| is_made_of(part, legal));
    is_legal.then_some(path)
}

/// Says whether a part has only letters, digits, escapes and characters in `legal`.
fn is_made_of(part: &str, legal: &str) -> bool {
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        let is_legal = match c {
            '%' => [chars.next(), chars.next()]
                .into_iter()
                .all(|digit| digit.is_some_and(|digit| digit.is_ascii_hexdigit())),
            c if c.is_ascii() => c.is_ascii_alphanumeric() || legal.contains(c),
            c => !c.is_control() && !c.is_whitespace(),
        };
        if !is_legal {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_legal_characters() {
        let of = |text| Uri::parse(text).map(|uri| (uri.scheme, uri.path));
        assert_eq!(of("xdstp://a/t/id?x=[y]#f"), Some((Some("xdstp"), Some("/t/id"))));
        assert_eq!(of("xdstp:///t/%41"), Some((Some("xdstp"), Some("/t/%41"))));
        assert_eq!(of("xdstp:t/id"), Some((Some("xdstp"), None)));
        assert_eq!(of("h"), Some((None, Some("h"))));
        assert_eq!(of("a/b:c"), Some((None, Some("a/b:c"))));
        for text in [
            "dns:", "dns://", ":80", "[::1]:80", "x#f#g", "x?%", "a b", "//a/{x}", "dns:#f", "1:x",
        ] {
            assert_eq!(of(text), None, "{text:?}");
        }
    }
}
