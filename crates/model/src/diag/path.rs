//! Where in a resource a finding is, in the notation of gRPC C-core's `ValidationErrors`.
//!
//! A [`Path`] is a linked list on the stack: `at.field("lb_endpoints").index(3)` borrows its
//! parent, costs no allocation and cannot be left unbalanced. It becomes an owned [`FieldPath`]
//! only when something is reported.
//!
//! The rendering is the client's, byte for byte: `a.b[3].c`, a map key raw in brackets
//! (`typed_per_filter_config[key]`), an unpacked Any as `.value[full.type.Name]`, and both levels
//! for a TypedStruct.

use std::fmt;

/// How many bytes the packed form of most paths has at most.
const USUAL_BYTES: usize = 128;

/// One step of a [`Path`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seg<'a> {
    /// A message field by its proto name.
    Field(&'a str),
    /// An element of a repeated field, from 0.
    Index(usize),
    /// A map entry by its key.
    Key(&'a str),
    /// An entry of a JSON object, by its key; rendered in quotes as the client's JSON loader does.
    JsonKey(&'a str),
    /// The message inside an Any: its type, and the wrapper's type when it came in a TypedStruct.
    Value {
        /// `xds.type.v3.TypedStruct` or `udpa.type.v1.TypedStruct` when the Any held one.
        wrapper: Option<&'a str>,
        /// The type name as the client prints it.
        type_name: &'a str,
    },
    /// A path that the client quotes from another loader (`childPolicy`): rendered alone, located
    /// at the parent.
    Quoted(&'a str),
}

/// A place in a resource while it is being walked.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    seg: Option<Seg<'a>>,
}

impl<'a> Path<'a> {
    /// The resource itself.
    pub const ROOT: Path<'static> = Path {
        parent: None,
        seg: None,
    };

    /// Steps to `seg`.
    pub const fn then(&'a self, seg: Seg<'a>) -> Path<'a> {
        Path {
            parent: Some(self),
            seg: Some(seg),
        }
    }

    /// Steps to a field.
    pub const fn field(&'a self, name: &'a str) -> Path<'a> {
        self.then(Seg::Field(name))
    }

    /// Steps to an element of the repeated field that this path names.
    pub const fn index(&'a self, index: usize) -> Path<'a> {
        self.then(Seg::Index(index))
    }

    /// Steps to an entry of the map that this path names.
    pub const fn key(&'a self, key: &'a str) -> Path<'a> {
        self.then(Seg::Key(key))
    }

    /// Steps to an entry of the JSON object that this path names.
    pub const fn json_key(&'a self, key: &'a str) -> Path<'a> {
        self.then(Seg::JsonKey(key))
    }

    /// Steps into an Any that holds `type_name`.
    pub const fn value(&'a self, type_name: &'a str) -> Path<'a> {
        self.then(Seg::Value {
            wrapper: None,
            type_name,
        })
    }

    /// Returns the position in its list if the path ends with an element of a list.
    pub(super) const fn position(&self) -> Option<usize> {
        match self.seg {
            Some(Seg::Index(index)) => Some(index),
            _ => None,
        }
    }

    /// Returns the last field of the path. The path may end with an element of that field.
    pub fn last_field(&self) -> Option<&'a str> {
        match self.seg {
            Some(Seg::Field(name)) => Some(name),
            Some(Seg::Index(_)) => self.parent?.last_field(),
            _ => None,
        }
    }

    /// Steps to a path quoted from another loader, which is shown alone and located here.
    pub const fn quoted(&'a self, text: &'a str) -> Path<'a> {
        self.then(Seg::Quoted(text))
    }

    /// Returns the owned form.
    pub fn to_owned(&self) -> FieldPath {
        let mut packed = Vec::with_capacity(USUAL_BYTES);
        self.pack(&mut packed);
        FieldPath(packed.into_boxed_slice())
    }

    /// Packs all steps. It is recursive: as deep as the path, which is on this stack already.
    pub(super) fn pack(&self, out: &mut Vec<u8>) {
        self.pack_parent(out);
        self.pack_last(out);
    }

    /// Packs all but the last step.
    pub(super) fn pack_parent(&self, out: &mut Vec<u8>) {
        if let Some(parent) = self.parent {
            parent.pack(out);
        }
    }

    /// Packs the last step.
    pub(super) fn pack_last(&self, out: &mut Vec<u8>) {
        if let Some(seg) = self.seg {
            packed::push(out, seg);
        }
    }
}

