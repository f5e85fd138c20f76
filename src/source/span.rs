//! Byte ranges, and the way back from a field path to one: [`locate`].
//!
//! Nothing about positions is kept while a document is read. The text of one resource is walked again for each place that
//! is printed, which costs microseconds, and nothing when there is no finding.

use std::ops::Range;

use super::json::{Scanner, Str, Syntax};
use crate::diag::{FieldPath, OwnedSeg};

/// A range of bytes of one document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` to before `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }

    /// The range, to index with.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// Finds the place of a field in the JSON text of its resource, which starts at `resource.start`.
///
/// A number, string or literal is its own place. An object or list is shown by its key, or by its bracket if it has none.
/// What is not there (a missing field, a default, the inside of `"5s"`) is shown by the nearest thing around it that is.
/// Names match in snake_case and in camelCase; `value[T]` stays in the object that has the `@type`.
///
/// ```
/// use xdsctl::diag::{Path, FieldPath};
/// use xdsctl::source::span::{Span, locate};
/// let text = br#"{"endpoints": [{"lbEndpoints": [{"loadBalancingWeight": 0}]}]}"#;
/// let root = Path::ROOT;
/// let (a, b) = (root.field("endpoints"), root.field("endpoints"));
/// let a = a.index(0);
/// let lb = a.field("lb_endpoints");
/// let lb = lb.index(0);
/// let weight = lb.field("load_balancing_weight");
/// let value = weight.field("value");
/// let found = locate(text, Span::new(0, text.len()), &value.to_owned());
/// assert_eq!(&text[found.range()], b"0");
/// assert_eq!(&text[locate(text, Span::new(0, text.len()), &b.to_owned()).range()], br#""endpoints""#);
/// ```
pub fn locate(text: &[u8], resource: Span, path: &FieldPath) -> Span {
    let mut finder = Finder {
        scan: Scanner::new(text.get(..resource.end).unwrap_or(text)),
        best: Span::new(resource.start, (resource.start + 1).min(resource.end)),
    };
    finder.scan.set_pos(resource.start);
    // Text that cannot be read ends the search at what was found so far.
    let _ = finder.descend(path.located());
    finder.best
}

/// A place in the text, and the best answer so far.
struct Finder<'t> {
    scan: Scanner<'t>,
    best: Span,
}

