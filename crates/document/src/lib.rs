//! From the text of a document to the resources in it.
//!
//! [`source`] reads JSON, YAML, text format and binary. [`proto`] turns them into protobuf messages
//! with descriptor tables, and prints messages. [`envelope`] knows the shapes in which tools print
//! resources, and [`load`] reads large documents in parts. [`secret`] and `source::secrets` decide
//! which parts of a document may be printed.

pub mod secret;

pub mod proto;
pub mod source;

pub mod envelope;
pub mod load;
