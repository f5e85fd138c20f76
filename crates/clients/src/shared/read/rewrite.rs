//! Substitutions for regular expressions, converted to the form of RE2, in which `\1` is a group.

/// Returns the group of this name in RE2's form; empty if the pattern has none, or its number is
/// above 9.
fn by_name(groups: &[&str], name: &str) -> String {
    let found = groups.iter().position(|group| !name.is_empty() && *group == name);
    by_number(groups, found.map_or(usize::MAX, |index| index + 1))
}

/// Returns the group of this number in RE2's form; empty if the pattern has none, or the number is
/// above 9, which RE2's form does not have.
fn by_number(groups: &[&str], number: usize) -> String {
    match number {
        0..=9 if number <= groups.len() => format!("\\{number}"),
        _ => String::new(),
    }
}

/// Converts a template of Go's regexp (`Expand`) to RE2's form: `$1`, `${1}` and `${name}` are
/// groups, a group that the pattern does not have is empty, and `$$` is `$`.
pub(super) fn of_dollars(template: &str, groups: &[&str]) -> String {
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
        match name {
            "" => rewrite.push('$'),
            name => rewrite.push_str(&match name.parse() {
                Ok(number) if name == "0" || !name.starts_with('0') => by_number(groups, number),
                _ => by_name(groups, name),
            }),
        }
        rest = left;
    }
    rewrite + rest
}

/// Converts a replacement of re2j (`Matcher.appendReplacement`) to RE2's form: `$1` and `${name}`
/// are groups, and a backslash makes the next character literal.
///
/// Of a number, only the first digit is read. re2j throws an exception for a group that the pattern
/// does not have, which is not imitated: a missing number leaves the header as it was, and a
/// missing name is replaced by nothing.
pub(super) fn of_escaped_dollars(template: &str, groups: &[&str]) -> String {
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
            ('$', Some('{')) => {
                let name: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
                rewrite.push_str(&by_name(groups, &name));
            }
            (c, _) => literal(&mut rewrite, c),
        }
    }
    rewrite
}

/// Converts a template of grpc-js-xds (`getHash`), which rewrites it for re2-wasm (`replaceMatch`),
/// to RE2's form: one or two digits behind a backslash are a group. A group that the pattern does
/// not have becomes `$` and the number before it. Groups from 10 on are left out, because RE2's
/// form does not have them.
pub(super) fn of_long_numbers(template: &str, groups: &[&str]) -> String {
    let mut rewrite = String::new();
    let mut parts = template.split('\\');
    rewrite.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let digits = part.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let (number, rest) = part.split_at(digits);
        match number.parse::<usize>() {
            Err(_) => rewrite.push_str("\\\\"),
            Ok(number) if number > groups.len() => rewrite.push_str(&format!("${}", number - 1)),
            Ok(number) => rewrite.push_str(&by_number(groups, number)),
        }
        rewrite.push_str(rest);
    }
    rewrite
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: [&str; 2] = ["", "n"];

    #[test]
    fn a_name_is_that_of_a_group() {
        for (template, rewrite) in [("${n}", "\\2"), ("${m}", ""), ("a${}b", "ab")] {
            assert_eq!(of_escaped_dollars(template, &GROUPS), rewrite, "{template}");
        }
    }

    #[test]
    fn a_number_may_be_long() {
        for (template, rewrite) in [
            ("\\1", "\\1"),
            ("\\3", "$2"),
            ("a\\10b", "a$9b"),
            ("\\123", "$113"),
            ("$1", "$1"),
            ("\\", "\\\\"),
        ] {
            assert_eq!(of_long_numbers(template, &GROUPS), rewrite, "{template}");
        }
    }

    #[test]
    fn a_template_of_go_becomes_one_of_re2() {
        for (template, rewrite) in [
            ("$1", "\\1"),
            ("${1}x", "\\1x"),
            ("x$1y", "x"),
            ("x$3y$3", "x"),
            ("a$3", "a"),
            ("a$01", "a"),
            ("$0$n", "\\0\\2"),
            ("${n}$m", "\\2"),
            ("\\1", "\\\\1"),
            ("$$1", "$1"),
            ("a$", "a$"),
            ("${", "${"),
        ] {
            assert_eq!(of_dollars(template, &GROUPS), rewrite, "{template}");
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
            ("$x${n}z", "$x\\2z"),
        ] {
            assert_eq!(of_escaped_dollars(template, &GROUPS), rewrite, "{template}");
        }
    }
}
