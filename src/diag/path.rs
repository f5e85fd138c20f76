//! Where in a resource a finding is, in the notation of gRPC C-core's `ValidationErrors`.
//!
//! A [`Path`] is a linked list on the stack: `at.field("lb_endpoints").index(3)` borrows its parent, costs no allocation
//! and cannot be left unbalanced. It becomes an owned [`FieldPath`] only when something is reported.
//!
//! The rendering is the client's, byte for byte: `a.b[3].c`, a map key raw in brackets (`typed_per_filter_config[key]`),
//! an unpacked Any as `.value[full.type.Name]`, and both levels for a TypedStruct.

use std::fmt;

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
    /// A path that the client quotes from another loader (`childPolicy`): rendered alone, located at the parent.
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

    /// A path quoted from another loader, shown alone and located here.
    pub const fn quoted(&'a self, text: &'a str) -> Path<'a> {
        self.then(Seg::Quoted(text))
    }

    /// The owned form.
    pub fn to_owned(&self) -> FieldPath {
        let mut segs = Vec::new();
        let mut at = Some(self);
        while let Some(path) = at {
            if let Some(seg) = path.seg {
                segs.push(OwnedSeg::from(seg));
            }
            at = path.parent;
        }
        segs.reverse();
        FieldPath(segs)
    }
}

/// One step of a [`FieldPath`]; see [`Seg`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OwnedSeg {
    /// A message field.
    Field(String),
    /// An element of a repeated field.
    Index(usize),
    /// A map entry.
    Key(String),
    /// An entry of a JSON object.
    JsonKey(String),
    /// The message inside an Any.
    Value {
        /// The TypedStruct type around it, if any.
        wrapper: Option<String>,
        /// The message type.
        type_name: String,
    },
    /// A path quoted from another loader.
    Quoted(String),
}

impl From<Seg<'_>> for OwnedSeg {
    fn from(seg: Seg<'_>) -> Self {
        match seg {
            Seg::Field(name) => OwnedSeg::Field(name.to_owned()),
            Seg::Index(index) => OwnedSeg::Index(index),
            Seg::Key(key) => OwnedSeg::Key(key.to_owned()),
            Seg::JsonKey(key) => OwnedSeg::JsonKey(key.to_owned()),
            Seg::Value { wrapper, type_name } => OwnedSeg::Value {
                wrapper: wrapper.map(str::to_owned),
                type_name: type_name.to_owned(),
            },
            Seg::Quoted(text) => OwnedSeg::Quoted(text.to_owned()),
        }
    }
}

/// An owned place in a resource; empty for the resource itself.
///
/// Ordered and compared by steps; [`Display`](fmt::Display) gives the client's text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct FieldPath(Vec<OwnedSeg>);

impl FieldPath {
    /// The steps from the resource down.
    pub fn segs(&self) -> &[OwnedSeg] {
        &self.0
    }

    /// The steps that lead to a place in the user's document: everything before a quoted path.
    pub fn located(&self) -> &[OwnedSeg] {
        let end = self
            .0
            .iter()
            .position(|seg| matches!(seg, OwnedSeg::Quoted(_)))
            .unwrap_or(self.0.len());
        self.0.get(..end).unwrap_or(&self.0)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self
            .0
            .iter()
            .rposition(|seg| matches!(seg, OwnedSeg::Quoted(_)))
            .unwrap_or(0);
        for (i, seg) in self.0.iter().skip(start).enumerate() {
            match seg {
                OwnedSeg::Field(name) if i == 0 => f.write_str(name)?,
                OwnedSeg::Field(name) => write!(f, ".{name}")?,
                OwnedSeg::Index(index) => write!(f, "[{index}]")?,
                OwnedSeg::Key(key) => write!(f, "[{key}]")?,
                OwnedSeg::JsonKey(key) => write!(f, "[\"{key}\"]")?,
                OwnedSeg::Value { wrapper, type_name } => {
                    if let Some(wrapper) = wrapper {
                        write!(f, ".value[{wrapper}]")?;
                    }
                    write!(f, ".value[{type_name}]")?;
                }
                OwnedSeg::Quoted(text) => f.write_str(text)?,
            }
        }
        Ok(())
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
        assert_eq!(path.located(), &[OwnedSeg::Field("load_balancing_policy".into())]);
    }
}
