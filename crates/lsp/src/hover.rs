//! Explains the text at a place: its findings, how clients read the field, and what they make of
//! the value.

use std::fmt::Write as _;

use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use crate::defaults::default_of;
use crate::project::ProjectFinding;
use crate::view::DocumentView;
use crate::{mend, rules};
use xdsctl_document::proto::message_type::FieldType;
use xdsctl_document::proto::place::{self, Part, Place};
use xdsctl_document::proto::transcode::SYNTAX;
use xdsctl_document::proto::wire::{FieldUse, history, uses};
use xdsctl_document::source::Span;
use xdsctl_model::cookie::SessionCookie;

/// Most findings that are explained at a place.
const MAX_TOLD: usize = 3;

/// Returns the explanation of a place; `None` if there is nothing to explain.
pub fn hover(view: &DocumentView<'_>, params: &HoverParams) -> Option<Hover> {
    let offset = view.offset(params.text_document_position_params.position);
    let found = view.snapshot.findings.iter().filter(|finding| {
        finding.source == view.id
            && finding
                .span
                .is_some_and(|span| span.start <= offset && offset <= span.end)
    });
    let mut parts: Vec<String> = found.take(MAX_TOLD).map(of_finding).collect();
    let mut span = None;
    let resource = view.snapshot.resource_at(view.id, offset);
    let place = resource.and_then(|(_, resource)| place::at(view.source, resource.span, &resource.type_name, offset));
    let is_broken = || {
        view.snapshot
            .findings
            .iter()
            .any(|finding| finding.source == view.id && is_syntax(finding))
    };
    let place = match place {
        None if is_broken() => {
            let text = std::str::from_utf8(view.source.bytes()).ok();
            text.and_then(|text| mend::place_of(view.source.name(), text.to_owned(), offset))
                .map(|(place, _)| place)
        }
        place => place,
    };
    if let Some(place) = place.filter(|place| place.part != Part::Around) {
        parts.extend(of_value(view, &place));
        parts.extend(place.field.map(of_field));
        span = Some(place.span);
    } else if resource.is_none()
        && let Some((text, own)) = crate::suite::hover(view, offset)
    {
        parts.push(text);
        span = Some(own);
    }
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() {
        return None;
    }
    let kind = match view.editor.takes_markdown {
        true => MarkupKind::Markdown,
        false => MarkupKind::PlainText,
    };
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind,
            value: parts.join("\n\n---\n\n"),
        }),
        range: span.map(|span: Span| view.range(span)),
    })
}

/// Says whether a finding means that text of a document cannot be parsed.
fn is_syntax(finding: &ProjectFinding) -> bool {
    finding.rule == Some(&SYNTAX)
}

/// Explains a finding with the text of its rule's page.
fn of_finding(finding: &ProjectFinding) -> String {
    let Some(rule) = finding.rule else {
        return finding.message.clone();
    };
    let effect = match &*finding.who {
        "" => finding.effect.unwrap_or(rule.effect).name(),
        who => who,
    };
    let mut text = format!(
        "**{}** ({effect}): {}\n\n{}",
        rule.id,
        finding.message,
        rule.summary.trim()
    );
    if let Some(help) = &finding.help {
        let _ = write!(text, "\n\nhelp: {help}");
    }
    let _ = write!(text, "\n\n{}\n\nSource: {}", rules::prose(rule), rule.source);
    text
}

/// Explains a field: its type, the clients that read it, and the rules about it.
fn of_field(field: FieldType) -> String {
    let mut text = format!(
        "**{}** of `{}`: {}",
        field.name(),
        field.owner().name(),
        field.type_words()
    );
    if let Some(oneof) = field.oneof() {
        let _ = write!(text, "; one of `{oneof}`");
    }
    if field.is_deprecated() {
        text.push_str("; deprecated");
    }
    text.push_str("\n\n");
    text.push_str(&readers(field));
    if let Some(default) = default_of(field) {
        let _ = write!(text, " If it is not set, gRPC C-core takes {default}.");
    }
    let about = rules::about(field);
    if !about.is_empty() {
        text.push_str("\n\nRules about it:\n");
    }
    for rule in about {
        let grfcs: Vec<&str> = rules::grfcs(rule).collect();
        let source = match grfcs.is_empty() {
            true => String::new(),
            false => format!(" (gRFC {})", grfcs.join(", ")),
        };
        let _ = write!(
            text,
            "\n- `{}` ({}): {}{source}",
            rule.id,
            rule.effect,
            rule.summary.trim()
        );
    }
    text
}

/// Says which clients read a field.
fn readers(field: FieldType) -> String {
    let Some(uses) = uses(field) else {
        return "No gRPC client looks into this message.".to_owned();
    };
    let (mut readers, mut others) = (Vec::new(), Vec::new());
    for (family, used) in uses {
        match used {
            FieldUse::Read => readers.push(family.project().to_owned()),
            FieldUse::Since(feature) => {
                let history = history(feature, family);
                match history.is_empty() {
                    true => others.push(family.project().to_owned()),
                    false => readers.push(format!("{} {history}", family.project())),
                }
            }
            FieldUse::Unread => others.push(family.project().to_owned()),
        }
    }
    match (readers.is_empty(), others.is_empty()) {
        (true, _) => "No gRPC client reads it.".to_owned(),
        (false, true) => format!("Read by {}.", readers.join("; ")),
        (false, false) => format!("Read by {}. Not read by {}.", readers.join("; "), others.join(", ")),
    }
}

