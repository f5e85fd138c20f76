//! `xdsctl serve`: a dump for a real client.

use crate::args::ServeArgs;
use crate::{Error, Io};

#[cfg(not(feature = "net"))]
pub(super) fn run(_: &ServeArgs, _: &mut Io<'_>) -> Result<u8, Error> {
    Err(crate::io::live::missing("xdsctl serve"))
}

#[cfg(feature = "net")]
pub(crate) use live::run;

#[cfg(feature = "net")]
mod live {
    use std::cell::RefCell;
    use std::net::SocketAddr;
    use std::path::{Path, PathBuf};
    use std::time::SystemTime;

    use super::{Error, Io, ServeArgs};
    use crate::io::files;
    use crate::io::input::{self, Inputs};
    use crate::io::live::connect::{live, server_tls};
    use crate::io::overwrite::{self, OutputKind};
    use crate::io::reach::AllowedDirectories;
    use xdsctl_channel::client::{Checked, Keep, Verdict, faults};
    use xdsctl_clients::bootstrap::Bootstrap;
    use xdsctl_document::envelope::{self, Label, Stage};
    use xdsctl_net::{LedgerLine, Serving, SnapshotResource, Tone};

    /// Exit code with `--compare` if a verdict differs, or nothing was compared.
    const EXIT_DIFFERS: u8 = 1;

    pub(crate) fn run(args: &ServeArgs, io: &mut Io<'_>) -> Result<u8, Error> {
        let tls = server_tls(args)?;
        if let Some(file) = &args.write_bootstrap {
            overwrite::refuse(file, OutputKind::Bootstrap)?;
        }
        let inputs = input::open(&args.input, io)?;
        let resources = read(inputs, args, io)?;
        if resources.is_empty() {
            return Err(Error::Nothing("no resource that a gRPC client asks for".to_owned()));
        }
        let predicted = resources.iter().filter(|resource| resource.predicted.is_some()).count();
        let count = resources.len();
        let paths = io.paths.clone();
        let out = RefCell::new(&mut io.out);
        let write = |text: &str| {
            let mut out = out.borrow_mut();
            // That nobody reads any more is no reason to leave a client alone.
            let _ = say!(*out, "{text}").and_then(|()| out.flush());
        };
        let mut bootstrap_error = None;
        let mut seen = FileStamps::of(args);
        let compared = xdsctl_net::serve(Serving {
            listen: args.listen,
            tls,
            resources,
            until_alone: args.compare,
            listening: &mut |address| {
                write(&format!(
                    "serving {} on {address}; {predicted} of them will be rejected",
                    crate::report::plural(count, "resource")
                ));
                if let Some(path) = &args.write_bootstrap {
                    bootstrap_error = std::fs::write(path, bootstrap(address, args.tls_cert.as_deref())).err();
                }
            },
            reload: &mut || {
                let now = FileStamps::of(args);
                if now == seen {
                    return None;
                }
                seen = now;
                // What is half written is read again when it is whole.
                let mut quiet = Io::silent(paths.clone());
                let inputs = input::open(&args.input, &mut quiet).ok()?;
                let resources = read(inputs, args, &mut quiet).ok()?;
                (!resources.is_empty() && !quiet.incomplete.is_set()).then_some(resources)
            },
            told: &mut |line: &LedgerLine| {
                if !args.quiet || line.tone != Tone::Plain {
                    write(&line.text);
                }
            },
        });
        let compared = compared.map_err(live)?;
        if let (Some(source), Some(path)) = (bootstrap_error, &args.write_bootstrap) {
            return Err(Error::Io {
                what: "write",
                name: path.display().to_string(),
                source,
            });
        }
        write(&format!(
            "{} judged, {} rejected; {} as predicted, {} differ; {} were not asked for",
            crate::report::plural(compared.judged, "resource"),
            compared.rejected,
            compared.judged - compared.different,
            compared.different,
            compared.unasked
        ));
        let is_bad = compared.different > 0 || compared.judged == 0;
        Ok(if args.compare && is_bad { EXIT_DIFFERS } else { 0 })
    }

    /// The resources of the inputs, and what is predicted of each.
    fn read(mut inputs: Inputs, args: &ServeArgs, io: &mut Io<'_>) -> Result<Vec<SnapshotResource>, Error> {
        if inputs.bootstrap.is_none() && args.write_bootstrap.is_some() {
            // The client has the bootstrap that is written here, without certificate providers and authorities.
            inputs.server = Bootstrap::default().server_facts();
        }
        let world_set = inputs.read_worlds(Keep::Findings, io)?;
        let resources = world_set.resources.iter().filter(|checked| is_served(checked));
        let resources = resources.filter_map(|checked| {
            let resource_type = checked.resource_type?;
            let source = inputs.sources.get(checked.origin.source)?;
            let (value, _) = envelope::again(source, checked.origin, resource_type)?;
            Some(SnapshotResource {
                type_url: resource_type.type_url(),
                name: checked.name.clone(),
                value,
                predicted: (checked.verdict == Verdict::Rejected).then(|| {
                    let words: Vec<String> = faults(&checked.diagnostics).iter().map(ToString::to_string).collect();
                    words.join("; ")
                }),
            })
        });
        Ok(resources.collect())
    }

    /// Says whether a control plane would send it: not what a proxy has of its own, or has lost.
    fn is_served(checked: &Checked) -> bool {
        let is_sent = matches!(checked.stage, Stage::Active | Stage::Warming | Stage::Failed);
        is_sent
            && checked.label != Label::Static
            && !checked.is_removed
            && checked.verdict != Verdict::NotChecked
            && !checked.name.is_empty()
    }

    /// Sizes and times of the files that are served.
    #[derive(PartialEq)]
    struct FileStamps(Vec<(PathBuf, u64, Option<SystemTime>)>);

    impl FileStamps {
        fn of(args: &ServeArgs) -> FileStamps {
            let named = args.input.files.iter().filter(|path| path.as_os_str() != "-");
            let found = named
                .filter(|path| path.exists())
                .flat_map(|path| files::find(path, &AllowedDirectories::unbounded()).files);
            let facts = found.map(|path| {
                let metadata = path.metadata().ok();
                let size = metadata.as_ref().map_or(0, std::fs::Metadata::len);
                let time = metadata.and_then(|metadata| metadata.modified().ok());
                (path, size, time)
            });
            FileStamps(facts.collect())
        }
    }

    /// What a gRPC client starts with to ask this server; of its certificates the last is the one to trust.
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
            // grpc-js-xds takes no node without a locality.
            "node": {"id": "xdsctl-serve", "locality": {}}
        });
        format!("{bootstrap:#}\n")
    }
}
