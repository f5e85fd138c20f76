//! `xdsctl fetch`: a running system into a dump.

use crate::args::FetchArgs;
use crate::{Error, Io};

#[cfg(not(feature = "net"))]
pub(crate) fn run(args: &FetchArgs, _: &mut Io<'_>) -> Result<u8, Error> {
    Err(super::missing(&args.source))
}

#[cfg(feature = "net")]
pub(crate) use live::run;

#[cfg(feature = "net")]
mod live {
    use std::io::Write as _;
    use std::ops::ControlFlow;
    use std::path::Path;

    use super::super::connect::{Asked, live};
    use super::{Error, FetchArgs, Io};
    use crate::EXIT_TROUBLE;
    use xdsctl_net::{Fetched, Told};

    pub(crate) fn run(args: &FetchArgs, io: &mut Io<'_>) -> Result<u8, Error> {
        if !xdsctl_net::Address::is_one(&args.source) {
            return Err(crate::live::unknown(&args.source));
        }
        let asked = Asked::of_fetch(args)?;
        if args.watch {
            return watch(args, &asked, io);
        }
        let mut bytes = Vec::new();
        let mut lines = Vec::new();
        let fetched = xdsctl_net::fetch(&asked.address, &asked.options, &mut bytes, &mut |told| lines.push(told));
        for told in lines.iter().filter(|told| told.is_rejection && !args.quiet) {
            say!(io.err, "{}", told.line)?;
        }
        let Fetched {
            entries,
            notes,
            trouble,
        } = fetched.map_err(live)?;
        if trouble.is_none() || args.partial {
            write(args.output.as_deref(), &bytes, io)?;
        }
        for note in notes.iter().filter(|_| !args.quiet) {
            say!(io.err, "xdsctl: {note}")?;
        }
        if let Some(trouble) = trouble {
            let kept = if args.partial {
                "what had arrived was written"
            } else {
                "--partial keeps what had arrived"
            };
            say!(io.err, "xdsctl: {trouble}; {kept}")?;
            return Ok(EXIT_TROUBLE);
        }
        if let (Some(path), false) = (&args.output, args.quiet) {
            let count = entries.map_or_else(String::new, |count| format!("{count} resources, "));
            say!(io.err, "{count}{} bytes to `{}`", bytes.len(), path.display())?;
        }
        Ok(0)
    }

    /// Writes the dump, a file all at once: whoever reads it meanwhile finds the old one or the new one.
    fn write(path: Option<&Path>, bytes: &[u8], io: &mut Io<'_>) -> Result<(), Error> {
        let Some(path) = path else {
            return Ok(io.out.write_all(bytes)?);
        };
        crate::live::replace(path, bytes).map_err(|source| Error::Io {
            what: "write",
            name: path.display().to_string(),
            source,
        })
    }

    fn watch(args: &FetchArgs, asked: &Asked, io: &mut Io<'_>) -> Result<u8, Error> {
        let Some(path) = args.output.as_deref() else {
            return Err(Error::Usage(
                "--watch writes the dump again and again: name a file with --output".to_owned(),
            ));
        };
        let mut failed = None;
        let mut count = 0;
        let err = std::cell::RefCell::new(&mut io.err);
        let say_line = |line: &str| {
            let mut err = err.borrow_mut();
            // Nothing is left to tell a closed standard error.
            let _ = say!(*err, "{line}").and_then(|()| err.flush());
        };
        let ended = xdsctl_net::watch(
            &asked.address,
            &asked.options,
            &mut |bytes: Vec<u8>| {
                count += 1;
                if let Err(error) = crate::live::replace(path, &bytes) {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
                if !args.quiet {
                    say_line(&format!("dump {count}: {} bytes to `{}`", bytes.len(), path.display()));
                }
                ControlFlow::Continue(())
            },
            &mut |told: Told| {
                if !args.quiet || told.is_rejection {
                    say_line(&told.line);
                }
            },
        );
        if let Some(source) = failed {
            return Err(Error::Io {
                what: "write",
                name: path.display().to_string(),
                source,
            });
        }
        match ended {
            Ok(()) => Ok(0),
            // Who watches ends it so.
            Err(xdsctl_net::Error::Interrupted) if count > 0 => Ok(0),
            Err(error) => Err(live(error)),
        }
    }
}
