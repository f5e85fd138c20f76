//! Patterns for files, as in `.gitignore`.

use std::fmt;

use glob::Pattern;

/// A pattern for files: `*` stands for a part of a name, `**` for directories. A pattern without a
/// slash matches names in any directory.
///
/// Matching takes time in proportion to the product of both lengths: on a mismatch, only the last
/// star is extended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePattern {
    text: String,
    parts: Vec<PatternPart>,
    is_name: bool,
}

/// The part of a pattern between two slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPart {
    /// `**`: any number of directories, also none.
    Directories,
    Name(Vec<PatternToken>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternToken {
    /// `*`
    Any,
    /// One character as the `glob` library reads it: `?`, `[a-z]`, or the character itself.
    One(Pattern),
}

impl FilePattern {
    /// # Errors
    /// Says in words why the text is not a pattern.
    pub fn new(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("`{text}` is no pattern: {why}");
        Pattern::new(text).map_err(|error| wrong(error.msg))?;
        let parts = text.split('/').map(|part| match part {
            "**" => Some(PatternPart::Directories),
            part => tokens(part).map(PatternPart::Name),
        });
        let parts = parts.collect::<Option<Vec<_>>>();
        Ok(FilePattern {
            text: text.to_owned(),
            parts: parts.ok_or_else(|| wrong("a bracket holds a slash"))?,
            is_name: !text.contains('/'),
        })
    }

    /// Says whether the pattern matches a file; `path` is written with slashes.
    ///
    /// ```
    /// use xdsctl_lint::choice::FilePattern;
    /// let is_legacy = FilePattern::new("legacy/**").unwrap();
    /// assert!(is_legacy.matches("legacy/eu/cart.yaml"));
    /// assert!(!is_legacy.matches("prod/legacy/cart.yaml"));
    /// assert!(FilePattern::new("*.pb").unwrap().matches("prod/a.pb"));
    /// ```
    pub fn matches(&self, path: &str) -> bool {
        let path = if self.is_name {
            path.rsplit('/').next().unwrap_or(path)
        } else {
            path
        };
        let names: Vec<Vec<char>> = path.split('/').map(|name| name.chars().collect()).collect();
        let fits = |part: &PatternPart, name: &Vec<char>| match part {
            PatternPart::Directories => false,
            PatternPart::Name(tokens) => {
                let fits = |token: &PatternToken, c: &char| match token {
                    PatternToken::Any => false,
                    PatternToken::One(one) => one.matches(c.encode_utf8(&mut [0; 4])),
                };
                starred(tokens, name, |token| *token == PatternToken::Any, fits)
            }
        };
        starred(&self.parts, &names, |part| *part == PatternPart::Directories, fits)
    }
}

/// Returns the tokens of a name; `None` if the name has a bracket that is not closed.
fn tokens(name: &str) -> Option<Vec<PatternToken>> {
    let mut tokens = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '[' => {
                // A bracket right behind the opening one stands for itself.
                let from = rest.get(1..)?.strip_prefix('!').map_or(1, |_| 2);
                let from = from + rest.get(from..)?.chars().next()?.len_utf8();
                from + rest.get(from..)?.find(']')? + 1
            }
            first => first.len_utf8(),
        };
        let (token, after) = rest.split_at_checked(length)?;
        tokens.push(match token {
            "*" => PatternToken::Any,
            token => PatternToken::One(Pattern::new(token).ok()?),
        });
        rest = after;
    }
    Some(tokens)
}

/// Says whether a text matches a pattern in which stars stand for any run of elements. On a
/// mismatch, the last star is extended by one element.
fn starred<P, T>(pattern: &[P], text: &[T], is_star: impl Fn(&P) -> bool, fits: impl Fn(&P, &T) -> bool) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(next), text.get(at)) {
            (Some(part), _) if is_star(part) => {
                star = Some((next + 1, at));
                next += 1;
            }
            (Some(part), Some(one)) if fits(part, one) => (at, next) = (at + 1, next + 1),
            (None, None) => return true,
            _ => {
                let Some((after, from)) = star.filter(|(_, from)| *from < text.len()) else {
                    return false;
                };
                star = Some((after, from + 1));
                (at, next) = (from + 1, after);
            }
        }
    }
}

impl fmt::Display for FilePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_meant_as_in_a_shell() {
        for (pattern, path, is_match) in [
            ("*.yaml", "a/b.yaml", true),
            ("*.yaml", "b.yml", false),
            ("a/*.yaml", "a/b.yaml", true),
            ("a/*.yaml", "a/b/c.yaml", false),
            ("**/c.yaml", "c.yaml", true),
            ("**/c.yaml", "a/b/c.yaml", true),
            ("a/**/c.yaml", "a/c.yaml", true),
            ("a/**/c.yaml", "b/a/c.yaml", false),
            ("a/**", "a/b/c", true),
            ("a/**", "b/a/c", false),
            ("a?[0-9][!x].pb", "ab1y.pb", true),
            ("a?[0-9][!x].pb", "ab1x.pb", false),
            ("[]]", "]", true),
            ("*é*", "ééé", true),
            ("**/a*/**/*b", "x/aa/y/z/cb", true),
            ("**/a*/**/*b", "x/ba/y/z/cb", false),
        ] {
            assert_eq!(
                FilePattern::new(pattern).unwrap().matches(path),
                is_match,
                "{pattern} {path}"
            );
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let name = "a".repeat(250);
        let pattern = FilePattern::new(&format!("{}b/x", "*a".repeat(100))).unwrap();
        assert!(!pattern.matches(&format!("{name}/x")));
        let pattern = FilePattern::new(&format!("{}b", "**/a/".repeat(100))).unwrap();
        assert!(!pattern.matches(&"a/".repeat(1000)));
    }
}
