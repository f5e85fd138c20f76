//! `xdsctl policy`: runs the cases of policies, and writes a policy to start from.

mod change;
mod new;
mod test;

use crate::args::{PolicyArgs, PolicyCommand};
use crate::{Error, Io};

pub(super) fn run(args: &PolicyArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    match &args.command {
        PolicyCommand::Test(args) => test::run(args, io),
        PolicyCommand::New(args) => new::run(args, io),
        PolicyCommand::Schema => {
            write!(io.out, "{}", xdsctl_policy::schema::SCHEMA_TEXT)?;
            Ok(0)
        }
    }
}

use std::io::Write as _;
