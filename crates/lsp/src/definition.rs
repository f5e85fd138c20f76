//! From a name to where it is given, and to all places where it stands.

use lsp_types::{GotoDefinitionParams, Location, ReferenceParams};

use crate::project::names::{NamePlace, Named};
use crate::view::DocumentView;
use xdsctl_model::resource::ResourceType;

/// Where the name at the place is given.
pub fn definition(view: &DocumentView<'_>, params: &GotoDefinitionParams) -> Vec<Location> {
    let offset = view.offset(params.text_document_position_params.position);
    let names = view.snapshot.names();
    // A cluster's name that stands for its endpoints leads to those; else it is where it is.
    let here = names.places.iter().filter(|place| is_at(place, view, offset));
    let here = here.max_by_key(|place| !place.is_given);
    let Some(here) = here else { return Vec::new() };
    let like = names.like(here.named, &here.name, here.resource);
    view.locations(
        like.filter(|place| place.is_given)
            .map(|place| (place.source, place.span)),
    )
}

/// Where the name at the place stands.
pub fn references(view: &DocumentView<'_>, params: &ReferenceParams) -> Vec<Location> {
    let offset = view.offset(params.text_document_position.position);
    let with_given = params.context.include_declaration;
    let all = all(view, offset)
        .into_iter()
        .filter(|place| with_given || !place.is_given);
    view.locations(all.map(|place| (place.source, place.span)))
}

fn is_at(place: &NamePlace, view: &DocumentView<'_>, offset: usize) -> bool {
    place.source == view.id && place.span.start <= offset && offset <= place.span.end
}

/// Every place of the name at a byte. The name of a cluster that its endpoints share counts as one.
pub fn all<'v>(view: &DocumentView<'v>, offset: usize) -> Vec<&'v NamePlace> {
    let names = view.snapshot.names();
    let here = names.places.iter().filter(|place| is_at(place, view, offset));
    let mut kinds: Vec<(Named, &NamePlace)> = here.map(|place| (place.named, place)).collect();
    let mut found: Vec<&NamePlace> = Vec::new();
    let mut next = 0;
    while let Some((named, from)) = kinds.get(next).copied() {
        next += 1;
        for place in names.like(named, &from.name, from.resource) {
            if !found
                .iter()
                .any(|known| known.source == place.source && known.span == place.span)
            {
                found.push(place);
            }
            let twin = match place.named {
                Named::Resource(ResourceType::Cluster) => Named::Resource(ResourceType::Endpoints),
                Named::Resource(ResourceType::Endpoints) => Named::Resource(ResourceType::Cluster),
                _ => continue,
            };
            // Both are given by one scalar.
            let is_shared = names
                .places
                .iter()
                .any(|other| other.named == twin && other.source == place.source && other.span == place.span);
            if is_shared && !kinds.iter().any(|(known, _)| *known == twin) {
                kinds.push((twin, place));
            }
        }
    }
    found.sort_by_key(|place| (place.source, place.span));
    found
}
