//! EDS updates that are made from the version before, and what became of rejected updates.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::rejection::REJECTED;
use super::{AcceptedVersion, HeldResource, Rejected, Resources, Store};
use crate::client::Nacked;
use xdsctl_clients::core::endpoints::change::{self, EndpointChange};
use xdsctl_clients::core::endpoints::patch::{Patch, PendingChanges, Places, patched, written};
use xdsctl_clients::discovery;
use xdsctl_model::diag::Validation;
use xdsctl_model::resource::{Endpoints, ResourceType};

/// A version that was made from the one before it.
#[derive(Debug)]
pub(super) struct Edited {
    /// The profile and the server facts that it is checked against, and the documents.
    store: Arc<Store>,
    /// The message without the changes in `pending`.
    bytes: Bytes,
    /// The changes of endpoints since then.
    pending: PendingChanges,
    /// Where the endpoints stand in `bytes`. Versions that differ only in `pending` share this.
    places: Arc<OnceLock<Places>>,
}

impl Edited {
    fn new(store: Arc<Store>, bytes: Bytes) -> Edited {
        Edited {
            store,
            bytes,
            pending: PendingChanges::default(),
            places: Arc::default(),
        }
    }

    fn cx(&self) -> Validation<'_> {
        Validation::new(&self.store.profile, &self.store.server)
    }

    fn written(&self) -> Bytes {
        match self.pending.is_empty() {
            true => self.bytes.clone(),
            false => written(&self.bytes, &self.pending),
        }
    }
}

/// What one set of changes makes of each version. Clients that hold the same version share the
/// result.
#[derive(Debug, Default)]
pub struct Edits {
    /// The edits by the place of the version in memory, which stays in use as long as the edit is
    /// here.
    done: BTreeMap<usize, EndpointEdit>,
}

#[derive(Debug)]
struct EndpointEdit {
    _version: AcceptedVersion<Endpoints>,
    /// The new version; `None` if nothing changes.
    newer: Option<HeldResource<Endpoints>>,
    nacked: Option<Nacked>,
    /// The numbers of the changes that apply to one of its endpoints.
    met: Vec<usize>,
}

impl Resources {
    /// Applies an EDS update that changes some endpoints of the resource of this name. `met` gets
    /// the numbers of the changes that apply to one of its endpoints. Returns why the client
    /// rejects the update, if it does.
    pub(in crate::client) fn change_endpoints(
        &mut self,
        name: &str,
        changes: &[EndpointChange],
        edits: &mut Edits,
        met: &mut dyn FnMut(usize),
    ) -> Option<Nacked> {
        let version = self.endpoints.get(name)?.version.as_ref()?;
        let place = Arc::as_ptr(&version.kept).addr();
        let edit = match edits.done.entry(place) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(free) => free.insert(version.changed(name, changes)?),
        };
        edit.met.iter().for_each(|number| met(*number));
        let (newer, nacked) = (edit.newer.clone()?, edit.nacked.clone());
        let key = self.endpoints.names.key(name).into_owned();
        self.endpoints.take_one(key, newer);
        nacked
    }

    /// Applies an EDS update that `edit` makes from the bytes of the version before; nothing
    /// changes if it makes none. Returns why the client rejects the update, if it does.
    pub(in crate::client) fn edit_endpoints(
        &mut self,
        name: &str,
        edit: impl FnOnce(&Bytes, &mut Validation<'_>) -> Option<Bytes>,
    ) -> Option<Nacked> {
        let version = self.endpoints.get(name)?.version.as_ref()?;
        let (newer, nacked) = version.edited(name, edit)?;
        let key = self.endpoints.names.key(name).into_owned();
        self.endpoints.take_one(key, newer);
        nacked
    }

    /// Says in words why updates of these resources were rejected, and whether an earlier version
    /// stays.
    pub(in crate::client) fn words_on(&self, names: &[(ResourceType, String)]) -> Vec<String> {
        let words = |now: Rejected<'_>| {
            let kept = if now.has_earlier {
                ", its earlier version stays"
            } else {
                ""
            };
            let (kind, name) = (now.resource_type.short_name(), now.name);
            let why = now.why.strip_prefix(REJECTED).unwrap_or(now.why);
            format!("{kind} `{name}` is rejected{kept}: {why}")
        };
        let now = names
            .iter()
            .filter_map(|(resource_type, key)| self.rejection(*resource_type, key));
        now.map(words).collect()
    }
}

