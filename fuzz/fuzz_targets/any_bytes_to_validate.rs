//! Any bytes to `xdsctl validate -`: the format is found out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xdsctl_cli::{Io, run};

fuzz_target!(|data: &[u8]| {
    if data.len() > xdsctl_fuzz::MAX_BYTES {
        return;
    }
    let mut io = Io::piped(data, std::io::sink(), std::io::sink());
    run(["xdsctl", "validate", "-"], &mut io);
    xdsctl_fuzz::validate(data, None);
});
