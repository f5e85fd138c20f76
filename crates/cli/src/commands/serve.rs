//! `xdsctl serve`: serves a dump to a real client.

use std::cell::RefCell;
use std::io::Cursor;
use std::net::SocketAddr;
use std::path::Path;

use crate::args::{ChannelArgs, Layout, ServeArgs, TreeArgs, TreeFormat};
use crate::config::ProjectConfig;
use crate::fleet;
use crate::io::ColourChoice;
use crate::io::input::{self, Inputs};
use crate::io::live::connect::{live, server_tls};
use crate::io::overwrite::{self, OutputKind};
use crate::io::stamps::FileStamps;
use crate::{Error, Io};
use xdsctl_channel::client::{Checked, Keep, Verdict, faults};
use xdsctl_clients::bootstrap::Bootstrap;
use xdsctl_clients::judge::FamilyVerdict;
use xdsctl_document::envelope::{self, Label, Stage};
use xdsctl_document::source::{MAX_STREAM_BYTES, read_stream};
use xdsctl_model::diag::Diagnostic;
use xdsctl_model::profile::{Client, Fleet, UserAgent};
use xdsctl_net::{LedgerLine, Prediction, Serving, SnapshotResource};

/// The exit code with `--compare` if a verdict differs, or if nothing was compared.
const EXIT_DIFFERS: u8 = 1;

pub(super) fn run(args: &ServeArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let tls = server_tls(args)?;
    if let Some(file) = &args.write_bootstrap {
        overwrite::refuse(file, OutputKind::Bootstrap)?;
    }
    let stdin = stdin(args, io)?;
    let inputs = input::open(&args.input, io)?;
    let (resources, of_reference) = read(inputs, args, io)?;
    if resources.is_empty() {
        return Err(Error::Nothing("no resource that a gRPC client asks for".to_owned()));
    }
    let (count, predicted) = (resources.len(), of_reference.rejected.len());
    let paths = io.paths.clone();
    let out = RefCell::new(&mut io.out);
    let write = |text: &str| {
        let mut out = out.borrow_mut();
        // If nobody reads standard output any more, the clients are still served.
        let _ = say!(*out, "{text}").and_then(|()| out.flush());
    };
    let mut bootstrap_error = None;
    let mut seen = FileStamps::of(&args.input.files);
    let compared = xdsctl_net::serve(Serving {
        listen: args.listen,
        tls,
        resources,
        until_alone: args.compare,
        listening: &mut |address| {
            write(&format!(
                "serving {} on {address}; {predicted} of them will be rejected by {}",
                xdsctl_report::plural(count, "resource"),
                of_reference.client
            ));
            if let Some(path) = &args.write_bootstrap {
                bootstrap_error = std::fs::write(path, bootstrap(address, args.tls_cert.as_deref())).err();
            }
        },
        reload: &mut || {
            let now = FileStamps::of(&args.input.files);
            if now == seen {
                return None;
            }
            seen = now;
            // A file that is only half written is read again when it is complete.
            let mut quiet = Io::silent(paths.clone());
            let inputs = input::open(&args.input, &mut quiet).ok()?;
            let (resources, _) = read(inputs, args, &mut quiet).ok()?;
            (!resources.is_empty() && !quiet.is_incomplete).then_some(resources)
        },
        predict: &mut |agent| {
            let (client, why) = client_of(agent);
            why.iter().for_each(|why| write(why));
            // If the files are gone by now, use the prediction from the start.
            predicted_for(client, args, &stdin).unwrap_or_else(|_| of_reference.clone())
        },
        channel: &mut |agent, listener| {
            let shows = !args.quiet && is_known(agent);
            shows
                .then(|| channel_of(client_of(agent).0, listener, args, &stdin))
                .flatten()
        },
        told: &mut |line: &LedgerLine| {
            if !args.quiet || line.is_loud {
                line.text.lines().for_each(&write);
            }
        },
    });
    let compared = compared.map_err(live)?;
    if let (Some(source), Some(path)) = (bootstrap_error, &args.write_bootstrap) {
        return Err(Error::io("write", path.display())(source));
    }
    write(&format!(
        "{} judged, {} rejected; {} as predicted, {} differ; {} were not asked for",
        xdsctl_report::plural(compared.judged, "resource"),
        compared.rejected,
        compared.judged - compared.different,
        compared.different,
        compared.unasked
    ));
    let is_bad = compared.different > 0 || compared.judged == 0;
    Ok(if args.compare && is_bad { EXIT_DIFFERS } else { 0 })
}

/// Returns the resources of the inputs, and the predicted verdict on each for the client for
/// which the inputs were opened.
fn read(mut inputs: Inputs, args: &ServeArgs, io: &mut Io<'_>) -> Result<(Vec<SnapshotResource>, Prediction), Error> {
    if inputs.bootstrap.is_none() && args.write_bootstrap.is_some() {
        // The client will use the bootstrap that is written here, which has no certificate
        // providers and authorities.
        inputs.server = Bootstrap::default().server_facts();
    }
    let asks_base = inputs.fleet.asks_base();
    let client = inputs
        .fleet
        .clients()
        .first()
        .map_or_else(String::new, ToString::to_string);
    let world_set = inputs.read_worlds(Keep::Findings, io)?;
    let mut prediction = Prediction {
        client,
        ..Prediction::default()
    };
    let mut resources = Vec::new();
    for checked in world_set.resources.iter().filter(|checked| is_served(checked)) {
        let Some(resource_type) = checked.resource_type else {
            continue;
        };
        let again = inputs.sources.get(checked.origin.source);
        let again = again.and_then(|source| envelope::again(source, checked.origin, resource_type));
        let Some((value, _)) = again else { continue };
        let type_url = resource_type.type_url();
        if let Some(why) = rejection(checked, asks_base) {
            prediction
                .rejected
                .insert((type_url.clone(), checked.name.clone()), why);
        }
        resources.push(SnapshotResource {
            type_url,
            name: checked.name.clone(),
            value,
        });
    }
    Ok((resources, prediction))
}

