//! Protobuf text format.

mod sniff;

pub(super) use sniff::looks_like;