impl Finder<'_> {
    /// Follows the steps as far as they lead. The scanner stands at a value.
    fn descend(&mut self, steps: &[OwnedSeg]) -> Result<(), Syntax> {
        for step in steps {
            let found = match step {
                OwnedSeg::Field(name) => self.field(name)?,
                OwnedSeg::Index(index) => self.element(*index)?,
                OwnedSeg::Key(key) | OwnedSeg::JsonKey(key) => self.entry(key)?,
                OwnedSeg::Value { wrapper: None, .. } => self.packed()?,
                OwnedSeg::Value { wrapper: Some(_), .. } => self.field("value")?,
                OwnedSeg::Quoted(_) => false,
            };
            if !found {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Steps to the value of a message field.
    fn field(&mut self, name: &str) -> Result<bool, Syntax> {
        let is_type = name == "type_url";
        self.key(&mut |written| is_field(written, name) || (is_type && written == "@type"))
    }

    /// Steps to the value of a map entry.
    fn entry(&mut self, key: &str) -> Result<bool, Syntax> {
        self.key(&mut |written| written == key)
    }

    /// Steps into the message of an Any: the same object, or its `value` where the type has a JSON form of its own.
    fn packed(&mut self) -> Result<bool, Syntax> {
        if self.scan.peek() != b'{' {
            return Ok(false);
        }
        let start = self.scan.pos();
        let mut url = String::new();
        if self.key_only(&mut |written| written == "@type")?.is_some() && self.scan.peek() == b'"' {
            let token = self.scan.string()?;
            url = self.text(token);
        }
        self.scan.set_pos(start);
        if url
            .rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with("google.protobuf."))
        {
            self.field("value")?;
        }
        Ok(true)
    }

    fn text(&self, token: Str) -> String {
        let mut scratch = Vec::new();
        self.scan
            .text_of(token, &mut scratch)
            .map(str::to_owned)
            .unwrap_or_default()
    }

    /// Steps to the value of the first key that is `wanted`.
    fn key(&mut self, wanted: &mut dyn FnMut(&str) -> bool) -> Result<bool, Syntax> {
        let Some(key) = self.key_only(wanted)? else {
            return Ok(false);
        };
        self.best = Span::new(key.start - 1, key.end + 1);
        self.narrow()?;
        Ok(true)
    }

    /// Stands behind the first key that is `wanted`, and its colon; else at the start of the object.
    fn key_only(&mut self, wanted: &mut dyn FnMut(&str) -> bool) -> Result<Option<Str>, Syntax> {
        if self.scan.peek() != b'{' {
            return Ok(None);
        }
        let start = self.scan.pos();
        let mut more = self.scan.open(b'}')?;
        while more {
            let key = self.scan.key()?;
            let mut scratch = Vec::new();
            if self.scan.text_of(key, &mut scratch).is_ok_and(&mut *wanted) {
                return Ok(Some(key));
            }
            self.scan.skip_value()?;
            more = self.scan.more(b'}')?;
        }
        self.scan.set_pos(start);
        Ok(None)
    }

    fn element(&mut self, index: usize) -> Result<bool, Syntax> {
        if self.scan.peek() != b'[' {
            return Ok(false);
        }
        let mut more = self.scan.open(b']')?;
        for _ in 0..index {
            if !more {
                return Ok(false);
            }
            self.scan.skip_value()?;
            more = self.scan.more(b']')?;
        }
        if more {
            self.scan.peek();
            self.best = Span::new(self.scan.pos(), self.scan.pos() + 1);
            self.narrow()?;
        }
        Ok(more)
    }

    /// Takes the value at the scanner as the answer if it is neither an object nor a list.
    fn narrow(&mut self) -> Result<(), Syntax> {
        if matches!(self.scan.peek(), b'{' | b'[') {
            return Ok(());
        }
        let start = self.scan.pos();
        self.scan.skip_value()?;
        self.best = Span::new(start, self.scan.pos());
        self.scan.set_pos(start);
        Ok(())
    }
}

/// Says whether a key is the field `name` (in snake_case), in either spelling.
fn is_field(written: &str, name: &str) -> bool {
    if written == name {
        return true;
    }
    // lowerCamelCase: an underscore goes, and the letter after it is raised.
    let mut written = written.bytes();
    let mut raise = false;
    for byte in name.bytes() {
        if byte == b'_' {
            raise = true;
            continue;
        }
        let wanted = if raise { byte.to_ascii_uppercase() } else { byte };
        raise = false;
        if written.next() != Some(wanted) {
            return false;
        }
    }
    written.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Path, Seg};

    const TEXT: &str = r#"  {"@type": "t/envoy.Cluster", "name": "a", "connectTimeout": "5s",
  "typed_options": {"key.x": {"@type": "t/a.B", "maxSize": {}, "list": [1, {"x": true}, []]}},
  "wrapped": {"@type": "t/google.protobuf.Duration", "value": "7s"},
  "struct": {"@type": "t/xds.type.v3.TypedStruct", "type_url": "t/c.D", "value": {"deep": 3}}}  "#;

    #[track_caller]
    fn check(steps: &[Seg<'_>], expected: &str) {
        fn own(at: &Path<'_>, steps: &[Seg<'_>]) -> FieldPath {
            match steps.split_first() {
                Some((step, rest)) => own(&at.then(*step), rest),
                None => at.to_owned(),
            }
        }
        let found = locate(TEXT.as_bytes(), Span::new(2, TEXT.len()), &own(&Path::ROOT, steps));
        assert_eq!(&TEXT[found.range()], expected, "{steps:?}");
    }

    const fn value<'a>(wrapper: Option<&'a str>, type_name: &'a str) -> Seg<'a> {
        Seg::Value { wrapper, type_name }
    }

    #[test]
    fn finds_values_keys_and_brackets() {
        use Seg::{Field, Index, Key};
        check(&[], "{");
        check(&[Field("name")], r#""a""#);
        check(&[Field("typed_options")], r#""typed_options""#);
        let any = [Field("typed_options"), Key("key.x"), value(None, "a.B")];
        check(&any, r#""key.x""#);
        check(&[any[0], any[1], Field("type_url")], r#""t/a.B""#);
        check(&[any[0], any[1], any[2], Field("max_size")], r#""maxSize""#);
        check(&[any[0], any[1], any[2], Field("list"), Index(0)], "1");
        check(&[any[0], any[1], any[2], Field("list"), Index(1)], "{");
        check(&[any[0], any[1], any[2], Field("list"), Index(1), Field("x")], "true");
        check(&[any[0], any[1], any[2], Field("list"), Index(2)], "[");
    }

    #[test]
    fn what_is_missing_is_shown_by_what_is_around_it() {
        use Seg::{Field, Index, Key, Quoted};
        check(&[Field("connect_timeout"), Field("seconds")], r#""5s""#);
        check(&[Field("lb_policy")], "{");
        check(
            &[Field("typed_options"), Key("other"), Field("x")],
            r#""typed_options""#,
        );
        check(&[Field("typed_options"), Quoted("childPolicy")], r#""typed_options""#);
        let list = [
            Field("typed_options"),
            Key("key.x"),
            value(None, "a.B"),
            Field("list"),
            Index(9),
        ];
        check(&list, r#""list""#);
    }

    #[test]
    fn steps_into_packed_messages() {
        use Seg::{Field, Key};
        let duration = value(None, "google.protobuf.Duration");
        check(&[Field("wrapped"), duration, Field("seconds")], r#""7s""#);
        let typed = value(Some("xds.type.v3.TypedStruct"), "c.D");
        check(&[Field("struct"), typed, Field("deep")], "3");
        check(&[Field("struct"), typed, Key("deep")], "3");
        check(&[Field("struct"), typed, Field("gone")], r#""value""#);
    }

    #[test]
    fn broken_text_gives_the_last_good_place() {
        let path = Path::ROOT;
        let path = path.field("b");
        let found = locate(br#"{"a": [1,"#, Span::new(0, 9), &path.to_owned());
        assert_eq!(found, Span::new(0, 1));
    }
}
