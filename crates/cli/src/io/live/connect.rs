//! Turns arguments into options for connecting. Reads the files that they name, and the
//! environment.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::Error;
use crate::args::{ConnectArgs, FetchArgs, ServeArgs};
use crate::io::input::{InputPlan, cannot_read, set_env, switches};
use xdsctl_clients::bootstrap;
use xdsctl_model::profile::Fleet;
use xdsctl_net::{Address, FetchOptions, ServerKind, ServerTls, Tls};

/// The environment variables with the path of the bootstrap, and with its text (gRFC A27).
const BOOTSTRAP_FILE: &str = "GRPC_XDS_BOOTSTRAP";
const BOOTSTRAP_TEXT: &str = "GRPC_XDS_BOOTSTRAP_CONFIG";

/// The largest file of certificates, tokens or settings that is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// A running system, and what to fetch from it.
pub(crate) struct ConnectRequest {
    pub address: Address,
    pub options: FetchOptions,
    /// The client whose verdicts are sent.
    pub fleet: Fleet,
}

/// Converts an error of the library.
pub(crate) fn live(error: xdsctl_net::Error) -> Error {
    Error::Live(error.to_string())
}

impl ConnectRequest {
    /// Returns the request for a running system that is an input.
    pub fn of_input(text: &str, plan: &InputPlan) -> Result<ConnectRequest, Error> {
        let mut asked = ConnectRequest::new(text, &plan.connect, plan.bootstrap.as_deref(), &plan.env)?;
        // Reports mask secrets themselves, and show faults of a resource in its own bytes.
        asked.options.redacts = false;
        Ok(asked)
    }

    /// Returns the request of `fetch`.
    pub fn of_fetch(args: &FetchArgs) -> Result<ConnectRequest, Error> {
        let mut asked = ConnectRequest::new(
            &args.source,
            &args.connect,
            args.bootstrap.as_deref(),
            &switches(&args.env)?,
        )?;
        asked.options.redacts = !args.raw;
        asked.options.is_partial = args.partial;
        asked.options.is_wire = wants_wire(args, asked.address.kind)?;
        asked.options.targets.clone_from(&args.target);
        asked.options.delta = args.delta;
        asked.options.scope.clone_from(&args.scope);
        let misplaced = [
            (!args.target.is_empty(), ServerKind::Ads, "--target"),
            (args.delta, ServerKind::Ads, "--delta"),
            (args.scope.is_some(), ServerKind::Csds, "--scope"),
        ];
        for (is_given, kind, flag) in misplaced {
            if is_given && asked.address.kind != kind {
                return Err(Error::Usage(format!(
                    "{flag} is about {}://, not about `{}`",
                    kind.scheme(),
                    args.source
                )));
            }
        }
        Ok(asked)
    }

    fn new(
        text: &str,
        args: &ConnectArgs,
        bootstrap: Option<&Path>,
        env: &[(String, String)],
    ) -> Result<ConnectRequest, Error> {
        let address = Address::parse(text).map_err(|error| Error::Usage(error.to_string()))?;
        let mut fleet = Fleet::default();
        set_env(&mut fleet, env)?;
        let profile = fleet.base().clone();
        let bootstrap = match address.kind {
            ServerKind::Ads => bootstrap_text(bootstrap)?,
            ServerKind::Csds | ServerKind::Envoy => None,
        };
        let read = bootstrap
            .as_deref()
            .and_then(|text| bootstrap::validate(text, &profile).0);
        let has_tls = args.tls || args.ca.is_some() || args.cert.is_some() || args.server_name.is_some();
        let tls = has_tls.then(|| tls(args)).transpose()?;
        let token = args.token_file.as_deref().map(token).transpose()?;
        Ok(ConnectRequest {
            options: FetchOptions {
                tls,
                token,
                timeout: Duration::from_secs_f64(args.wait),
                retries: args.retries,
                max_message_bytes: usize::try_from(args.max_size << 20).unwrap_or(usize::MAX),
                node: args.node.clone(),
                server: read.map(|bootstrap| bootstrap.server_facts()).unwrap_or_default(),
                bootstrap,
                profile,
                now,
                ..FetchOptions::default()
            },
            address,
            fleet,
        })
    }
}