/// An owned place in a resource; empty for the resource itself.
///
/// Paths are compared by their steps; [`Display`](fmt::Display) gives the client's text. A dump may
/// have a hundred thousand findings, so the steps are packed into one allocation and unpacked by
/// [`segs`](Self::segs).
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct FieldPath(Box<[u8]>);

impl FieldPath {
    /// Returns the steps from the resource down.
    pub fn segs(&self) -> Segs<'_> {
        Segs { rest: &self.0 }
    }

    /// Says whether this is the resource itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the steps that lead to a place in the user's document: everything before a quoted
    /// path.
    pub fn located(&self) -> impl Iterator<Item = Seg<'_>> {
        self.segs().take_while(|seg| !matches!(seg, Seg::Quoted(_)))
    }

    /// Returns the path of the object that has the last field or key.
    pub fn holder(&self) -> FieldPath {
        let mut steps = self.segs();
        let mut end = 0;
        loop {
            let before = self.0.len() - steps.rest.len();
            match steps.next() {
                Some(Seg::Field(_) | Seg::Key(_) | Seg::JsonKey(_)) => end = before,
                Some(_) => {}
                None => return FieldPath(self.0.get(..end).unwrap_or_default().into()),
            }
        }
    }

    /// Returns the packed steps, to store many paths.
    pub(super) fn packed(&self) -> &[u8] {
        &self.0
    }

    /// Makes the path of these packed steps.
    pub(super) fn from_packed(packed: &[u8]) -> Self {
        FieldPath(packed.into())
    }
}

/// The steps of a [`FieldPath`], from the resource down.
#[derive(Debug, Clone)]
pub struct Segs<'a> {
    rest: &'a [u8],
}

impl<'a> Segs<'a> {
    /// Reads steps in packed form.
    pub(super) const fn of(packed: &'a [u8]) -> Self {
        Segs { rest: packed }
    }

    /// Returns the steps in packed form, to compare and hash them. Packed forms are equal if the
    /// steps are.
    pub const fn packed(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the path that the steps make.
    pub fn to_path(&self) -> FieldPath {
        FieldPath::from_packed(self.rest)
    }

    /// Returns the innermost field.
    pub fn last_field(self) -> Option<&'a str> {
        let fields = self.filter_map(|seg| match seg {
            Seg::Field(name) => Some(name),
            _ => None,
        });
        fields.last()
    }
}

impl<'a> Iterator for Segs<'a> {
    type Item = Seg<'a>;

    fn next(&mut self) -> Option<Seg<'a>> {
        let (seg, rest) = packed::split(self.rest)?;
        self.rest = rest;
        Some(seg)
    }
}

impl fmt::Debug for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FieldPath({self})")
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A quoted path is shown alone: of several the innermost one, with what follows it.
        let quoted = self.segs().enumerate().filter(|(_, seg)| matches!(seg, Seg::Quoted(_)));
        let first = quoted.last().map_or(0, |(i, _)| i);
        for (i, seg) in self.segs().skip(first).enumerate() {
            match seg {
                Seg::Field(name) if i == 0 => f.write_str(name)?,
                Seg::Field(name) => write!(f, ".{name}")?,
                Seg::Index(index) => write!(f, "[{index}]")?,
                Seg::Key(key) => write!(f, "[{key}]")?,
                Seg::JsonKey(key) => write!(f, "[\"{key}\"]")?,
                Seg::Value { wrapper, type_name } => {
                    if let Some(wrapper) = wrapper {
                        write!(f, ".value[{wrapper}]")?;
                    }
                    write!(f, ".value[{type_name}]")?;
                }
                Seg::Quoted(text) => f.write_str(text)?,
            }
        }
        Ok(())
    }
}

/// The packed form of a step: a byte for its kind, then its content. A number is written with seven
/// bits in each byte, the lowest first; a text is written as its length and its bytes.
pub(super) mod packed {
    use super::Seg;

    const FIELD: u8 = 0;
    const INDEX: u8 = 1;
    const KEY: u8 = 2;
    const JSON_KEY: u8 = 3;
    const VALUE: u8 = 4;
    const WRAPPED_VALUE: u8 = 5;
    const QUOTED: u8 = 6;

