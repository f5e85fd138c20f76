//! Writes `tables.rs`: the whole descriptor set as static data.

use std::collections::BTreeMap;
use std::fmt::Write;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto};

use crate::lists::{Harmless, Index, Marked, Reads};

pub fn generate(index: &Index, reads: &Reads, unknown: &Marked, harmless: &Harmless) -> String {
    let writer = Writer {
        index,
        reads,
        unknown,
        harmless,
        message_ids: index.messages.keys().map(String::as_str).zip(0..).collect(),
        enum_ids: index.enums.keys().map(String::as_str).zip(0..).collect(),
    };
    let mut out = String::new();
    writer
        .messages(&mut out)
        .and_then(|()| writer.enums(&mut out))
        .expect("writing to a String does not fail");
    out
}

struct Writer<'a> {
    index: &'a Index<'a>,
    reads: &'a Reads,
    unknown: &'a Marked,
    harmless: &'a Harmless,
    message_ids: BTreeMap<&'a str, u16>,
    enum_ids: BTreeMap<&'a str, u16>,
}

impl Writer<'_> {
    fn messages(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "/// Every message of the descriptor set, sorted by full name.")?;
        writeln!(out, "pub static MESSAGES: &[Message] = &[")?;
        for (name, (message, is_proto2)) in &self.index.messages {
            let mut fields: Vec<&FieldDescriptorProto> = message.field.iter().collect();
            fields.sort_by_key(|field| field.number());
            let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
            for (position, field) in fields.iter().enumerate() {
                by_name.insert(field.name(), position);
                by_name.insert(field.json_name(), position);
            }
            let oneofs: Vec<&str> = message.oneof_decl.iter().map(|oneof| oneof.name()).collect();
            writeln!(
                out,
                "Message {{ full_name: {name:?}, well_known: {}, listed: {}, known_to_client: {}, lazy: {}, unknown_in: {}, map_entry: {}, oneofs: &{oneofs:?}, by_name: &{:?}, fields: &[",
                self.well_known(name, message),
                self.listed(name),
                !self.unknown.message(name),
                self.reads.lazy(name),
                self.reads.apart(name, 0).1,
                is_map_entry(message),
                by_name.into_iter().collect::<Vec<_>>(),
            )?;
            for field in fields {
                self.field(out, name, message, *is_proto2, field)?;
            }
            writeln!(out, "] }},")?;
        }
        writeln!(out, "];")
    }

    fn field(
        &self,
        out: &mut String,
        name: &str,
        message: &DescriptorProto,
        is_proto2: bool,
        field: &FieldDescriptorProto,
    ) -> std::fmt::Result {
        let number = field.number();
        let repeated = field.label() == Label::Repeated;
        let cardinality = match self.map_entry(field) {
            Some(entry) => {
                let kind = |number| entry.field.iter().find(|f| f.number() == number).map(|f| self.kind(f));
                format!(
                    "Cardinality::Map {{ key: {}, value: {} }}",
                    kind(1).expect("a map entry has a key"),
                    kind(2).expect("a map entry has a value"),
                )
            }
            None if repeated => "Cardinality::Repeated".to_owned(),
            None => "Cardinality::Singular".to_owned(),
        };
        let synthetic = field.proto3_optional();
        let oneof = field.oneof_index.filter(|_| !synthetic);
        let is_message = matches!(field.r#type(), Type::Message | Type::Group);
        let explicit_presence = !repeated && (is_message || field.oneof_index.is_some() || is_proto2);
        writeln!(
            out,
            "Field {{ number: {number}, name: {:?}, json_name: {:?}, kind: {}, cardinality: {cardinality}, oneof: {oneof:?}, read: {}, judged: {}, read_in: {}, unread_in: {}, generated: {}, known_to_client: {}, explicit_presence: {explicit_presence}, deprecated: {}, shown: {} }},",
            field.name(),
            field.json_name(),
            self.kind(field),
            self.reads.client(name, number),
            self.kept(name, message, field, Reads::judged),
            self.reads.apart(name, number).0,
            self.reads.apart(name, number).1,
            self.kept(name, message, field, Reads::anyone),
            !self.unknown.field(name, number),
            field.options.as_ref().is_some_and(|options| options.deprecated()),
            self.shown(name, field),
        )
    }

    fn enums(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "/// Every enum of the descriptor set, sorted by full name.")?;
        writeln!(out, "pub static ENUMS: &[Enum] = &[")?;
        for (name, item) in &self.index.enums {
            let values: Vec<(&str, i32)> = item.value.iter().map(|value| (value.name(), value.number())).collect();
            let by_name: BTreeMap<&str, i32> = values.iter().copied().collect();
            let by_name: Vec<_> = by_name.into_iter().collect();
            writeln!(
                out,
                "Enum {{ full_name: {name:?}, values: &{values:?}, by_name: &{by_name:?} }},"
            )?;
        }
        writeln!(out, "];")
    }

    fn kind(&self, field: &FieldDescriptorProto) -> String {
        let target = field.type_name().trim_start_matches('.');
        let scalar = match field.r#type() {
            Type::Message | Type::Group => return format!("Kind::Message({})", self.message_ids[target]),
            Type::Enum => return format!("Kind::Enum({})", self.enum_ids[target]),
            Type::Double => "Double",
            Type::Float => "Float",
            Type::Int32 => "Int32",
            Type::Int64 => "Int64",
            Type::Uint32 => "Uint32",
            Type::Uint64 => "Uint64",
            Type::Sint32 => "Sint32",
            Type::Sint64 => "Sint64",
            Type::Fixed32 => "Fixed32",
            Type::Fixed64 => "Fixed64",
            Type::Sfixed32 => "Sfixed32",
            Type::Sfixed64 => "Sfixed64",
            Type::Bool => "Bool",
            Type::String => "String",
            Type::Bytes => "Bytes",
        };
        format!("Kind::{scalar}")
    }

    /// Is the field part of the Rust type that is generated for what `reads` says? Same rule as in `prune.rs`.
    fn kept(
        &self,
        name: &str,
        message: &DescriptorProto,
        field: &FieldDescriptorProto,
        reads: fn(&Reads, &str, i32) -> bool,
    ) -> bool {
        let read = |field: &FieldDescriptorProto| reads(self.reads, name, field.number());
        let sibling = field.oneof_index.is_some()
            && message
                .field
                .iter()
                .any(|other| other.oneof_index == field.oneof_index && read(other));
        is_map_entry(message) || read(field) || (sibling && !self.unknown.field(name, field.number()))
    }

    /// May what stands directly in the field be printed: a text, the keys of a map?
    fn shown(&self, name: &str, field: &FieldDescriptorProto) -> bool {
        let is_text = match field.r#type() {
            Type::String | Type::Bytes => true,
            Type::Message => {
                let wraps = [".google.protobuf.StringValue", ".google.protobuf.BytesValue"];
                wraps.contains(&field.type_name()) || self.map_entry(field).is_some()
            }
            _ => false,
        };
        self.harmless.allows(name, field.name(), is_text)
    }

    fn map_entry(&self, field: &FieldDescriptorProto) -> Option<&DescriptorProto> {
        if field.r#type() != Type::Message || field.label() != Label::Repeated {
            return None;
        }
        let (entry, _) = self.index.messages[field.type_name().trim_start_matches('.')];
        is_map_entry(entry).then_some(entry)
    }

    fn listed(&self, name: &str) -> &'static str {
        if self.reads.client_lists(name) {
            "Listed::Client"
        } else if self.reads.loader_lists(name) {
            "Listed::Loader"
        } else {
            "Listed::No"
        }
    }

    fn well_known(&self, name: &str, message: &DescriptorProto) -> String {
        let Some(short) = name.strip_prefix("google.protobuf.") else {
            return "WellKnown::None".to_owned();
        };
        match short {
            "Any" | "Struct" | "Value" | "ListValue" | "Duration" | "Timestamp" | "FieldMask" | "Empty" => {
                format!("WellKnown::{short}")
            }
            "BoolValue" | "BytesValue" | "DoubleValue" | "FloatValue" | "Int32Value" | "Int64Value" | "StringValue"
            | "UInt32Value" | "UInt64Value" => format!("WellKnown::Wrapper({})", self.kind(&message.field[0])),
            _ => "WellKnown::None".to_owned(),
        }
    }
}

fn is_map_entry(message: &DescriptorProto) -> bool {
    message.options.as_ref().is_some_and(|options| options.map_entry())
}
