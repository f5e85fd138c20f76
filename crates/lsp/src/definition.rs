//! Finds the definition of the name at a place, and all places with this name.

use lsp_types::{GotoDefinitionParams, Location, ReferenceParams};

use crate::project::names::{NamePlace, Named};
use crate::view::DocumentView;
use xdsctl_model::resource::ResourceType;

/// Returns the places that define the name at a place.
pub fn definition(view: &DocumentView<'_>, params: &GotoDefinitionParams) -> Vec<Location> {
    let offset = view.offset(params.text_document_position_params.position);
    let names = view.snapshot.names();
    // A cluster's name may also be the name of its endpoints. In that case it leads to the
    // endpoints; otherwise to itself.
    let here = names.places.iter().filter(|place| is_at(place, view, offset));
    let here = here.max_by_key(|place| !place.is_given);
    let Some(here) = here else { return Vec::new() };
    let like = names.like(here.named, &here.name, here.resource);
    view.locations(
        like.filter(|place| place.is_given)
            .map(|place| (place.source, place.span)),
    )
}

/// Returns the places that refer to the name at a place.
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

/// Returns every place of the name at a byte. A cluster and its endpoints that share a name count
/// as one.
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
            // One scalar gives both names.
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
