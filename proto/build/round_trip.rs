//! Writes `round_trip.rs`, which the tests include: one function that finds a generated type by message name.

use std::fmt::Write;

use heck::{ToSnakeCase, ToUpperCamelCase};
use prost_types::{DescriptorProto, FileDescriptorSet};

pub fn generate(pruned: &FileDescriptorSet) -> String {
    let mut out = String::from(
        "fn round_trip(name: &str, wire: &[u8]) -> Option<Result<Vec<u8>, prost::DecodeError>> {\n\
         fn run<M: prost::Message + Default>(wire: &[u8]) -> Result<Vec<u8>, prost::DecodeError> {\n\
         M::decode(wire).map(|message| message.encode_to_vec())\n}\n\
         Some(match name {\n",
    );
    for file in pruned.file.iter().filter(|file| file.package() != "google.protobuf") {
        let scope = file
            .package()
            .split('.')
            .fold("xdsctl_proto".to_owned(), |path, part| path + "::" + &module(part));
        for message in &file.message_type {
            arms(&mut out, file.package(), &scope, message);
        }
    }
    out + "_ => return None,\n})\n}\n"
}

fn arms(out: &mut String, scope: &str, path: &str, message: &DescriptorProto) {
    if message.options.as_ref().is_some_and(|options| options.map_entry()) {
        return;
    }
    let name = format!("{scope}.{}", message.name());
    let ident = message.name().to_upper_camel_case();
    writeln!(out, "{name:?} => run::<{path}::{ident}>(wire),").expect("writing to a String does not fail");
    for nested in &message.nested_type {
        arms(out, &name, &format!("{path}::{}", module(message.name())), nested);
    }
}

/// The module name that prost-build gives to a package part or to a message with nested types.
fn module(part: &str) -> String {
    let name = part.to_snake_case();
    if name == "type" { "r#type".to_owned() } else { name }
}