impl AcceptedVersion<Endpoints> {
    /// Applies changes to the version; `None` if it cannot be read.
    fn changed(&self, name: &str, changes: &[EndpointChange]) -> Option<EndpointEdit> {
        if let Some(edit) = self.patched(changes) {
            return Some(edit);
        }
        let mut met = Vec::new();
        let edited = self.edited(name, |bytes, cx| {
            change::changed(bytes, changes, cx, &mut |number| met.push(number))
        });
        met.sort_unstable();
        met.dedup();
        let (newer, nacked) = edited.unzip();
        Some(EndpointEdit {
            _version: self.clone(),
            newer,
            nacked: nacked.flatten(),
            met,
        })
    }

    /// Applies changes without reading the whole resource again, where the result is certain.
    fn patched(&self, changes: &[EndpointChange]) -> Option<EndpointEdit> {
        let edited = self.edited.as_ref()?;
        let kept = self.kept.get()?;
        let value = kept.value.as_ref()?;
        let places = edited
            .places
            .get_or_init(|| Places::of(&edited.bytes, value, &mut edited.cx()));
        let mut met = Vec::new();
        let newer = match patched(value, places, changes, &edited.cx(), &mut |number| met.push(number)) {
            Patch::Unclear => return None,
            Patch::Nothing => None,
            Patch::Value(value, changed) => {
                let mut pending = edited.pending.clone();
                pending.add(changed);
                let edited = Edited {
                    store: edited.store.clone(),
                    bytes: edited.bytes.clone(),
                    pending,
                    places: edited.places.clone(),
                };
                let version = AcceptedVersion {
                    edited: Some(Arc::new(edited)),
                    ..AcceptedVersion::of(Some(Arc::new(value)), kept.noted.clone())
                };
                Some(HeldResource {
                    version: Some(version),
                    ..HeldResource::default()
                })
            }
        };
        Some(EndpointEdit {
            _version: self.clone(),
            newer,
            nacked: None,
            met,
        })
    }

