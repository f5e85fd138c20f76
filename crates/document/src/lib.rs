//! From the text of a document to the resources in it.
//!
//! [`source`] reads JSON, YAML, text format and binary, [`proto`] makes protobuf messages of them
//! by descriptor tables and prints them again, [`envelope`] knows the shapes in which resources
//! reach a user, and [`load`] reads large documents in parts. [`secret`] and `source::secrets`
//! decide what of a document may be printed.

pub mod secret;

pub mod proto;
pub mod source;

pub mod envelope;
pub mod load;
