//! Substitutions of regular expressions, in the form of RE2: `\1` is a group.

/// A template of Go's regexp (`Expand`) in RE2's form: `$1` and `${1}` are groups, a group that
/// does not exist is empty, `$$` is `$`.
///
/// Names of groups, and numbers above 9, which RE2's form has not, count as none.
pub(super) fn of_dollars(template: &str) -> String {
    let mut rewrite = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['$', '\\']) {
        let (before, from) = rest.split_at(at);
        rewrite.push_str(before);
        let mut chars = from.chars();
        if chars.next() == Some('\\') {
            rewrite.push_str("\\\\");
            rest = chars.as_str();
            continue;
        }
        let after = chars.as_str();
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, left) = match braced {
            Some((name, left)) if !name.is_empty() && name.chars().all(is_name) => (name, left),
            Some(_) => ("", after),
            None => after.split_at(after.find(|c| !is_name(c)).unwrap_or(after.len())),
        };
        if let (true, Some(left)) = (name.is_empty(), after.strip_prefix('$')) {
            rewrite.push('$');
            rest = left;
            continue;
        }
        match name.as_bytes() {
            [] => rewrite.push('$'),
            [digit @ b'0'..=b'9'] => rewrite.extend(['\\', char::from(*digit)]),
            _ => {}
        }
        rest = left;
    }
    rewrite + rest
}

/// A replacement of re2j (`Matcher.appendReplacement`) in RE2's form: `$1` is a group, and a
/// backslash makes the next character itself.
///
/// Numbers above 9 are read as one digit. A group by name, which RE2's form has not, is nothing.
pub(super) fn of_escaped_dollars(template: &str) -> String {
    let mut rewrite = String::new();
    let mut rest = template.chars();
    let literal = |rewrite: &mut String, c: char| match c {
        '\\' => rewrite.push_str("\\\\"),
        c => rewrite.push(c),
    };
    while let Some(c) = rest.next() {
        let after = rest.clone().next();
        match (c, after) {
            ('\\', Some(next)) => {
                rest.next();
                literal(&mut rewrite, next);
            }
            ('$', Some(digit @ '0'..='9')) => {
                rest.next();
                rewrite.extend(['\\', digit]);
            }
            ('$', Some('{')) => rest.by_ref().take_while(|c| *c != '}').for_each(drop),
            (c, _) => literal(&mut rewrite, c),
        }
    }
    rewrite
}

/// A template in which a number of any length is a group (grpc-js-xds `getHash`): above 9
/// it is left as it is written for JavaScript, `$10`.
pub(super) fn of_long_numbers(template: &str) -> String {
    let mut rewrite = String::new();
    let mut parts = template.split('\\');
    rewrite.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (number, rest) = part.split_at(end);
        match number.len() {
            0 => rewrite.push_str("\\\\"),
            1 => rewrite.extend(["\\", number]),
            _ => rewrite.extend(["$", number]),
        }
        rewrite.push_str(rest);
    }
    rewrite
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_be_long() {
        for (template, rewrite) in [("\\1", "\\1"), ("a\\10b", "a$10b"), ("$1", "$1"), ("\\", "\\\\")] {
            assert_eq!(of_long_numbers(template), rewrite, "{template}");
        }
    }

    #[test]
    fn a_template_of_go_becomes_one_of_re2() {
        for (template, rewrite) in [
            ("$1", "\\1"),
            ("${1}x", "\\1x"),
            ("x$1y", "x"),
            ("\\1", "\\\\1"),
            ("$$1", "$1"),
            ("a$", "a$"),
            ("${", "${"),
        ] {
            assert_eq!(of_dollars(template), rewrite, "{template}");
        }
    }

    #[test]
    fn a_replacement_of_java_becomes_one_of_re2() {
        for (template, rewrite) in [
            ("$1", "\\1"),
            ("x$1y", "x\\1y"),
            ("\\1", "1"),
            ("\\$1\\\\", "$1\\\\"),
            ("a\\", "a\\\\"),
            ("$x${n}z", "$xz"),
        ] {
            assert_eq!(of_escaped_dollars(template), rewrite, "{template}");
        }
    }
}
