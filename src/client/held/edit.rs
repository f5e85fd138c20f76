//! EDS updates that are made of the version before, and what became of rejected ones.

use bytes::Bytes;

use super::rejection::REJECTED;
use super::{Held, Rejected, Resources};
use crate::client::Nacked;
use crate::diag::Cx;
use crate::model::ResourceType;
use crate::validate::discovery;

impl Resources {
    /// Takes an EDS update of the resource of this name, which is made of the bytes of the version before by `edit`; nothing is
    /// taken if that makes none. Returns why the client rejects the update, if it does.
    pub(in crate::client) fn edit_endpoints(
        &mut self,
        name: &str,
        edit: impl FnOnce(&Bytes, &mut Cx<'_>) -> Option<Bytes>,
    ) -> Option<Nacked> {
        let version = self.endpoints.get(name)?.version.as_ref()?;
        let (store, bytes) = match (&version.bytes, &version.place) {
            (Some((store, bytes)), _) => (store.clone(), edit(bytes, &mut Cx::new(&store.profile, &store.server))?),
            (None, Some((store, origin))) => {
                let (bytes, mut cx) = store.bytes(*origin, ResourceType::Endpoints)?;
                (store.clone(), edit(&bytes, &mut cx)?)
            }
            (None, None) => return None,
        };
        let cx = Cx::new(&store.profile, &store.server).packing();
        let validated = discovery::bare(ResourceType::Endpoints, &bytes, cx);
        let is_rejected = validated.value.is_none();
        let nacked = is_rejected.then(|| Nacked::of(ResourceType::Endpoints, name, &validated.diagnostics));
        let mut newer = Held::of(validated);
        if let Some(version) = &mut newer.version {
            version.bytes = Some((store, bytes));
        }
        let key = self.endpoints.names.key(name).into_owned();
        self.endpoints.take_one(key, newer);
        nacked
    }

    /// What became of updates of these resources that were rejected, in words.
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