/// Explains a value as clients interpret it.
fn of_value(view: &DocumentView<'_>, place: &Place) -> Option<String> {
    let field = place.field?;
    if place.part != Part::Scalar {
        return None;
    }
    if field.is_duration() {
        let milliseconds = milliseconds(&place.text)?;
        return Some(format!("`{}` is {milliseconds} ms to the client", place.text));
    }
    let owner = field.owner().name();
    if owner == "envoy.type.v3.FractionalPercent" && field.name() == "numerator" {
        let numerator = place.text.parse().ok()?;
        // Try the object around the member, then the one around that: use the one that has a
        // denominator.
        let around = place.around.iter().rev().map(|span| view.text(*span));
        let object = around
            .take(2)
            .find(|text| text.contains("denominator"))
            .unwrap_or_default();
        return Some(share(numerator, denominator(object)?));
    }
    cookie(&place.text)
}

/// Returns the name and the number of the denominator of a FractionalPercent, from its text.
fn denominator(object: &str) -> Option<(&'static str, u64)> {
    static KNOWN: [(&str, u64); 3] = [("HUNDRED", 100), ("TEN_THOUSAND", 10_000), ("MILLION", 1_000_000)];
    let Some((_, after)) = object.split_once("denominator") else {
        return Some(KNOWN[0]);
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = after
        .trim_start_matches(|c| !is_word(c))
        .split(|c| !is_word(c))
        .next()?;
    let by_number = word.parse::<usize>().ok().and_then(|number| KNOWN.get(number));
    by_number
        .or_else(|| KNOWN.iter().find(|(name, _)| *name == word))
        .copied()
}

/// Returns a share in percent, with all its digits.
fn share(numerator: u64, (name, whole): (&str, u64)) -> String {
    let parts = numerator.min(whole) * (1_000_000 / whole);
    let text = format!("{}.{:04}", parts / 10_000, parts % 10_000);
    format!(
        "{} % ({numerator} of {whole}, {name})",
        text.trim_end_matches('0').trim_end_matches('.')
    )
}

/// Parses a Duration in JSON notation to whole milliseconds, as C-core keeps it.
fn milliseconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text
        .strip_suffix('s')
        .map(|text| text.split_once('.').unwrap_or((text, "")))?;
    let seconds: u64 = seconds.parse().ok()?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) || fraction.len() > 9 {
        return None;
    }
    let thousandths = format!("{fraction:0<3}");
    let thousandths: u64 = thousandths.get(..3)?.parse().ok()?;
    seconds.checked_mul(1000)?.checked_add(thousandths)
}

/// Explains a session cookie, if the text is one.
pub fn cookie(text: &str) -> Option<String> {
    // In a header, names precede the values.
    let values = text
        .split(';')
        .map(|pair| pair.trim().split_once('=').map_or(pair, |(_, value)| value));
    std::iter::once(text).chain(values).find_map(of_cookie)
}

fn of_cookie(text: &str) -> Option<String> {
    let cookie = SessionCookie::decode(text).ok()?;
    let is_address = |address: &str| address.parse::<std::net::SocketAddr>().is_ok();
    if cookie.addresses.is_empty() || !cookie.addresses.split(',').all(is_address) {
        return None;
    }
    Some(format!(
        "A session cookie: addresses `{}`, cluster `{}`",
        cookie.addresses, cookie.cluster
    ))
}

#[cfg(test)]
mod tests {
    use super::{cookie, denominator, milliseconds, share};

    #[test]
    fn values_are_told_as_the_client_takes_them() {
        assert_eq!(milliseconds("1.5s"), Some(1500));
        assert_eq!(milliseconds("0.0009s"), Some(0));
        assert_eq!(milliseconds("5"), None);
        assert_eq!(milliseconds("18446744073709551615s"), None);
        let told = cookie("MTAuMC4wLjE6ODA7Y2x1c3Rlcl9h").unwrap();
        assert!(told.contains("`10.0.0.1:80`") && told.contains("`cluster_a`"), "{told}");
        assert_eq!(cookie("YWJj"), None);
        assert_eq!(cookie("a=b; session=MTAuMC4wLjE6ODA7Y2x1c3Rlcl9h"), Some(told));
        let told = |object: &str| denominator(object).map(|whole| share(25, whole));
        assert_eq!(told("{numerator: 25}").unwrap(), "25 % (25 of 100, HUNDRED)");
        assert_eq!(
            told("numerator: 25\ndenominator: TEN_THOUSAND").unwrap(),
            "0.25 % (25 of 10000, TEN_THOUSAND)"
        );
        assert_eq!(
            told(r#"{"denominator": 2, "numerator": 25}"#).unwrap(),
            "0.0025 % (25 of 1000000, MILLION)"
        );
        assert_eq!(told("{denominator: MANY}"), None);
    }
}
