//! `xdsctl fetch`: saves what a running system holds as a dump.

use std::io::Write;
use std::ops::ControlFlow;

use crate::args::FetchArgs;
use crate::io::live::connect::{ConnectRequest, live};
use crate::io::live::replace::{Counted, replace, replace_by};
use crate::io::overwrite::{self, OutputKind};
use crate::{EXIT_TROUBLE, Error, Io};
use xdsctl_net::{Fetched, StreamEvent};

/// The exit code if the control plane does not have the first resource that a target needs.
const EXIT_MISSING: u8 = 1;

pub(super) fn run(args: &FetchArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    if !xdsctl_net::Address::is_one(&args.source) {
        return Err(crate::io::live::unknown(&args.source));
    }
    let asked = ConnectRequest::of_fetch(args)?;
    if let Some(file) = &args.output {
        overwrite::refuse(file, OutputKind::Dump)?;
    }
    crate::io::input::say_doubts(&asked.fleet, io)?;
    if args.watch {
        return watch(args, &asked, io);
    }
    let err = &mut io.err;
    // Print rejections at once, so that neither a large dump nor a long list of rejections is
    // ever completely in memory.
    let mut say_rejection = |told: StreamEvent| {
        if told.is_rejection && !args.quiet {
            // If standard error is closed, nobody can be told.
            let _ = say!(*err, "{}", told.line);
        }
    };
    let mut count = 0;
    let mut fetch = |out: &mut dyn Write| {
        let mut out = Counted { out, count: 0 };
        let fetched = xdsctl_net::fetch(&asked.address, &asked.options, &mut out, &mut say_rejection);
        count = out.count;
        fetched
    };
    let fetched = match args.output.as_deref() {
        Some(path) => {
            let is_kept = |fetched: &Fetched| fetched.failure.is_none() || args.partial;
            replace_by(path, fetch, is_kept).map_err(Error::io("write", path.display()))?
        }
        None => fetch(&mut io.out),
    };
    let fetched = match (fetched, &args.output) {
        (Err(xdsctl_net::Error::Output(source)), Some(path)) => {
            return Err(Error::io("write", path.display())(source));
        }
        (Err(xdsctl_net::Error::Output(source)), None) => return Err(source.into()),
        (fetched, _) => fetched.map_err(live)?,
    };
    for note in fetched.notes.iter().filter(|_| !args.quiet) {
        say!(io.err, "xdsctl: {note}")?;
    }
    if let Some(failure) = fetched.failure {
        let kept = if args.partial {
            "the incomplete dump was written"
        } else {
            "--partial keeps what had arrived"
        };
        say!(io.err, "xdsctl: {failure}; {kept}")?;
        return Ok(EXIT_TROUBLE);
    }
    if let (Some(path), false) = (&args.output, args.quiet) {
        let entries = fetched.entries.map_or_else(String::new, |count| {
            format!("{}, ", xdsctl_report::plural(count, "resource"))
        });
        say!(io.err, "{entries}{count} bytes to `{}`", path.display())?;
    }
    for target in &fetched.lost_targets {
        let what = "the control plane has no Listener for it, so every RPC of a channel to it fails";
        say!(io.err, "xdsctl: `{target}`: {what}")?;
    }
    Ok(if fetched.lost_targets.is_empty() {
        0
    } else {
        EXIT_MISSING
    })
}

fn watch(args: &FetchArgs, asked: &ConnectRequest, io: &mut Io<'_>) -> Result<u8, Error> {
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
        // If standard error is closed, nobody can be told.
        let _ = say!(*err, "{line}").and_then(|()| err.flush());
    };
    let ended = xdsctl_net::watch(
        &asked.address,
        &asked.options,
        &mut |bytes: Vec<u8>| {
            count += 1;
            if let Err(error) = replace(path, &bytes) {
                failed = Some(error);
                return ControlFlow::Break(());
            }
            if !args.quiet {
                say_line(&format!("dump {count}: {} bytes to `{}`", bytes.len(), path.display()));
            }
            ControlFlow::Continue(())
        },
        &mut |told: StreamEvent| {
            if !args.quiet || told.is_rejection {
                say_line(&told.line);
            }
        },
    );
    if let Some(source) = failed {
        return Err(Error::io("write", path.display())(source));
    }
    match ended {
        Ok(()) => Ok(0),
        // Pressing Ctrl-C is the normal end of a watch.
        Err(xdsctl_net::Error::Interrupted) if count > 0 => Ok(0),
        Err(error) => Err(live(error)),
    }
}
