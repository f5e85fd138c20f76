//! What the clients of the inputs hold: the resources of each world with their values, for `tree`, `route` and `pick`.
//!
//! The same rules as in [`check`](xdsctl::check): what is in use wins over what is warming or draining, the last one of a name wins, a
//! rejected update leaves the version before it, and what a later response takes away is not there.

use std::collections::BTreeMap;

use super::Io;
use super::input::Inputs;
use xdsctl::check::removed::{Seen, What, removed};
use xdsctl::convert::resource_name::Names;
use xdsctl::diag::{Diagnostic, Packed};
use xdsctl::envelope::{Label, Origin, Response, Stage, WorldId};
use xdsctl::model::{Resource, ResourceType};
use xdsctl::snapshot::resources::{Resources, rejection};
use xdsctl::validate::{Validated, validate};

/// One resource after validation, with its value.
struct Taken {
    world: WorldId,
    rank: (bool, bool),
    is_failed_update: bool,
    origin: Origin,
    what: What,
    error: Option<String>,
    resource_type: ResourceType,
    name: String,
    value: Option<Resource>,
    diagnostics: Vec<Diagnostic>,
}

/// The resources of each world, in the order of the documents.
pub fn worlds(inputs: &Inputs, merge: bool, io: &mut Io<'_>) -> Vec<Resources> {
    let loaded = inputs.load(io, |raw| {
        let resource_type = raw.resource_type?;
        let validated = match &raw.bytes {
            Some(bytes) => validate(resource_type, bytes, &inputs.profile, &inputs.server),
            None => Validated {
                name: String::new(),
                value: None,
                diagnostics: Vec::new(),
                packed: Packed::default(),
            },
        };
        let what = What::of(raw.status.as_deref(), validated.value.is_some());
        if raw.bytes.is_none() && matches!(what, What::Sent { .. }) {
            return None;
        }
        let in_use = raw.stage == Stage::Active;
        let name = raw.wrapper_name.filter(|name| !name.is_empty());
        Some(Taken {
            world: raw.world,
            rank: (in_use, in_use && raw.label != Label::Static),
            is_failed_update: raw.stage == Stage::Failed,
            origin: raw.origin,
            what,
            error: raw.status.and_then(|status| status.error),
            resource_type,
            name: name.unwrap_or(validated.name),
            value: validated.value,
            diagnostics: validated.diagnostics,
        })
    });
    let mut taken: Vec<Taken> = loaded.results.into_iter().flatten().collect();
    let removed = remove(&loaded.loader.responses, &mut taken, inputs);
    // What is in use comes last and so wins, as in `check`; the order of the documents stays among equals.
    taken.sort_by_key(|taken| taken.rank);
    let mut worlds: BTreeMap<WorldId, Resources> = BTreeMap::new();
    let (failed, held): (Vec<Taken>, Vec<Taken>) = taken.into_iter().partition(|taken| taken.is_failed_update);
    let names = Names::of(&inputs.profile);
    for taken in held {
        let world = if merge { WorldId(0) } else { taken.world };
        let resources = worlds.entry(world).or_insert_with(|| Resources::new(names));
        resources.take(taken.resource_type, &taken.name, taken.value, &taken.diagnostics);
    }
    for taken in failed {
        let world = if merge { WorldId(0) } else { taken.world };
        let why = match taken.error {
            Some(error) => format!("invalid resource: {error}"),
            None => rejection(taken.resource_type, &taken.diagnostics),
        };
        worlds
            .entry(world)
            .or_insert_with(|| Resources::new(names))
            .reject(taken.resource_type, &taken.name, why);
    }
    for (world, resource_type, name) in removed {
        let world = if merge { WorldId(0) } else { world };
        if let Some(resources) = worlds.get_mut(&world) {
            resources.note_removed(resource_type, &name);
        }
    }
    worlds.into_values().collect()
}

/// Takes out what later responses take away, and returns the names of it.
fn remove(responses: &[Response], taken: &mut Vec<Taken>, inputs: &Inputs) -> Vec<(WorldId, ResourceType, String)> {
    let seen: Vec<Seen<'_>> = taken
        .iter()
        .map(|taken| Seen {
            world: taken.world,
            origin: taken.origin,
            resource_type: taken.resource_type,
            name: &taken.name,
            what: taken.what,
        })
        .collect();
    let removed = removed(responses, &seen, &inputs.circumstances(false));
    let names = removed
        .keys()
        .filter_map(|&number| taken.get(number))
        .map(|taken| (taken.world, taken.resource_type, taken.name.clone()))
        .collect();
    let mut number = 0;
    taken.retain(|taken| {
        number += 1;
        !removed.contains_key(&(number - 1)) && matches!(taken.what, What::Sent { .. })
    });
    names
}
