//! `xdsctl mask`: prints a document as a report may quote it, for the links of the pages in `ui`.

use std::io::Write as _;

use crate::args::MaskArgs;
use crate::io::input::{self, InputPlan};
use crate::session::suite;
use crate::{Error, Io};
use xdsctl_channel::client::Keep;
use xdsctl_model::profile::Fleet;
use xdsctl_report::masks::{Masks, resources};

pub(super) fn run(args: &MaskArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let plan = InputPlan {
        files: vec![args.file.clone()],
        ..InputPlan::default()
    };
    let mut inputs = input::open_plan(plan, Fleet::default(), io)?;
    inputs.is_quiet = true;
    let documents = inputs.documents.clone();
    let world_set = inputs.read_worlds_to_report(Keep::Findings, io);
    let mut by_document = resources(&world_set.resources);
    for id in documents {
        let Some(source) = inputs.sources.get(id) else {
            continue;
        };
        let masks = if suite::is_one(source) {
            Masks::suite(source, false)
        } else if world_set.bootstraps.iter().any(|place| place.source == id) {
            Masks::bootstrap(source, false)
        } else {
            Masks::of(source, by_document.remove(&id).unwrap_or_default(), false)
        };
        let mut text = source.bytes().to_vec();
        masks.mask(source, &mut text, 0, None);
        io.out.write_all(&text)?;
    }
    Ok(0)
}
