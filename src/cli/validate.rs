//! `xdsctl validate`.

use super::args::ValidateArgs;
use super::{Error, Io};

pub(super) fn run(args: &ValidateArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let _ = (args, io);
    Ok(0)
}
