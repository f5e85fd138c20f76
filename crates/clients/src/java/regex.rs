//! Regular expressions of RE2/J 1.8, whose dialect is that of an older Go.
//!
//! RE2/J refuses what C-core's RE2 refuses, and also `\C`, group names that are not ASCII or given
//! twice, counts of more than eight digits, and a repetition after a `{` that is text. It accepts
//! `(?<name>`, counts that multiply to more than 1000, escapes of letters that are not ASCII, and
//! programs of any size.

use std::collections::BTreeSet;

/// The largest count in a repetition.
const MAX_COUNT: u32 = 1000;

/// How many digits a count may have to be read at all.
const MAX_DIGITS: usize = 8;

const POSIX: &str = "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit";

/// The classes of Unicode 6, by the names that RE2/J knows.
const CLASSES: &str = "Any C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs Arabic \
    Armenian Avestan Balinese Bamum Batak Bengali Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian \
    Cham Cherokee Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Egyptian_Hieroglyphs Ethiopic Georgian \
    Glagolitic Gothic Greek Gujarati Gurmukhi Han Hangul Hanunoo Hebrew Hiragana Imperial_Aramaic Inherited \
    Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kayah_Li Kharoshthi Khmer Lao \
    Latin Lepcha Limbu Linear_B Lisu Lycian Lydian Malayalam Mandaic Meetei_Mayek Mongolian Myanmar New_Tai_Lue Nko \
    Ogham Ol_Chiki Old_Italic Old_Persian Old_South_Arabian Old_Turkic Oriya Osmanya Phags_Pa Phoenician Rejang \
    Runic Samaritan Saurashtra Shavian Sinhala Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham \
    Tai_Viet Tamil Telugu Thaana Thai Tibetan Tifinagh Ugaritic Unknown Vai Yi";

/// A value, or why a pattern does not compile.
type RegexResult<T = ()> = Result<T, &'static str>;

/// Checks that a pattern compiles. `has_angle_groups` says whether `(?<name>` is known.
pub(super) fn check(pattern: &str, has_angle_groups: bool) -> RegexResult {
    let mut parser = RegexParser {
        rest: pattern,
        names: BTreeSet::new(),
        no_posix_end: false,
        has_angle_groups,
    };
    let mut open_groups = 0usize;
    let mut has_operand = false;
    let mut is_repeated = false;
    while let Some(c) = parser.next() {
        let was_repeated = std::mem::take(&mut is_repeated);
        match c {
            '(' if parser.rest.starts_with('?') => {
                if parser.group()? {
                    open_groups += 1;
                    has_operand = false;
                }
            }
            '(' => {
                open_groups += 1;
                has_operand = false;
            }
            ')' => {
                let closed = open_groups.checked_sub(1);
                open_groups = closed.ok_or("a `)` closes no group")?;
                has_operand = true;
            }
            '|' => has_operand = false,
            '*' | '+' | '?' => {
                parser.repeat(was_repeated, has_operand)?;
                is_repeated = true;
            }
            '{' => {
                // The next item must not be a repetition, even if this one is text.
                is_repeated = true;
                if parser.counts()? {
                    parser.repeat(was_repeated, has_operand)?;
                } else {
                    has_operand = true;
                }
            }
            '[' => {
                parser.class()?;
                has_operand = true;
            }
            '\\' => has_operand |= parser.escape()?,
            _ => has_operand = true,
        }
    }
    if open_groups > 0 {
        return Err("a group is not closed");
    }
    Ok(())
}

/// Says whether a name is one of those in `names`; a `^` before it does not count.
fn is_one_of(name: &str, names: &str) -> bool {
    let name = name.strip_prefix('^').unwrap_or(name);
    names.split_ascii_whitespace().any(|known| known == name)
}

struct RegexParser<'p> {
    rest: &'p str,
    /// The names of groups that were read so far.
    names: BTreeSet<&'p str>,
    /// There is no `:]` in the rest, so it need not be searched for again.
    no_posix_end: bool,
    has_angle_groups: bool,
}

