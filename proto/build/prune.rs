//! The copy of the descriptor set that the Rust types are generated from.
//!
//! A listed message keeps its listed fields; a message that is only reached through a kept field stays as a
//! message without fields; everything else goes. A oneof of which one member is kept keeps every member that the
//! client knows, because a later member on the wire replaces an earlier one whether or not anybody reads it. A field
//! that holds messages marked `lazy` becomes a `bytes` field.

use std::collections::{BTreeMap, BTreeSet};

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet, OneofDescriptorProto,
};

use crate::lists::{Index, Marked, Reads, join};

pub fn prune(set: &FileDescriptorSet, reads: &Reads, unknown: &Marked, index: &Index) -> FileDescriptorSet {
    let mut pruner = Pruner {
        reads,
        unknown,
        index,
        messages: BTreeSet::new(),
        enums: BTreeSet::new(),
    };
    for name in reads.messages() {
        pruner.reach(name);
    }
    let file = set.file.iter().filter_map(|file| pruner.file(file)).collect();
    FileDescriptorSet { file }
}

struct Pruner<'a> {
    reads: &'a Reads,
    unknown: &'a Marked,
    index: &'a Index<'a>,
    messages: BTreeSet<String>,
    enums: BTreeSet<String>,
}

impl Pruner<'_> {
    fn reach(&mut self, name: &str) {
        if !self.messages.insert(name.to_owned()) {
            return;
        }
        let (message, _) = self.index.messages[name];
        for field in self.kept_fields(name, message) {
            let target = field.type_name().trim_start_matches('.');
            match field.r#type() {
                Type::Message | Type::Group => self.reach(target),
                Type::Enum => {
                    self.enums.insert(target.to_owned());
                }
                _ => {}
            }
        }
    }

    fn kept_fields<'m>(&self, name: &str, message: &'m DescriptorProto) -> Vec<&'m FieldDescriptorProto> {
        if message.options.as_ref().is_some_and(|options| options.map_entry()) {
            return message.field.iter().collect();
        }
        let read = |field: &FieldDescriptorProto| self.reads.anyone(name, field.number());
        let oneofs: BTreeSet<i32> = message
            .field
            .iter()
            .filter(|f| read(f))
            .filter_map(|f| f.oneof_index)
            .collect();
        let sibling = |field: &FieldDescriptorProto| {
            field.oneof_index.is_some_and(|oneof| oneofs.contains(&oneof)) && !self.unknown.field(name, field.number())
        };
        message
            .field
            .iter()
            .filter(|field| read(field) || sibling(field))
            .collect()
    }

    fn file(&self, file: &FileDescriptorProto) -> Option<FileDescriptorProto> {
        // The code of the well-known types comes from prost-types, but prost-build looks at their fields.
        if file.package() == "google.protobuf" {
            return (file.name() != "google/protobuf/descriptor.proto").then(|| file.clone());
        }
        let message_type: Vec<_> = file
            .message_type
            .iter()
            .filter_map(|message| self.message(file.package(), message))
            .collect();
        let mut enum_type = file.enum_type.clone();
        enum_type.retain(|item| self.enums.contains(&join(file.package(), item.name())));
        if message_type.is_empty() && enum_type.is_empty() {
            return None;
        }
        Some(FileDescriptorProto {
            name: file.name.clone(),
            package: file.package.clone(),
            syntax: file.syntax.clone(),
            message_type,
            enum_type,
            ..Default::default()
        })
    }

    fn message(&self, scope: &str, message: &DescriptorProto) -> Option<DescriptorProto> {
        let name = join(scope, message.name());
        let nested_type: Vec<_> = message
            .nested_type
            .iter()
            .filter_map(|nested| self.message(&name, nested))
            .collect();
        let mut enum_type = message.enum_type.clone();
        enum_type.retain(|item| self.enums.contains(&join(&name, item.name())));
        for value in enum_type.iter_mut().flat_map(|item| &mut item.value) {
            if let Some(options) = &mut value.options {
                options.deprecated = None;
            }
        }
        let reached = self.messages.contains(&name);
        if !reached && nested_type.is_empty() && enum_type.is_empty() {
            return None;
        }
        let mut field: Vec<FieldDescriptorProto> = if reached {
            self.kept_fields(&name, message).into_iter().cloned().collect()
        } else {
            Vec::new()
        };

        // Drop the oneofs that lost all members and renumber the rest.
        let kept: BTreeSet<i32> = field.iter().filter_map(|field| field.oneof_index).collect();
        let renumber: BTreeMap<i32, i32> = kept.iter().copied().zip(0..).collect();
        for field in &mut field {
            field.oneof_index = field.oneof_index.map(|old| renumber[&old]);
            // Deprecated or not, the client reads it: no warning where the field is used.
            if let Some(options) = &mut field.options {
                options.deprecated = None;
            }
        }
        let mut oneof_decl: Vec<OneofDescriptorProto> = kept
            .iter()
            .filter_map(|&old| message.oneof_decl.get(old as usize).cloned())
            .collect();
        for field in &mut field {
            let target = field.type_name().trim_start_matches('.');
            if field.oneof_index.is_some() || !self.reads.lazy(target) {
                continue;
            }
            field.set_type(Type::Bytes);
            field.type_name = None;
            if field.label() == Label::Optional {
                // `optional`, which is a oneof of its own.
                field.proto3_optional = Some(true);
                field.oneof_index = Some(oneof_decl.len() as i32);
                oneof_decl.push(OneofDescriptorProto {
                    name: Some(format!("_{}", field.name())),
                    options: None,
                });
            }
        }
        Some(DescriptorProto {
            name: message.name.clone(),
            field,
            nested_type,
            enum_type,
            oneof_decl,
            options: message.options.clone(),
            ..Default::default()
        })
    }
}
