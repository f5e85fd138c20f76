//! `xdsctl init`: writes a configuration file to start from.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};

use crate::args::InitArgs;
use crate::config::FILE_NAME;
use crate::{Error, Io};

/// The text of the file, in which every setting is a comment.
pub const TEMPLATE: &str = include_str!("template.toml");

/// Writes the file into a directory. An existing file is not changed.
pub fn run(args: &InitArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let path = args.directory.join(FILE_NAME);
    let path = path.strip_prefix(".").unwrap_or(&path);
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(TEMPLATE.as_bytes()));
    written.map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => Error::Usage(format!("there is a `{}` already", path.display())),
        _ => Error::io("write", path.display())(source),
    })?;
    say!(io.err, "wrote {}", path.display())?;
    Ok(0)
}
