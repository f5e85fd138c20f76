//! Any bytes to `xdsctl validate -`: the format is found out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xdsctl_cli::{Io, run};

fuzz_target!(|data: &[u8]| {
    if data.len() > xdsctl_fuzz::MAX_BYTES {
        return;
    }
    let mut io = Io {
        input: Box::new(data),
        out: Box::new(std::io::sink()),
        err: Box::new(std::io::sink()),
        out_is_terminal: false,
        err_is_terminal: false,
        colour: Default::default(),
        width: 100,
    };
    run(["xdsctl", "validate", "-"], &mut io);
    xdsctl_fuzz::validate(data, None);
});
