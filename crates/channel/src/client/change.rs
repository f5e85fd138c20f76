//! What-if: EDS updates that change, remove or add endpoints of a channel.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use super::{Client, Edits, Nacked, Start, Updated};
use crate::client::config::XdsConfig;
use xdsctl_clients::core::endpoints::change::{EndpointChange, localities, scaled};
use xdsctl_model::resource::ResourceType;
use xdsctl_model::text;

impl Client {
    /// Applies EDS updates that change endpoints of a channel. Of several changes of one address
    /// the last one counts. Returns the addresses that no EDS resource of the channel has, those of
    /// DNS among them.
    ///
    /// An endpoint that the client drops for its health is known too, and can come back. If the
    /// client rejects an update, the resource before it stays in use, as
    /// [`Resources::rejected`](super::Resources::rejected) then says. If the channel has no
    /// configuration, nothing is changed and no address is returned.
    ///
    /// Several clients that hold much the same may get these changes: `edits` passes on what was
    /// found out for one of them.
    pub fn change_endpoints(
        &mut self,
        start: &Start,
        changes: &[EndpointChange],
        edits: &mut Edits,
    ) -> (Updated, Vec<SocketAddr>) {
        let mut updated = Updated::default();
        let Ok(config) = self.resolve(start) else {
            return (updated, Vec::new());
        };
        let mut is_met = vec![false; changes.len()];
        for name in service_names(&config).into_values().collect::<BTreeSet<_>>() {
            let nacked = self.resources.change_endpoints(&name, changes, edits, &mut |number| {
                if let Some(met) = is_met.get_mut(number) {
                    *met = true;
                }
            });
            self.note_nacked(nacked, &mut updated);
        }
        let unmet = changes.iter().zip(&is_met).filter(|(_, is_met)| !**is_met);
        (updated, unmet.map(|(change, _)| change.address).collect())
    }

    /// Applies an EDS update after which a cluster, or a locality (`REGION/ZONE/SUB_ZONE`), has
    /// `count` endpoints. The last ones are removed, or copies of the last one are added, at the
    /// next IP addresses and in good health.
    ///
    /// # Errors
    /// Why the update is impossible: the name is unknown, the cluster has several localities, or
    /// there is nothing to copy.
    pub fn scale_endpoints(
        &mut self,
        start: &Start,
        name: &str,
        count: u32,
        updated: &mut Updated,
    ) -> Result<(), String> {
        let Ok(config) = self.resolve(start) else {
            return Ok(());
        };
        let services = service_names(&config);
        let (of_cluster, locality) = match services.get(name) {
            Some(service) => (vec![service.clone()], None),
            None => (services.values().cloned().collect(), Some(name)),
        };
        let mut known: BTreeSet<String> = services.into_keys().collect();
        for service in of_cluster {
            let mut result = Ok(());
            let mut is_met = false;
            let nacked = self.resources.edit_endpoints(&service, |bytes, cx| {
                let names = localities(bytes);
                let index = match locality {
                    Some(wanted) => names.iter().position(|name| name == wanted.trim_end_matches('/')),
                    None if names.len() == 1 => Some(0),
                    None => {
                        let list = names.join("`, `");
                        result = Err(format!(
                            "cluster `{name}` has the localities `{list}`, scale one of them"
                        ));
                        None
                    }
                };
                known.extend(names);
                is_met = index.is_some();
                let edited = scaled(bytes, index?, count, cx);
                edited.map_err(|why| result = Err(format!("`{name}` {why}"))).ok()
            });
            self.note_nacked(nacked, updated);
            if is_met || result.is_err() {
                return result;
            }
        }
        let hint = match text::nearest(name, known.iter().map(String::as_str)) {
            Some(near) => format!(", did you mean `{near}`?"),
            None => format!("; there is `{}`", known.into_iter().collect::<Vec<_>>().join("`, `")),
        };
        Err(format!(
            "no cluster with EDS, and no locality, is called `{name}`{hint}"
        ))
    }

    fn note_nacked(&self, nacked: Option<Nacked>, updated: &mut Updated) {
        let Some(nacked) = nacked else { return };
        let name = (ResourceType::Endpoints, nacked.name.clone());
        updated.notes.extend(self.resources.words_on(&[name]));
        updated.nacked.push(nacked);
    }
}

/// The names of the EDS resources of a channel, by cluster.
fn service_names(config: &XdsConfig) -> BTreeMap<String, String> {
    let names = config.leaves().filter_map(|(name, leaf)| {
        let service_name = leaf.cluster.discovery.eds_name(name)?;
        Some((name.clone(), service_name.to_owned()))
    });
    names.collect()
}