    /// Lets `edit` make another message of the version. Returns what becomes of it, and why the
    /// client rejects it, if it does.
    fn edited(
        &self,
        name: &str,
        edit: impl FnOnce(&Bytes, &mut Validation<'_>) -> Option<Bytes>,
    ) -> Option<(HeldResource<Endpoints>, Option<Nacked>)> {
        let (store, bytes) = match (&self.edited, &self.place) {
            (Some(edited), _) => (edited.store.clone(), edit(&edited.written(), &mut edited.cx())?),
            (None, Some((store, origin))) => {
                let (bytes, mut cx) = store.bytes(*origin, ResourceType::Endpoints)?;
                (store.clone(), edit(&bytes, &mut cx)?)
            }
            (None, None) => return None,
        };
        let cx = Validation::new(&store.profile, &store.server).packing();
        let validated = discovery::bare(ResourceType::Endpoints, &bytes, &[], cx);
        let is_rejected = validated.value.is_none();
        let nacked = is_rejected.then(|| Nacked::of(ResourceType::Endpoints, name, &validated.diagnostics));
        let mut newer = HeldResource::of(validated);
        if let Some(version) = &mut newer.version {
            version.edited = Some(Arc::new(Edited::new(store, bytes)));
        }
        Some((newer, nacked))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::client::Client;
    use crate::client::held::Noted;
    use xdsctl_model::rng::Rng;

    /// Endpoints in two localities, with some that the client drops and one of several addresses.
    fn client() -> Client {
        let address = |ip: &str, port: u32| json!({"socket_address": {"address": ip, "port_value": port}});
        let endpoint = |number: u32| {
            let more = [json!({"address": address("fd00::1", number)})];
            let more = if number == 3 { &more[..] } else { &[] };
            let health = ["UNKNOWN", "HEALTHY", "DRAINING", "UNHEALTHY"][number as usize % 4];
            json!({"endpoint": {"address": address("10.0.0.1", number), "additional_addresses": more},
                "health_status": health, "load_balancing_weight": number})
        };
        let group = |name: &str, range: std::ops::Range<u32>| {
            let list: Vec<_> = range.map(endpoint).collect();
            json!({"locality": {"region": name}, "load_balancing_weight": 2, "lb_endpoints": list})
        };
        let mut client = Client::default();
        let updated = client.update(&json!([{
            "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "a",
            "endpoints": [group("z", 1..150), group("a", 150..170)],
        }]));
        assert_eq!(updated.notes, Vec::<String>::new());
        client
    }

    fn change(chance: &mut Rng) -> EndpointChange {
        let number = 1 + chance.below(175) as u16;
        let address = match chance.below(8) {
            0 => format!("[fd00::1]:{number}"),
            1 => format!("[::ffff:10.0.0.1]:{number}"),
            _ => format!("10.0.0.1:{number}"),
        };
        let address = address.parse().unwrap();
        match chance.below(12) {
            0 => EndpointChange::removal(address),
            1 => EndpointChange::health(address, "UNHEALTHY").unwrap(),
            2..=4 => EndpointChange::health(address, "HEALTHY").unwrap(),
            5..=7 => EndpointChange::health(address, "DRAINING").unwrap(),
            _ => EndpointChange::weight(address, chance.below(9) as u32),
        }
    }

    #[test]
    fn what_is_kept_is_what_the_whole_message_says() {
        let mut chance = Rng::stream(1, "changes");
        let (mut patched, mut alone) = (0, 0);
        for _ in 0..6 {
            let mut client = client();
            for _ in 0..60 {
                let changes: Vec<EndpointChange> = (0..1 + chance.below(2)).map(|_| change(&mut chance)).collect();
                let before = client.resources.endpoints.get("a").unwrap().version.clone().unwrap();
                let message = before.edited.as_ref().map(|edited| edited.written());
                let mut met = Vec::new();
                client
                    .resources
                    .change_endpoints("a", &changes, &mut Edits::default(), &mut |number| met.push(number));
                let after = client.resources.endpoints.get("a").unwrap().version.clone().unwrap();
                let Some(edited) = &after.edited else { continue };
                let written = edited.written();
                if let Some(message) = message {
                    let mut of_whole = Vec::new();
                    let whole = change::changed(&message, &changes, &mut edited.cx(), &mut |number| {
                        of_whole.push(number)
                    });
                    of_whole.sort_unstable();
                    of_whole.dedup();
                    assert_eq!(met, of_whole, "{changes:?}");
                    let is_new = !Arc::ptr_eq(&before.kept, &after.kept);
                    assert!(!is_new || whole.as_ref() == Some(&written), "{changes:?}");
                    patched += u32::from(is_new && !edited.pending.is_empty());
                    alone += u32::from(is_new && edited.pending.is_empty());
                }
                let read = discovery::bare(ResourceType::Endpoints, &written, &[], edited.cx());
                let kept = after.kept.get().unwrap();
                assert_eq!(Noted::of(&read.diagnostics).dropped, kept.noted.dropped);
                let Some(xdsctl_model::resource::Resource::Endpoints(value)) = read.value else {
                    panic!("{changes:?} is rejected");
                };
                assert_eq!(Some(&value), kept.value.as_deref(), "{changes:?}");
            }
        }
        assert!(patched > 100 && alone > 30, "{patched} {alone}");
    }
}