/// Returns why the client rejects a resource. The client is the base of the fleet, or the only
/// other one.
fn rejection(checked: &Checked, asks_base: bool) -> Option<String> {
    let words = |diagnostics: &[Diagnostic]| {
        let words: Vec<String> = faults(diagnostics).iter().map(ToString::to_string).collect();
        words.join("; ")
    };
    match (asks_base, checked.answers.first()) {
        (true, _) => (checked.verdict == Verdict::Rejected).then(|| words(&checked.diagnostics)),
        (false, Some(answer)) => {
            let rejects = matches!(answer.verdict, FamilyVerdict::Rejected | FamilyVerdict::Dies);
            rejects.then(|| words(&answer.diagnostics))
        }
        (false, None) => None,
    }
}

/// Reads standard input once, so that it can be read again for each client.
fn stdin(args: &ServeArgs, io: &mut Io<'_>) -> Result<Vec<u8>, Error> {
    if args.input.files.iter().all(|file| file.as_os_str() != "-") {
        return Ok(Vec::new());
    }
    let read = read_stream(&mut io.input, MAX_STREAM_BYTES);
    let bytes = read.map_err(|source| input::cannot_read(Path::new("-"), source))?;
    io.input = Box::new(Cursor::new(bytes.clone()));
    Ok(bytes)
}

/// Returns the client whose rules are used for a node: the reference client if the node does not
/// name one. Also returns why it is another client than the connected one, as one line.
fn client_of(agent: &UserAgent) -> (Client, Option<String>) {
    match fleet::sender(agent) {
        Some((client, why)) => {
            let why = why.map(|why| format!("a client connects {why}: predicted as {client}"));
            (client, why)
        }
        None => {
            let client = Client::REFERENCE;
            let why = format!("a client connects as {agent}, no gRPC client that is known: predicted as {client}");
            (client, Some(why))
        }
    }
}

fn is_known(agent: &UserAgent) -> bool {
    fleet::sender(agent).is_some()
}

/// Returns the predicted verdicts of a client on what the inputs hold now.
fn predicted_for(client: Client, args: &ServeArgs, stdin: &[u8]) -> Result<Prediction, Error> {
    let mut quiet = Io::piped(stdin, std::io::sink(), std::io::sink());
    let config = ProjectConfig::of(&args.input.config, &quiet)?;
    let inputs = input::open_for(&args.input, &config, Fleet::new(&[client]), &mut quiet)?;
    Ok(read(inputs, args, &mut quiet)?.1)
}

/// Returns the LB policies of a client's channel to a Listener, below a title. Returns `None`
/// if they are not known, or if no channel can start there.
fn channel_of(client: Client, listener: &str, args: &ServeArgs, stdin: &[u8]) -> Option<String> {
    let mut text = Vec::new();
    let mut quiet = Io::piped(stdin, &mut text, std::io::sink());
    let tree = TreeArgs {
        channel: ChannelArgs {
            input: args.input.clone(),
            client: Some(client.to_string()),
            target: Some(format!("xds:///{listener}")),
            ..ChannelArgs::default()
        },
        format: TreeFormat::Human,
        layout: Layout::default(),
        all: false,
        color: ColourChoice::Never,
    };
    let code = super::tree::run(&tree, &mut quiet).ok();
    drop(quiet);
    code?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines: Vec<String> = text.lines().map(|line| format!("     {line}")).collect();
    Some(format!("channel to `{listener}` in {client}\n{}", lines.join("\n")))
}

/// Says whether a control plane would send the resource, which excludes what a proxy has of its
/// own and what was removed.
fn is_served(checked: &Checked) -> bool {
    let is_sent = matches!(checked.stage, Stage::Active | Stage::Warming | Stage::Failed);
    is_sent
        && checked.label != Label::Static
        && !checked.is_removed
        && checked.verdict != Verdict::NotChecked
        && !checked.name.is_empty()
}

/// Returns the bootstrap with which a gRPC client asks this server. The last certificate in
/// `certificates` is the one to trust.
fn bootstrap(address: SocketAddr, certificates: Option<&Path>) -> String {
    let creds = match certificates {
        None => serde_json::json!({"type": "insecure"}),
        Some(path) => {
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            serde_json::json!({"type": "tls", "config": {"ca_certificate_file": path.to_string_lossy()}})
        }
    };
    let bootstrap = serde_json::json!({
        "xds_servers": [{
            "server_uri": address.to_string(),
            "channel_creds": [creds],
            "server_features": ["xds_v3"]
        }],
        // grpc-js-xds does not accept a node without a locality.
        "node": {"id": "xdsctl-serve", "locality": {}}
    });
    format!("{bootstrap:#}\n")
}
