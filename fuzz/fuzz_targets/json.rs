//! A document that is taken for JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xdsctl::source::sniff::Format;

fuzz_target!(|data: &[u8]| xdsctl_fuzz::validate(data, Some(Format::Json)));
