//! The RPC that a command asks about, from its arguments.

use std::path::{Path, PathBuf};

use crate::args::RequestArgs;
use crate::{Error, Io};
use xdsctl_channel::rpc::Request;
use xdsctl_channel::sim::{DEFAULT_TIMEOUT_MS, Rpc};
use xdsctl_model::resource::Millis;

/// The default method of an RPC.
const DEFAULT_METHOD: &str = "/pkg.Service/Method";

/// Returns the method of the RPC.
pub fn method(args: &RequestArgs) -> &str {
    args.method.as_deref().unwrap_or(DEFAULT_METHOD)
}

/// Refuses the path of a method in the place of a file.
///
/// # Errors
/// The first file does not exist, and looks like the path of a method.
pub fn refuse_method(command: &str, files: &[PathBuf]) -> Result<(), Error> {
    let Some(first) = files.first().and_then(|file| file.to_str()) else {
        return Ok(());
    };
    let parts: Vec<&str> = first.split('/').collect();
    let is_method = matches!(parts.as_slice(), ["", service, method] if !service.is_empty() && !method.is_empty());
    match is_method && !Path::new(first).exists() {
        true => Err(Error::Usage(format!(
            "`{first}` is no file: the method of the RPC is an option, `xdsctl {command} --method {first} FILE`"
        ))),
        false => Ok(()),
    }
}

/// Says which method is asked about if the user has named none. Warns about a path that no method
/// can have.
///
/// # Errors
/// Standard error cannot be written.
pub fn say_method(args: &RequestArgs, io: &mut Io<'_>) -> Result<(), Error> {
    if args.method.is_none() {
        writeln!(io.err, "note: no --method, the RPC is to `{DEFAULT_METHOD}`")?;
    }
    let method = method(args);
    // A service may have slashes in its name.
    let parts = method.strip_prefix('/').and_then(|path| path.rsplit_once('/'));
    if parts.is_none_or(|(service, name)| service.is_empty() || name.is_empty()) {
        say!(
            io.err,
            "note: `{method}` is no path of a method, which is /PKG.SERVICE/METHOD"
        )?;
    }
    Ok(())
}

/// Returns the RPC of the arguments.
///
/// # Errors
/// A header or cookie has no `=`.
pub fn rpc(args: &RequestArgs) -> Result<Rpc, Error> {
    let given = args.timeout.map(|seconds| millis(seconds).0.max(0));
    Ok(Rpc {
        method: method(args).to_owned(),
        headers: headers(args)?,
        timeout_ms: Some(given.unwrap_or(DEFAULT_TIMEOUT_MS)),
        wait_for_ready: false,
    })
}

/// Returns the RPC of the arguments as routes see it.
pub fn request<'a>(args: &'a RequestArgs, headers: &'a [(String, String)]) -> Request<'a> {
    Request {
        path: method(args),
        headers,
        timeout: args.timeout.map(millis),
    }
}

/// Splits a header into name and value: `NAME=VALUE`, or `NAME: VALUE` as for curl. The first of
/// the two signs counts.
fn header_parts(header: &str) -> Option<(&str, &str)> {
    let sign = header.find(['=', ':'])?;
    let (name, value) = (header.get(..sign)?, header.get(sign + 1..)?);
    match header.as_bytes().get(sign) {
        Some(b':') => Some((name.trim_end(), value.trim_start())),
        _ => Some((name, value)),
    }
}

/// Returns the headers of `--header`.
///
/// # Errors
/// A header has neither `=` nor `:`.
pub fn pairs(headers: &[String]) -> Result<Vec<(String, String)>, Error> {
    let pair = |header: &String| {
        // A text that is not a pair is not quoted, because it may be the value alone.
        let (name, value) = header_parts(header).ok_or_else(|| {
            Error::Usage("--header must be NAME=VALUE or `NAME: VALUE`, one has neither `=` nor `:`".to_owned())
        })?;
        Ok((name.to_ascii_lowercase(), value.to_owned()))
    };
    headers.iter().map(pair).collect()
}

/// Returns the metadata of an RPC.
///
/// # Errors
/// A header or cookie has no `=`.
pub fn headers(args: &RequestArgs) -> Result<Vec<(String, String)>, Error> {
    let mut headers = pairs(&args.headers)?;
    if args.cookies.iter().any(|cookie| !cookie.contains('=')) {
        return Err(Error::Usage("--cookie must be NAME=VALUE, one has no `=`".to_owned()));
    }
    if !args.cookies.is_empty() {
        headers.push(("cookie".to_owned(), args.cookies.join("; ")));
    }
    Ok(headers)
}

/// Reads an argument that is a number of seconds.
///
/// # Errors
/// The text is not a number, or the number is negative.
pub fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text
        .parse()
        .ok()
        .filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
    seconds.ok_or_else(|| "must be a number of seconds, such as 2.5".to_owned())
}

/// Converts a number of seconds to a duration.
pub fn millis(seconds: f64) -> Millis {
    // `as` rounds towards zero and clamps to the range.
    Millis((seconds * 1000.0) as i64)
}
