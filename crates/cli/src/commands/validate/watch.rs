//! `xdsctl validate --watch`: checks every version of a running system, until one is bad.

use super::ValidatePlan;
use crate::{Error, Io};

/// Checks each version, until one has a finding that `--fail-on` counts.
///
/// # Errors
/// The input is not a running system, or it cannot be fetched.
pub(super) fn run(asked: &ValidatePlan<'_>, io: &mut Io<'_>) -> Result<u8, Error> {
    let [path] = asked.args.input.files.as_slice() else {
        return Err(Error::Usage("--watch takes one running system".to_owned()));
    };
    let Some(text) = path.to_str().filter(|text| crate::io::live::is_address(text)) else {
        return Err(Error::Usage(format!(
            "--watch is for running systems such as ads://HOST:PORT, `{}` is none",
            path.display()
        )));
    };
    watch(text, asked, io)
}

#[cfg(not(feature = "net"))]
fn watch(text: &str, _: &ValidatePlan<'_>, _: &mut Io<'_>) -> Result<u8, Error> {
    Err(crate::io::live::missing(text))
}

#[cfg(feature = "net")]
fn watch(text: &str, asked: &ValidatePlan<'_>, io: &mut Io<'_>) -> Result<u8, Error> {
    use super::stream::LineStream;
    use crate::args::ReportFormat;
    use crate::io::input::{InputPlan, of_text};
    use std::io::Write as _;
    use std::ops::ControlFlow;

    let plan = InputPlan::of(&asked.args.input, &asked.config)?;
    let live = crate::io::live::connect::ConnectRequest::of_input(text, &plan)?;
    // The file is opened once, and gets a line for each version.
    let mut by_line = match asked.is_by_line() {
        Some(Some(file)) => Some(Some(asked.style.create(file, ReportFormat::Jsonl)?)),
        Some(None) => Some(None),
        None => None,
    };
    let mut versions = 0;
    let mut last = None;
    let mut check = |bytes: Vec<u8>, io: &mut Io<'_>| -> Result<u8, Error> {
        versions += 1;
        if let Some(file) = &mut by_line {
            let out: &mut dyn std::io::Write = match file {
                Some(file) => file,
                None => &mut io.out,
            };
            return LineStream(asked).version(text, bytes, versions, out);
        }
        let mut inputs = of_text(plan.clone(), asked.clients.fleet.clone(), text, bytes)?;
        let checked = asked.check(&mut inputs, io)?;
        let code = asked.write_report(checked, &inputs, io)?;
        io.out.flush()?;
        Ok(code)
    };
    // The two closures are called in turn, never one inside the other.
    let io = std::cell::RefCell::new(io);
    let ended = xdsctl_net::watch(
        &live.address,
        &live.options,
        &mut |bytes| {
            let code = check(bytes, &mut io.borrow_mut());
            let is_good = matches!(code, Ok(0));
            last = Some(code);
            if is_good {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        },
        &mut |told| {
            if !asked.args.quiet || told.is_rejection {
                // If standard error is closed, nobody can be told.
                let mut io = io.borrow_mut();
                let _ = say!(io.err, "{}", told.line).and_then(|()| io.err.flush());
            }
        },
    );
    match (ended, last) {
        // The watch ended at the first bad version, or by Ctrl-C after good versions.
        (Ok(()) | Err(xdsctl_net::Error::Interrupted), Some(code)) => code,
        (Ok(()), None) => Ok(0),
        (Err(error), _) => Err(crate::io::live::connect::live(error)),
    }
}