    pub(super) fn push(out: &mut Vec<u8>, seg: Seg<'_>) {
        let (kind, texts) = match seg {
            Seg::Index(index) => {
                out.push(INDEX);
                push_number(out, index);
                return;
            }
            Seg::Field(text) => (FIELD, [Some(text), None]),
            Seg::Key(text) => (KEY, [Some(text), None]),
            Seg::JsonKey(text) => (JSON_KEY, [Some(text), None]),
            Seg::Quoted(text) => (QUOTED, [Some(text), None]),
            Seg::Value {
                wrapper: None,
                type_name,
            } => (VALUE, [Some(type_name), None]),
            Seg::Value { wrapper, type_name } => (WRAPPED_VALUE, [wrapper, Some(type_name)]),
        };
        out.push(kind);
        for text in texts.into_iter().flatten() {
            push_number(out, text.len());
            out.extend_from_slice(text.as_bytes());
        }
    }

    /// Adds a number.
    pub(in super::super) fn push_number(out: &mut Vec<u8>, mut number: usize) {
        while number > 0x7f {
            out.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        out.push((number & 0x7f) as u8);
    }

    /// Returns the first step and the rest; `None` at the end.
    pub(super) fn split(packed: &[u8]) -> Option<(Seg<'_>, &[u8])> {
        let (kind, rest) = packed.split_first()?;
        if *kind == INDEX {
            let (index, rest) = split_number(rest)?;
            return Some((Seg::Index(index), rest));
        }
        let (first, rest) = text(rest)?;
        Some(match *kind {
            FIELD => (Seg::Field(first), rest),
            KEY => (Seg::Key(first), rest),
            JSON_KEY => (Seg::JsonKey(first), rest),
            QUOTED => (Seg::Quoted(first), rest),
            WRAPPED_VALUE => {
                let (type_name, rest) = text(rest)?;
                let wrapper = Some(first);
                (Seg::Value { wrapper, type_name }, rest)
            }
            _ => (
                Seg::Value {
                    wrapper: None,
                    type_name: first,
                },
                rest,
            ),
        })
    }

    /// Returns a number and what follows it.
    pub(in super::super) fn split_number(mut packed: &[u8]) -> Option<(usize, &[u8])> {
        let mut number = 0usize;
        let mut shift = 0;
        loop {
            let (byte, rest) = packed.split_first()?;
            number |= usize::from(byte & 0x7f).checked_shl(shift)?;
            packed = rest;
            if byte & 0x80 == 0 {
                return Some((number, packed));
            }
            shift += 7;
        }
    }

    fn text(packed: &[u8]) -> Option<(&str, &[u8])> {
        let (len, rest) = split_number(packed)?;
        let (text, rest) = rest.split_at_checked(len)?;
        Some((std::str::from_utf8(text).ok()?, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_as_the_client_does() {
        let root = Path::ROOT;
        let map = root.field("typed_per_filter_config");
        let entry = map.key("envoy.filters.http.fault");
        let any = entry.then(Seg::Value {
            wrapper: Some("xds.type.v3.TypedStruct"),
            type_name: "a.B",
        });
        let field = any.field("x");
        let leaf = field.index(2);
        assert_eq!(
            leaf.to_owned().to_string(),
            "typed_per_filter_config[envoy.filters.http.fault].value[xds.type.v3.TypedStruct].value[a.B].x[2]"
        );
        assert_eq!(root.to_owned().to_string(), "");
    }

    #[test]
    fn a_quoted_path_is_shown_alone_and_located_at_its_parent() {
        let root = Path::ROOT;
        let lb = root.field("load_balancing_policy");
        let quoted = lb.quoted("childPolicy");
        let path = quoted.to_owned();
        assert_eq!(path.to_string(), "childPolicy");
        assert_eq!(
            path.located().collect::<Vec<_>>(),
            [Seg::Field("load_balancing_policy")]
        );
    }

    #[test]
    fn every_step_survives_packing() {
        let long = "x".repeat(20_000);
        let steps = [
            Seg::Field("a"),
            Seg::Index(0),
            Seg::Index(127),
            Seg::Index(128),
            Seg::Index(usize::MAX),
            Seg::Key(""),
            Seg::Key(&long),
            Seg::JsonKey("é"),
            Seg::Value {
                wrapper: None,
                type_name: "a.B",
            },
            Seg::Value {
                wrapper: Some("t.S"),
                type_name: "a.B",
            },
            Seg::Quoted("q"),
        ];
        fn own(at: &Path<'_>, steps: &[Seg<'_>]) -> FieldPath {
            match steps.split_first() {
                Some((step, rest)) => own(&at.then(*step), rest),
                None => at.to_owned(),
            }
        }
        assert_eq!(own(&Path::ROOT, &steps).segs().collect::<Vec<_>>(), steps);
    }
}
