//! Byte ranges, and the way from a field path back to a byte range: [`locate`].
//!
//! No positions are stored while a document is read. Instead, the text of a resource is walked
//! again when a place in it is printed. That costs microseconds, and nothing if there is no
//! finding.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::json::{Scanner, Syntax};
use xdsctl_model::diag::{FieldPath, Seg};

/// A range of bytes of one document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The offset of the first byte.
    pub start: usize,
    /// The offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// Returns the span of the bytes from `start` up to, but not including, `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }

    /// Returns the span as a range for indexing.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// Finds the place of a field in the JSON text of its resource, which starts at `resource.start`.
///
/// The place of a number, string or literal is its own span. An object or list is shown by its key,
/// or by its bracket if it has no key. A value that is not in the text (a missing field, a default,
/// a part of `"5s"`) is shown by the nearest value around it. Names match in snake_case and in
/// camelCase. `value[T]` means the object that has the `@type`.
///
/// ```
/// use xdsctl_model::diag::{Path, FieldPath};
/// use xdsctl_document::source::span::{Span, locate};
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
    locate_all(text, resource, &[path]).pop().unwrap_or(resource)
}

/// Finds the places of many fields of one resource, in the order of `paths`, in one walk over its
/// text.
///
/// Many findings cost no more than a single finding at the end of the resource. See [`locate`].
pub fn locate_all(text: &[u8], resource: Span, paths: &[&FieldPath]) -> Vec<Span> {
    find_all(text, resource, paths).0
}

/// Returns the offset in the text of the value of each field, or `None` if it is not in the text.
/// Walks like [`locate_all`].
pub fn starts(text: &[u8], resource: Span, paths: &[&FieldPath]) -> Vec<Option<usize>> {
    find_all(text, resource, paths).1
}

/// Returns the places at which the fields are shown, and the offsets of their values.
fn find_all(text: &[u8], resource: Span, paths: &[&FieldPath]) -> (Vec<Span>, Vec<Option<usize>>) {
    let start = Span::new(resource.start, (resource.start + 1).min(resource.end));
    let mut finder = Finder {
        scan: Scanner::new(text.get(..resource.end).unwrap_or(text)),
        nodes: vec![WantedStep::default()],
        found: vec![start; paths.len()],
        starts: vec![None; paths.len()],
        scratch: Vec::new(),
    };
    for (index, path) in paths.iter().enumerate() {
        finder.add(index, path.located());
    }
    finder.scan.set_pos(resource.start);
    // Text that cannot be read ends the search. Fields that were not found by then are shown by
    // what is around them.
    let _ = finder.walk(0, start);
    (finder.found, finder.starts)
}

/// A step that one or several of the wanted paths have in common.
#[derive(Default)]
struct WantedStep<'p> {
    /// The indices of the paths that end here.
    here: Vec<usize>,
    /// The next nodes by the key that leads to them, with an entry for each spelling of the key.
    keys: BTreeMap<Cow<'p, str>, usize>,
    elements: BTreeMap<usize, usize>,
    /// Whether the value of this node has been found in the text.
    met: bool,
}

/// A position in the text, the steps to look for, and the answers so far.
struct Finder<'t, 'p> {
    scan: Scanner<'t>,
    /// The nodes of the tree of steps. The first is the resource itself.
    nodes: Vec<WantedStep<'p>>,
    /// The answer for each path.
    found: Vec<Span>,
    /// The offset of the value of each path.
    starts: Vec<Option<usize>>,
    /// A buffer for keys with escapes.
    scratch: Vec<u8>,
}

