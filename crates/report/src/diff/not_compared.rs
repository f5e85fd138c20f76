//! What `diff` did not compare, and for which clients. It is at the end of each report.

use std::collections::{BTreeMap, BTreeSet};

use super::Compared;
use crate::findings::not_checked::{
    NotChecked, NotCheckedKind, clients, of_value, switches, unclear, unread, versions,
};
use xdsctl_lint::diff::Unclear;
use xdsctl_model::profile::{Client, Family, Fleet};

/// Collects what was not compared, client after client.
#[derive(Debug, Default)]
pub struct NotComparedTally {
    /// For each client the number of resources whose verdict is not known, and the first of them.
    unclear: BTreeMap<Client, (usize, String)>,
    /// For each client the reason why it is not known, or not in full, where its RPCs go.
    rpcs: BTreeMap<Client, String>,
    /// For each client the number of servers of which it is not known, or not in full, who gains
    /// access, and the first of them.
    access: BTreeMap<Client, (usize, String)>,
}

impl NotComparedTally {
    /// Adds what was compared for a client.
    pub fn add(&mut self, client: Client, worlds: &[Compared]) {
        for Unclear {
            resource_type, name, ..
        } in worlds.iter().flat_map(|compared| &compared.diff.unclear)
        {
            let first = || (0, format!("{} `{name}`", resource_type.short_name()));
            self.unclear.entry(client).or_insert_with(first).0 += 1;
        }
        let unknown = worlds.iter().find_map(|compared| compared.rpcs_unknown.clone());
        let is_cut = worlds.iter().any(|compared| compared.diff.is_cut());
        let cut = is_cut.then(|| "there is too much to compare in full".to_owned());
        self.rpcs.extend(unknown.or(cut).map(|why| (client, why)));
        let servers = worlds.iter().flat_map(|compared| &compared.diff.access);
        for server in servers.filter(|server| server.is_cut()) {
            let first = || (0, format!("Listener `{}`", server.listener));
            self.access.entry(client).or_insert_with(first).0 += 1;
        }
    }

    /// Returns everything that was not compared. `not_read` lists the agents of the dump whose
    /// version cannot be parsed.
    pub fn finish(&self, fleet: &Fleet, not_read: &[String]) -> Vec<NotChecked> {
        let mut list: Vec<NotChecked> = not_read.iter().map(|agent| unread(agent)).collect();
        list.extend(unclear(NotCheckedKind::Verdict, "the verdict on", &self.unclear, fleet));
        list.extend(versions(fleet));
        let whys: BTreeSet<&String> = self.rpcs.values().collect();
        list.extend(whys.into_iter().map(|why| {
            let of = of_value(&self.rpcs, why);
            NotChecked::new(NotCheckedKind::Rpcs, &of, fleet, format!("where RPCs go: {why}"))
        }));
        let what = "who gains access, there is too much to compare in";
        list.extend(unclear(NotCheckedKind::Access, what, &self.access, fleet));
        let others = clients(fleet, |client| client.family != Family::REFERENCE);
        if !others.is_empty() {
            let what = "fields that C-core does not read".to_owned();
            list.push(NotChecked::new(NotCheckedKind::Values, &others, fleet, what));
        }
        list.extend(switches(fleet.doubts(), fleet));
        list
    }
}
