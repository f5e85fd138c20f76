//! `xdsctl admit`: which connection a server takes, and which RPC it lets in.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use super::several::{self, ClientsQuestion};
use crate::args::{AdmitArgs, AdmitFormat};
use crate::config::ProjectConfig;
use crate::io::input;
use crate::session::{self, server, words};
use crate::{Error, Io};
use xdsctl_channel::client::Client;
use xdsctl_channel::client::server::ListeningServer;
use xdsctl_channel::rpc::Draws;
use xdsctl_channel::session::SessionInputs;
use xdsctl_document::source::read_stream;
use xdsctl_model::profile::{self, Fleet};
use xdsctl_report::admit::{self as report, AdmitAnswer, AdmittedAnswer};
use xdsctl_report::channel::layers;
use xdsctl_report::told::Told;
use xdsctl_server::admit::{Question, admit};
use xdsctl_server::certificate;
use xdsctl_server::dialect::ServerDialect;
use xdsctl_server::handshake::{Program, Provider};
use xdsctl_server::serving::serving;
use xdsctl_server::who::Table;
use xdsctl_server::{Connection, PeerCertificate, Rpc, Transport};

/// The most bytes of a file with certificates that are read.
const MAX_PEM_BYTES: u64 = 16 << 20;

pub(super) fn run(args: &AdmitArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    if args.who && args.client.as_ref().is_some_and(|clients| clients.contains(',')) {
        return Err(Error::Usage(
            "--who is of one server: choose it with --client".to_owned(),
        ));
    }
    let asked = ClientsQuestion {
        clients: args.client.as_deref(),
        question: layers::Question::Admit,
        is_json: args.format == AdmitFormat::Json,
        is_picture: args.format == AdmitFormat::Svg,
        reads_stdin: args.input.reads_stdin(),
    };
    several::run(asked, io, &mut |one, told, io| {
        let mut args = args.clone();
        one.put_into(&mut args.client);
        answer(&args, told, io)
    })
}

fn answer(args: &AdmitArgs, told: &mut Told, io: &mut Io<'_>) -> Result<u8, Error> {
    session::refuse_method("admit", &args.input.files)?;
    let transport = transport(args)?;
    let config = ProjectConfig::of(&args.input.config, io)?;
    let fleet = match &args.client {
        None => Fleet::default(),
        Some(name) => {
            let client = profile::Client::parse_one(name);
            server::fleet(client.map_err(|error| Error::Usage(format!("--client: {error}")))?)?
        }
    };
    let inputs = input::open_for(&args.input, &config, fleet, io)?;
    inputs.refuse_broken_bootstrap()?;
    let held = inputs.hold(io)?;
    let providers = args
        .input
        .bootstrap
        .as_ref()
        .map(|_| server::providers(&held.bootstrap));
    let (server, client) = chosen(args, held, io)?;
    let dialect = ServerDialect::of(&client.profile).ok_or_else(|| server::not_known(&client.profile))?;
    if args.who {
        return who(args, &server, (&client, &dialect), providers.as_ref(), told, io);
    }
    let connection = connection(args, transport, &server, io)?;
    let rpc = rpc(args, &server, connection.transport != Transport::Plaintext)?;
    let at = time(args)?;
    let serves = serving(&server, &client, &dialect);
    let mut draws = Draws::new(args.seed);
    let question = Question {
        connection: &connection,
        rpc: rpc.as_ref(),
        program: Program {
            has_no_credentials: args.no_xds_credentials,
            at,
            providers: providers.as_ref(),
        },
    };
    let draw = &mut |purpose, bound| draws.draw(purpose, bound);
    let answer = admit(&serves, question, &dialect, &client, draw);
    let whole = AdmitAnswer {
        server: &server,
        rejected: serves.as_ref().ok().and_then(|serving| serving.rejected.as_deref()),
        connection: &connection,
        rpc: rpc.as_ref(),
        dialect: &dialect,
        answer: &answer,
        shows_secrets: args.input.show_secrets,
    };
    let colours = io.colours(args.color);
    match args.format {
        AdmitFormat::Svg => report::svg::write(&whole, &mut io.out)?,
        AdmitFormat::Human | AdmitFormat::Json => {
            let write_text = |out: &mut dyn Write| report::write(&whole, colours, out);
            told.tell(&mut io.out, || report::json::document(&whole, args.seed), write_text)?;
        }
    }
    Ok(session::exit(!answer.end.is_let_in()))
}

