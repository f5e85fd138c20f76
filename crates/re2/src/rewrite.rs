//! Replaces matches as RE2's `GlobalReplace` does.
//!
//! A rewrite is read byte by byte: a backslash and a digit insert a group, and two backslashes
//! insert one backslash. Any other character after a backslash ends the replacement of that match;
//! RE2 logs that and goes on.

use super::matcher::Matcher;

/// Replaces every match in `text`.
pub(super) fn replace_all(matcher: &Matcher, text: &str, rewrite: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    if highest_group(rewrite) > matcher.captures() {
        return bytes.to_vec();
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let mut last_end = None;
    while at <= bytes.len() {
        let Some(groups) = matcher.find(text, at) else { break };
        let Some(found) = groups.get(0) else { break };
        out.extend_from_slice(bytes.get(at..found.start()).unwrap_or_default());
        if found.is_empty() && last_end == Some(found.start()) {
            // An empty match right after a match does not count: skip a character.
            let step = text
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .map_or(1, char::len_utf8);
            out.extend_from_slice(bytes.get(at..at + step).unwrap_or_default());
            at += step;
            continue;
        }
        insert(rewrite, &groups, &mut out);
        at = found.end();
        last_end = Some(at);
    }
    out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    out
}

/// Returns the highest group that the rewrite names.
fn highest_group(rewrite: &str) -> u32 {
    let mut bytes = rewrite.bytes();
    let mut highest = 0;
    while let Some(byte) = bytes.next() {
        if byte == b'\\'
            && let Some(digit @ b'0'..=b'9') = bytes.next()
        {
            highest = highest.max(u32::from(digit - b'0'));
        }
    }
    highest
}

fn insert(rewrite: &str, groups: &regex::bytes::Captures<'_>, out: &mut Vec<u8>) {
    let mut bytes = rewrite.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(digit @ b'0'..=b'9') => {
                if let Some(group) = groups.get(usize::from(digit - b'0')) {
                    out.extend_from_slice(group.as_bytes());
                }
            }
            Some(b'\\') => out.push(b'\\'),
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, rewrite: &str, replaced: &str) {
        let bytes = replace_all(&Matcher::new(pattern), text, rewrite);
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            replaced,
            "{pattern} {text} {rewrite}"
        );
    }

    #[test]
    fn groups_are_inserted() {
        check("(a)(b)?", "ab a", r"<\2\1\0>", "<baab> <aa>");
        check("a", "banana", r"\\", r"b\n\n\");
    }

    #[test]
    fn a_rewrite_of_a_missing_group_changes_nothing() {
        check("(a)", "a", r"\2", "a");
    }

    #[test]
    fn a_stray_backslash_ends_the_replacement_of_a_match() {
        check("a", "bab", r"x\yz", "bxb");
        check("a", "bab", "x\\", "bxb");
    }

    #[test]
    fn an_empty_match_does_not_follow_a_match() {
        check("b*", "abé", "-", "-a-é-");
        check("", "aé", "-", "-a-é-");
    }

    #[test]
    fn anchors_hold_for_the_whole_text() {
        check("^a", "aaa", "x", "xaa");
        check("(?m)^a", "aa\na", "x", "xa\nx");
    }
}
