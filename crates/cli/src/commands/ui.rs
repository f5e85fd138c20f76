//! `xdsctl ui`: opens the user's documents in the workbench in a browser.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::args::UiArgs;
use crate::io::input::{self, InputPlan, Inputs};
use crate::io::live::connect::{ConnectRequest, live};
use crate::io::live::is_address;
use crate::io::stamps::FileStamps;
use crate::{Error, Io};
use xdsctl_model::profile::Fleet;
use xdsctl_net::{PageFile, Shelf, Showing};

// The pages, if `XDSCTL_PAGES` named them at build time.
include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// How often files are checked for changes.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

pub(super) fn run(args: &UiArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    if PAGES.is_empty() {
        return Err(Error::Usage(
            "this xdsctl was built without the pages of `ui`: `web/build.sh` makes them, and \
             `XDSCTL_PAGES=$PWD/web/dist cargo install --path crates/cli --features net` takes them in"
                .to_owned(),
        ));
    }
    let shelf = Arc::new(Shelf::default());
    if !args.files.is_empty() {
        put(&input::open_plan(plan(args), Fleet::default(), io)?, &shelf);
    }
    if args.watch {
        watch(args, &shelf, io);
    }
    let plan = plan(args);
    xdsctl_net::show(Showing {
        port: args.port,
        pages: PAGES,
        shelf,
        fetch: Arc::new(move |text| match is_address(text) {
            true => Ok(crate::io::live::read(text, &plan).map_err(|error| error.to_string())?.0),
            false => Err(crate::io::live::unknown(text).to_string()),
        }),
        listening: &mut |address| {
            // If standard output is closed, nobody can read the address.
            let _ = say!(io.out, "{address}").and_then(|()| io.out.flush());
        },
    })
    .map_err(live)?;
    Ok(0)
}

fn plan(args: &UiArgs) -> InputPlan {
    InputPlan {
        files: args.files.clone(),
        connect: args.connect.clone(),
        ..InputPlan::default()
    }
}

/// Puts the documents where the page finds them.
fn put(inputs: &Inputs, shelf: &Shelf) {
    for source in inputs.documents.iter().filter_map(|&id| inputs.sources.get(id)) {
        shelf.put(source.name(), source.bytes().to_vec());
    }
}

/// Watches what was opened, until the process ends.
fn watch(args: &UiArgs, shelf: &Arc<Shelf>, io: &Io<'_>) {
    let is_live = |path: &&PathBuf| path.to_str().is_some_and(is_address);
    for path in args.files.iter().filter(is_live) {
        let (name, plan, shelf) = (path.display().to_string(), plan(args), Arc::clone(shelf));
        thread::spawn(move || {
            if let Ok(asked) = ConnectRequest::of_input(&name, &plan) {
                // If the system can no longer be reached, its last dump stays.
                let _ = xdsctl_net::watch(
                    &asked.address,
                    &asked.options,
                    &mut |bytes| {
                        shelf.put(&name, bytes);
                        ControlFlow::Continue(())
                    },
                    &mut |_| (),
                );
            }
        });
    }
    let is_file = |path: &&PathBuf| path.as_os_str() != "-" && !is_live(path);
    let files: Vec<PathBuf> = args.files.iter().filter(is_file).cloned().collect();
    if files.is_empty() {
        return;
    }
    let plan = InputPlan { files, ..plan(args) };
    let (shelf, paths) = (Arc::clone(shelf), io.paths.clone());
    let mut seen = FileStamps::of(&plan.files);
    thread::spawn(move || {
        loop {
            thread::sleep(WATCH_INTERVAL);
            let now = FileStamps::of(&plan.files);
            if now == seen {
                continue;
            }
            // A file that is only half written is read again when it is complete.
            if let Ok(inputs) = input::open_plan(plan.clone(), Fleet::default(), &mut Io::silent(paths.clone())) {
                put(&inputs, &shelf);
                seen.gone(&now)
                    .for_each(|path| shelf.remove(&path.display().to_string()));
                seen = now;
            }
        }
    });
}