impl<'p> RegexParser<'p> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Returns the text up to `end`, and reads `end` too.
    fn until(&mut self, end: &str) -> Option<&'p str> {
        let (text, rest) = self.rest.split_once(end)?;
        self.rest = rest;
        Some(text)
    }

    /// Reads the `?` of a lazy repetition, and checks that the repetition may stand here.
    fn repeat(&mut self, was_repeated: bool, has_operand: bool) -> RegexResult {
        self.eat("?");
        match (was_repeated, has_operand) {
            (true, _) => Err("a repetition follows a repetition"),
            (false, false) => Err("a repetition has nothing before it"),
            (false, true) => Ok(()),
        }
    }

    /// Reads what follows `{`. Without a proper count the `{` is text, and nothing is read.
    fn counts(&mut self) -> RegexResult<bool> {
        let before = self.rest;
        let is_count = 'count: {
            let Some(min) = self.number() else { break 'count None };
            if !self.eat(",") {
                break 'count self.eat("}").then_some((min, Some(min)));
            }
            if self.eat("}") {
                break 'count Some((min, None));
            }
            let Some(max) = self.number() else { break 'count None };
            self.eat("}").then_some((min, Some(max)))
        };
        let Some((min, max)) = is_count else {
            self.rest = before;
            return Ok(false);
        };
        if min > MAX_COUNT || max.is_some_and(|max| max > MAX_COUNT || max < min) {
            return Err("a count is above 1000, or a maximum below its minimum");
        }
        Ok(true)
    }

    /// Reads a number without leading zeros. A number of too many digits counts as too large.
    fn number(&mut self) -> Option<u32> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        if digits == 0 || digits > 1 && number.starts_with('0') {
            return None;
        }
        Some(number.parse().ok().filter(|_| digits <= MAX_DIGITS).unwrap_or(u32::MAX))
    }

    /// Reads what follows `(` if it begins with `?`; says whether a group is open.
    fn group(&mut self) -> RegexResult<bool> {
        if self.eat("?P<") || (self.has_angle_groups && self.eat("?<")) {
            let name = self.until(">").ok_or("the name of a group is not closed")?;
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            if name.is_empty() || !name.bytes().all(is_word) {
                let why = "the name of a group has other than ASCII letters, digits and underscores";
                return Err(why);
            }
            if !self.names.insert(name) {
                return Err("two groups have one name");
            }
            return Ok(true);
        }
        self.eat("?");
        let (mut is_negated, mut has_flag) = (false, false);
        loop {
            match self.next() {
                Some('i' | 'm' | 's' | 'U') => has_flag = true,
                Some('-') if !is_negated => (is_negated, has_flag) = (true, false),
                Some(end @ (':' | ')')) if !is_negated || has_flag => return Ok(end == ':'),
                _ => return Err("`(?` is followed by what RE2/J does not have"),
            }
        }
    }

    /// Reads what follows a backslash outside of a class; says whether it can be repeated.
    fn escape(&mut self) -> RegexResult<bool> {
        if self.eat("Q") {
            let text = self.until("\\E").unwrap_or_else(|| std::mem::take(&mut self.rest));
            return Ok(!text.is_empty());
        }
        let is_place = ["A", "b", "B", "z"].into_iter().any(|place| self.eat(place));
        if !is_place && !self.set()? {
            self.character()?;
        }
        Ok(true)
    }

    /// Reads a set that follows a backslash, if one does.
    fn set(&mut self) -> RegexResult<bool> {
        if ["d", "D", "s", "S", "w", "W"].into_iter().any(|set| self.eat(set)) {
            return Ok(true);
        }
        if !self.eat("p") && !self.eat("P") {
            return Ok(false);
        }
        let unknown = "`\\p` names no class that RE2/J knows";
        let before = self.rest;
        let name = match self.next() {
            Some('{') => self.until("}").ok_or(unknown)?,
            Some(c) => before.get(..c.len_utf8()).unwrap_or_default(),
            None => return Err(unknown),
        };
        if is_one_of(name, CLASSES) {
            Ok(true)
        } else {
            Err(unknown)
        }
    }

    /// Reads a character that follows a backslash.
    fn character(&mut self) -> RegexResult<u32> {
        let bad = "a backslash is followed by what it cannot escape";
        let Some(c) = self.next() else {
            return Err("a backslash escapes nothing");
        };
        let octal = |parser: &mut Self| {
            let digit = parser.rest.chars().next().and_then(|c| c.to_digit(8));
            digit.inspect(|_| _ = parser.next())
        };
        Ok(match c {
            '0'..='7' => {
                let mut value = c.to_digit(8).unwrap_or(0);
                for i in 1..3 {
                    match octal(self) {
                        Some(digit) => value = value * 8 + digit,
                        // A single digit other than 0 would be a reference to a group.
                        None if i == 1 && c != '0' => return Err(bad),
                        None => break,
                    }
                }
                value
            }
            'x' if self.eat("{") => {
                let digits = self.until("}").ok_or(bad)?;
                let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let digits = digits.trim_start_matches('0');
                let value = u32::from_str_radix(if digits.is_empty() { "0" } else { digits }, 16);
                value.ok().filter(|value| is_hex && *value <= 0x10_FFFF).ok_or(bad)?
            }
            'x' => {
                let mut hex = || self.next().and_then(|c| c.to_digit(16));
                let (Some(high), Some(low)) = (hex(), hex()) else {
                    return Err(bad);
                };
                high * 16 + low
            }
            'a' => 7,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            c if c.is_ascii_alphanumeric() => return Err(bad),
            c => c.into(),
        })
    }

    /// Reads the rest of a class.
    fn class(&mut self) -> RegexResult {
        self.eat("^");
        let mut is_first = true;
        loop {
            if !is_first && self.eat("]") {
                return Ok(());
            }
            is_first = false;
            if let Some((name, rest)) = self.posix() {
                if !is_one_of(name, POSIX) {
                    return Err("`[:` names no class of POSIX");
                }
                self.rest = rest;
                continue;
            }
            let before = self.rest;
            if self.eat("\\") && self.set()? {
                continue;
            }
            self.rest = before;
            let low = self.member()?;
            if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                self.eat("-");
                if self.member()? < low {
                    return Err("a range of a class runs backwards");
                }
            }
        }
    }

    /// Returns the name of a POSIX class that begins here, if there is one, and the text after the
    /// class.
    fn posix(&mut self) -> Option<(&'p str, &'p str)> {
        if self.no_posix_end || !self.rest.starts_with("[:") {
            return None;
        }
        // The first colon of `[:` may also be that of `:]`.
        let found = self.rest.get(1..).and_then(|rest| rest.split_once(":]"));
        self.no_posix_end = found.is_none();
        found.map(|(name, rest)| (name.strip_prefix(':').unwrap_or(name), rest))
    }

    fn member(&mut self) -> RegexResult<u32> {
        match self.next() {
            Some('\\') => self.character(),
            Some(c) => Ok(c.into()),
            None => Err("a class is not closed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_what_re2_does_not() {
        for pattern in r"(?<n>a) ((a{100}){100}){100} \é [\é] a*? ^* (|a)* a(?i)* a*\Q\E* \Qa x{,5} x{01} x{2 []a] [^]a] \12 \pN \p{^Greek}
            [[:^alpha:]-z] \x{0000041} [a-] [[:a]"
            .split_whitespace()
        {
            assert_eq!(check(pattern, true), Ok(()), "{pattern}");
        }
    }

    #[test]
    fn refuses_what_re2_takes() {
        for pattern in r"\C (?P<é>a) (?P<n>a)(?P<n>b) x{1000000000} {+ {* \p{Adlam}".split_whitespace() {
            assert!(check(pattern, true).is_err(), "{pattern}");
        }
    }

    #[test]
    fn refuses_what_nobody_takes() {
        for pattern in r"( ) [ [a a** * (*) a|* \ \8 \1 \x \x4 \x{110000} \x{} \E [\Q] [z-a] [a-\d] [[:nope:]] (? (?x) (?i-) (?=a) (?P<>a)
            (?P<n x{1001} x{2,1} \p \p{ \p{Nope} a{2}{3}"
            .split_whitespace()
        {
            assert!(check(pattern, true).is_err(), "{pattern}");
        }
    }

    #[test]
    fn what_looks_like_a_class_of_posix_is_searched_for_once() {
        assert!(check("(?P<n>a)", false).is_ok() && check("(?<n>a)", false).is_err());
        assert!(check(&format!("[{}x]", "[:".repeat(1_000_000)), true).is_ok());
    }
}
