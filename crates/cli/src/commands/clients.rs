//! `xdsctl clients`: which clients can be asked, how they were measured, and since which version
//! each has which feature.

use crate::args::{ClientsArgs, Format};
use crate::{Error, Io};
use xdsctl_report::profiles;

pub(super) fn run(args: &ClientsArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    match args.format {
        Format::Human => profiles::write(io.width, &mut io.out)?,
        Format::Json => profiles::write_json(&mut io.out)?,
    }
    Ok(0)
}