/// Says whether the dump must be in wire format, by the extension of its file.
fn wants_wire(args: &FetchArgs, kind: ServerKind) -> Result<bool, Error> {
    let path = args.output.as_deref();
    let ending = path.and_then(Path::extension).and_then(|ending| ending.to_str());
    let Some(path) = path.filter(|_| matches!(ending, Some("pb" | "binpb"))) else {
        return Ok(false);
    };
    let why = match kind {
        ServerKind::Envoy => "an admin port answers in JSON: name it .json",
        _ if !args.raw => "in wire format nothing is masked: say --raw, or name it .json",
        _ => return Ok(true),
    };
    Err(Error::Usage(format!("`{}`: {why}", path.display())))
}

/// Returns the bootstrap of the flag, or else of the environment, as a gRPC client finds it.
fn bootstrap_text(path: Option<&Path>) -> Result<Option<Vec<u8>>, Error> {
    let of_environment = std::env::var_os(BOOTSTRAP_FILE)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    match path.map(Path::to_owned).or(of_environment) {
        Some(path) => file(&path).map(Some),
        None => Ok(std::env::var(BOOTSTRAP_TEXT)
            .ok()
            .filter(|text| !text.is_empty())
            .map(String::into_bytes)),
    }
}

fn tls(args: &ConnectArgs) -> Result<Tls, Error> {
    let identity = match (&args.cert, &args.key) {
        (Some(cert), Some(key)) => Some((pem(cert, "CERTIFICATE")?, pem(key, "PRIVATE KEY")?)),
        _ => None,
    };
    Ok(Tls {
        ca: args.ca.as_deref().map(|path| pem(path, "CERTIFICATE")).transpose()?,
        identity,
        server_name: args.server_name.clone(),
    })
}

/// Returns the certificate that `serve` shows to clients, and the authority for theirs.
pub(crate) fn server_tls(args: &ServeArgs) -> Result<Option<ServerTls>, Error> {
    let (Some(chain), Some(key)) = (&args.tls_cert, &args.tls_key) else {
        return Ok(None);
    };
    Ok(Some(ServerTls {
        chain: pem(chain, "CERTIFICATE")?,
        key: pem(key, "PRIVATE KEY")?,
        client_ca: args
            .client_ca
            .as_deref()
            .map(|path| pem(path, "CERTIFICATE"))
            .transpose()?,
    }))
}

/// Reads a PEM file, which must have such a part.
fn pem(path: &Path, part: &str) -> Result<Vec<u8>, Error> {
    let text = file(path)?;
    if memchr::memmem::find(&text, format!("{part}-----").as_bytes()).is_none() {
        return Err(Error::Usage(format!("`{}` has no PEM part `{part}`", path.display())));
    }
    Ok(text)
}

/// Reads a token, without the line end that editors add.
fn token(path: &Path) -> Result<String, Error> {
    let text = String::from_utf8(file(path)?).unwrap_or_default();
    let token = text.trim();
    let is_plain = |c: char| c.is_ascii_graphic();
    if token.is_empty() || !token.chars().all(is_plain) {
        return Err(Error::Usage(format!(
            "`{}` holds no token: it must be one word of ASCII",
            path.display()
        )));
    }
    Ok(token.to_owned())
}

fn file(path: &Path) -> Result<Vec<u8>, Error> {
    let file = std::fs::File::open(path).map_err(|error| cannot_read(path, error))?;
    xdsctl_document::source::read_stream(&mut std::io::BufReader::new(file), MAX_FILE_BYTES)
        .map_err(|error| cannot_read(path, error))
}

/// Returns the milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