/// Answers `--who`: whom the server lets in.
fn who(
    args: &AdmitArgs,
    server: &ListeningServer,
    (client, dialect): (&Client, &ServerDialect),
    providers: Option<&BTreeMap<String, Provider>>,
    told: &mut Told,
    io: &mut Io<'_>,
) -> Result<u8, Error> {
    if args.format == AdmitFormat::Svg {
        return Err(Error::Usage("--who has no picture".to_owned()));
    }
    let serves = serving(server, client, dialect);
    let port = server.address.parse().map_or(0, |own: SocketAddr| own.port());
    let made = serves.as_ref().ok().map(|serving| {
        let program = Program {
            has_no_credentials: args.no_xds_credentials,
            providers,
            ..Program::default()
        };
        let table = Table::of(
            &serving.listener,
            port,
            args.method.as_deref(),
            client,
            &program,
            dialect,
        );
        table.map_err(|error| Error::Usage(format!("{error}: name one method with --method")))
    });
    let table = made.transpose()?;
    let answer = AdmittedAnswer {
        server,
        serves: serves.as_ref().map(|serving| serving.rejected.as_deref()),
        table: table.as_ref(),
        shows_secrets: args.input.show_secrets,
    };
    let (width, colours) = (io.width, io.colours(args.color));
    let write_text = |out: &mut dyn Write| report::table::write(&answer, width, colours, out);
    told.tell(&mut io.out, || report::table_json::document(&answer), write_text)?;
    Ok(session::exit(serves.is_err()))
}

/// Returns the server, and the client that holds its resources. Its world is the named one, or the
/// only one, or the only one with the server's Listener.
fn chosen(args: &AdmitArgs, mut held: SessionInputs, io: &mut Io<'_>) -> Result<(ListeningServer, Client), Error> {
    let names = || held.worlds.iter().map(|(name, _)| name.as_str());
    if let Some(wanted) = &args.in_world {
        if !names().any(|name| name == wanted) {
            return Err(Error::Usage(format!(
                "--in: {}",
                words::no_such("world", wanted, names())
            )));
        }
        held.worlds.retain(|(name, _)| name == wanted);
    }
    let found: Vec<Option<ListeningServer>> = held
        .worlds
        .iter()
        .map(|(_, resources)| {
            server::listening(args.listen.as_deref(), args.input.bootstrap.is_some(), resources, &held)
        })
        .collect::<Result<_, _>>()?;
    let has_own = |(number, server): (usize, &Option<ListeningServer>)| {
        let server = server.as_ref()?;
        let (_, resources) = held.worlds.get(number)?;
        resources.listeners.contains_key(&server.listener).then_some(number)
    };
    let fitting: Vec<usize> = found.iter().enumerate().filter_map(has_own).collect();
    let number = match (fitting.as_slice(), found.len()) {
        ([only], _) => *only,
        ([], 1) => 0,
        ([], _) => return Err(Error::Usage("no world has the Listener of the server".to_owned())),
        (several, _) => {
            let names = several.iter().filter_map(|number| held.worlds.get(*number));
            let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
            let names = names.join(", ");
            return Err(Error::Usage(format!(
                "several worlds have the Listener, name one with --in: {names}"
            )));
        }
    };
    let server = found.into_iter().nth(number).flatten();
    let (_, resources) = held.worlds.swap_remove(number);
    let server = server.ok_or_else(|| server::none(&resources))?;
    if args.listen.is_none() {
        say!(io.err, "note: no --listen, the server is at {}", server.address)?;
    }
    let client = Client::holding(resources, &held.bootstrap.node_id, &held.profile, &held.server);
    Ok((server, client))
}