impl<'p> Finder<'_, 'p> {
    /// Adds the steps of a path.
    fn add(&mut self, index: usize, steps: impl Iterator<Item = Seg<'p>>) {
        let mut at = 0;
        let mut in_packed = false;
        for step in steps {
            let packed = in_packed;
            in_packed = false;
            at = match step {
                Seg::Field(name) => self.step(at, name, true, name == "type_url" && !packed),
                Seg::Key(key) | Seg::JsonKey(key) => self.step(at, key, false, false),
                Seg::Index(element) => {
                    let fresh = self.nodes.len();
                    let next = match self.nodes.get_mut(at) {
                        Some(node) => *node.elements.entry(element).or_insert(fresh),
                        None => return,
                    };
                    self.grow(next)
                }
                Seg::Value { wrapper: Some(_), .. } => self.step(at, "value", true, false),
                // A type with a JSON form of its own has its value under `value`. The fields of
                // other types are beside `@type`.
                Seg::Value { type_name, .. } if type_name.starts_with("google.protobuf.") => {
                    self.step(at, "value", true, false)
                }
                Seg::Value { .. } => {
                    in_packed = true;
                    at
                }
                Seg::Quoted(_) => break,
            };
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.here.push(index);
        }
    }

    /// Returns the node behind a key of node `at`, and makes it if need be.
    fn step(&mut self, at: usize, name: &'p str, is_field: bool, is_type: bool) -> usize {
        let next = self.nodes.len();
        let Some(node) = self.nodes.get_mut(at) else {
            return next;
        };
        if let Some(known) = node.keys.get(name) {
            return *known;
        }
        // If two keys have the same spelling, the first one keeps it.
        node.keys.insert(Cow::Borrowed(name), next);
        if is_field && name.contains('_') {
            node.keys.entry(Cow::Owned(camel_case(name))).or_insert(next);
        }
        if is_type {
            node.keys.entry(Cow::Borrowed("@type")).or_insert(next);
        }
        self.grow(next)
    }

    fn grow(&mut self, node: usize) -> usize {
        if node == self.nodes.len() {
            self.nodes.push(WantedStep::default());
        }
        node
    }

    /// Consumes the value at the scanner, which is that of node `at` and is shown by `best`.
    fn walk(&mut self, at: usize, best: Span) -> Result<(), Syntax> {
        let Some(node) = self.nodes.get_mut(at) else {
            return self.scan.skip_value();
        };
        node.met = true;
        let node = std::mem::take(node);
        for index in &node.here {
            if let Some(found) = self.found.get_mut(*index) {
                *found = best;
            }
        }
        let first = self.scan.peek();
        self.starts_here(&node.here);
        let result = match first {
            b'{' if !node.keys.is_empty() => self.walk_object(&node),
            b'[' if !node.elements.is_empty() => self.walk_list(&node),
            _ => self.scan.skip_value(),
        };
        let elements = node.elements.values().copied();
        for next in node.keys.values().copied().chain(elements) {
            self.fill(next, best);
        }
        result
    }

    fn walk_object(&mut self, node: &WantedStep<'p>) -> Result<(), Syntax> {
        let mut more = self.scan.open(b'}')?;
        while more {
            let key = self.scan.key()?;
            let name = self.scan.text_of(key, &mut self.scratch).unwrap_or_default();
            match node.keys.get(name) {
                Some(next) => self.child(*next, Span::new(key.start - 1, key.end + 1))?,
                None => self.scan.skip_value()?,
            }
            more = self.scan.more(b'}')?;
        }
        Ok(())
    }

    fn walk_list(&mut self, node: &WantedStep<'p>) -> Result<(), Syntax> {
        let mut index = 0;
        let mut more = self.scan.open(b']')?;
        while more {
            match node.elements.get(&index) {
                Some(next) => {
                    self.scan.peek();
                    let here = self.scan.pos();
                    self.child(*next, Span::new(here, here + 1))?;
                }
                None => self.scan.skip_value()?,
            }
            index += 1;
            more = self.scan.more(b']')?;
        }
        Ok(())
    }

    /// Consumes a value. If it is neither an object nor a list, it is shown by its own span.
    fn child(&mut self, next: usize, shown: Span) -> Result<(), Syntax> {
        if self.nodes.get(next).is_none_or(|node| node.met) {
            // If a key is repeated, the first one counts.
            return self.scan.skip_value();
        }
        if matches!(self.scan.peek(), b'{' | b'[') {
            return self.walk(next, shown);
        }
        let start = self.scan.pos();
        let here = self.nodes.get(next).map_or(Vec::new(), |node| node.here.clone());
        self.starts_here(&here);
        self.scan.skip_value()?;
        self.fill(next, Span::new(start, self.scan.pos()));
        Ok(())
    }

    /// Records that the values of these paths start at the scanner.
    fn starts_here(&mut self, paths: &[usize]) {
        for index in paths {
            if let Some(start) = self.starts.get_mut(*index) {
                *start = Some(self.scan.pos());
            }
        }
    }

    /// Shows a node that was not found, and all nodes below it, by `best`.
    fn fill(&mut self, at: usize, best: Span) {
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            let Some(node) = self.nodes.get_mut(at).filter(|node| !node.met) else {
                continue;
            };
            node.met = true;
            for index in &node.here {
                if let Some(found) = self.found.get_mut(*index) {
                    *found = best;
                }
            }
            open.extend(node.keys.values().chain(node.elements.values()).copied());
        }
    }
}

/// Returns the lowerCamelCase form of a field's name: each underscore is removed, and the letter
/// after it is capitalised.
fn camel_case(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut raise = false;
    for c in name.chars() {
        if c == '_' {
            raise = true;
            continue;
        }
        camel.push(if raise { c.to_ascii_uppercase() } else { c });
        raise = false;
    }
    camel
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::diag::{Path, Seg};

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
    fn many_paths_are_found_in_one_walk() {
        let root = Path::ROOT;
        let (name, list) = (root.field("name"), root.field("wrapped"));
        let (gone, deep) = (list.field("gone"), root.field("connect_timeout"));
        let paths = [
            gone.to_owned(),
            name.to_owned(),
            root.to_owned(),
            deep.to_owned(),
            name.to_owned(),
        ];
        let paths: Vec<&FieldPath> = paths.iter().collect();
        let found = locate_all(TEXT.as_bytes(), Span::new(2, TEXT.len()), &paths);
        let texts: Vec<&str> = found.iter().map(|span| &TEXT[span.range()]).collect();
        assert_eq!(texts, [r#""wrapped""#, r#""a""#, "{", r#""5s""#, r#""a""#]);
    }

    #[test]
    fn the_type_url_of_a_typed_struct_is_not_its_type() {
        let root = Path::ROOT;
        let any = root.field("struct");
        let inner = any.value("xds.type.v3.TypedStruct");
        let (outer_url, inner_url) = (any.field("type_url"), inner.field("type_url"));
        let text = |path: &Path<'_>| &TEXT[locate(TEXT.as_bytes(), Span::new(2, TEXT.len()), &path.to_owned()).range()];
        assert_eq!(text(&outer_url), r#""t/xds.type.v3.TypedStruct""#);
        assert_eq!(text(&inner_url), r#""t/c.D""#);
    }

    #[test]
    fn broken_text_gives_the_last_good_place() {
        let path = Path::ROOT;
        let path = path.field("b");
        let found = locate(br#"{"a": [1,"#, Span::new(0, 9), &path.to_owned());
        assert_eq!(found, Span::new(0, 1));
    }
}