fn connection(
    args: &AdmitArgs,
    transport: Transport,
    server: &ListeningServer,
    io: &mut Io<'_>,
) -> Result<Connection, Error> {
    let own: Option<SocketAddr> = server.address.parse().ok();
    let given = own.map(|own| own.ip()).filter(|ip| !ip.is_unspecified());
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let to = args.to.or(given).unwrap_or(local);
    let from = match &args.from {
        None => {
            say!(io.err, "note: no --from, the connection is from {local}")?;
            SocketAddr::new(local, 0)
        }
        Some(text) => match (text.parse::<SocketAddr>(), bare(text).parse::<IpAddr>()) {
            (Ok(address), _) => address,
            (_, Ok(ip)) => SocketAddr::new(ip, 0),
            _ => {
                let why = format!("--from `{text}` must be an address like 10.0.0.1 or 10.0.0.1:4000");
                return Err(Error::Usage(why));
            }
        },
    };
    Ok(Connection {
        from,
        to: SocketAddr::new(to, own.map_or(0, |own| own.port())),
        transport,
    })
}

/// Returns an address without its brackets: `[fd00::9]`.
fn bare(text: &str) -> &str {
    let inner = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
    inner.filter(|inner| inner.contains(':')).unwrap_or(text)
}

fn rpc(args: &AdmitArgs, server: &ListeningServer, is_https: bool) -> Result<Option<Rpc>, Error> {
    let Some(method) = &args.method else { return Ok(None) };
    Ok(Some(Rpc {
        method: method.clone(),
        authority: args.authority.clone().unwrap_or_else(|| server.address.clone()),
        headers: session::pairs(&args.headers)?,
        is_unimplemented: args.unimplemented,
        is_https,
    }))
}

fn time(args: &AdmitArgs) -> Result<Option<i64>, Error> {
    let Some(text) = &args.at else { return Ok(None) };
    let time = certificate::read_time(text);
    time.map(Some)
        .ok_or_else(|| Error::Usage(format!("--at `{text}` must be a time like 2026-11-24T18:00:00Z")))
}

/// Returns whether the client speaks TLS, and the certificate that it shows.
fn transport(args: &AdmitArgs) -> Result<Transport, Error> {
    let mut own = match &args.certificate {
        Some(path) => pem("--certificate", path)?.into_iter().next(),
        None if args.san.is_empty() && args.subject.is_none() => None,
        None => Some(made(args)?),
    };
    if let (Some(own), Some(path)) = (&mut own, &args.roots) {
        let roots = pem("--roots", path)?;
        own.is_untrusted = !roots.iter().any(|root| root.subject == own.issuer);
    }
    Ok(match own {
        None if !args.over_tls => Transport::Plaintext,
        own => Transport::Tls(own),
    })
}

/// Returns a certificate with the names in the arguments.
fn made(args: &AdmitArgs) -> Result<PeerCertificate, Error> {
    let mut own = PeerCertificate {
        subject: args.subject.clone().unwrap_or_default(),
        ..PeerCertificate::default()
    };
    for san in &args.san {
        if !own.add_name(san) {
            let why = format!("--san `{san}` must be dns:NAME, uri:URI, email:ADDRESS or ip:ADDRESS");
            return Err(Error::Usage(why));
        }
    }
    Ok(own)
}

fn pem(argument: &str, path: &Path) -> Result<Vec<PeerCertificate>, Error> {
    let read = File::open(path).and_then(|mut file| read_stream(&mut file, MAX_PEM_BYTES));
    let bytes = read.map_err(|source| input::cannot_read(path, source))?;
    let text = String::from_utf8_lossy(&bytes);
    certificate::read_pem(&text).map_err(|error| Error::Usage(format!("{argument} `{}`: {error}", path.display())))
}
