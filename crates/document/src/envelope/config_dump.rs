//! Envoy's admin `/config_dump`: sections, their lists, and the entries of the lists, which
//! `?resource=` returns alone.

use xdsctl_proto::tables;

use super::entries::OBJECT;
use super::raw::{Label, LiveStatus, Stage};
use super::slot::{Pending, SlotPlace};
use super::walker::Walker;
use super::{Clue, Result, Shape, envoy_bootstrap};

/// The shape `{"configs": [...]}`.
pub(super) static DUMP: Shape = Shape {
    claims: |clue| clue.is("configs", b'[') || matches!(clue, Clue::Type("envoy.admin.v3.ConfigDump")),
    walk: |walker| {
        walker.recognised = true;
        let outer = walker.dump.replace(DumpSoFar::default());
        let result = walker.fields(&mut |walker, key| match key {
            "configs" => walker.elements(&mut |walker, _| walker.entry()),
            key => walker.beside(key),
        });
        let so_far = std::mem::replace(&mut walker.dump, outer).unwrap_or_default();
        result?;
        let end = walker.pos();
        for start in so_far.bootstraps {
            walker.tc.scan.set_pos(start);
            envoy_bootstrap::walk_bootstrap(walker, &so_far.lists)?;
        }
        walker.tc.scan.set_pos(end);
        Ok(())
    },
};

/// What has been read of a config dump so far. The bootstrap comes first, and its static resources
/// are repeated in the lists of later sections. They are read from the bootstrap only if there is
/// no such section.
#[derive(Debug, Default)]
pub(super) struct DumpSoFar {
    /// Byte offsets at which the bootstraps start.
    bootstraps: Vec<usize>,
    /// The lists of the bootstrap that later sections repeat.
    lists: Vec<&'static str>,
}

/// The sections that repeat a list of the bootstrap's static resources.
const SHOWN_AGAIN: &[(&str, &str)] = &[
    ("ClustersConfigDump", "clusters"),
    ("ListenersConfigDump", "listeners"),
    ("SecretsConfigDump", "secrets"),
];

/// The shape of one section of a config dump, or of one entry of its lists.
pub(super) static SECTION: Shape = Shape {
    claims: |clue| match clue {
        Clue::Key { name, value, .. } => *value == b'[' && list(name).is_some(),
        Clue::Type(name) => name
            .strip_prefix("envoy.admin.v3.")
            .is_some_and(|n| n.contains("ConfigDump")),
    },
    walk: |walker| {
        let (section, unknown) = section(walker);
        if let Some(so_far) = &mut walker.dump {
            let again = SHOWN_AGAIN.iter().filter(|(of, _)| section.starts_with(of));
            so_far.lists.extend(again.map(|(_, list)| *list));
        }
        let Some(name) = unknown else {
            return walk_section(walker);
        };
        walker.recognised = true;
        let message = format!("`{name}` is not a section of a config dump that xdsctl knows, so it is not checked");
        walker.unknown_section(message);
        walker.skip()
    },
};

/// The lists of the sections, each with the key under which its entries hold a resource.
const LISTS: &[(&str, &str)] = &[
    ("static_clusters", "cluster"),
    ("dynamic_active_clusters", "cluster"),
    ("dynamic_warming_clusters", "cluster"),
    ("static_listeners", "listener"),
    ("dynamic_listeners", "listener"),
    ("static_route_configs", "route_config"),
    ("dynamic_route_configs", "route_config"),
    ("static_endpoint_configs", "endpoint_config"),
    ("dynamic_endpoint_configs", "endpoint_config"),
    ("inline_scoped_route_configs", "scoped_route_configs"),
    ("dynamic_scoped_route_configs", "scoped_route_configs"),
    ("static_secrets", "secret"),
    ("dynamic_active_secrets", "secret"),
    ("dynamic_warming_secrets", "secret"),
    ("ecds_filters", "ecds_filter"),
];

/// The keys of an entry that hold a resource, each with the type of the resource.
const SLOTS: &[(&str, &str)] = &[
    ("cluster", "envoy.config.cluster.v3.Cluster"),
    ("listener", "envoy.config.listener.v3.Listener"),
    ("route_config", "envoy.config.route.v3.RouteConfiguration"),
    ("endpoint_config", "envoy.config.endpoint.v3.ClusterLoadAssignment"),
    ("scoped_route_configs", "envoy.config.route.v3.ScopedRouteConfiguration"),
    ("secret", "envoy.extensions.transport_sockets.tls.v3.Secret"),
    ("ecds_filter", "envoy.config.core.v3.TypedExtensionConfig"),
];

/// Returns the label, the stage and the resource type of the entries of a list.
fn list(name: &str) -> Option<(Label, Stage, &'static str)> {
    let (_, key) = LISTS.iter().find(|(list, _)| *list == name)?;
    let label = match name.starts_with("static_") || name.starts_with("inline_") {
        true => Label::Static,
        false => Label::Dynamic,
    };
    let stage = match name.contains("_warming_") {
        true => Stage::Warming,
        false => Stage::Active,
    };
    Some((label, stage, slot(key)?))
}

/// Returns the type of the resource under a key of an entry.
pub(super) fn slot(name: &str) -> Option<&'static str> {
    SLOTS.iter().find(|(slot, _)| *slot == name).map(|(_, name)| *name)
}

/// The known sections. Their entries have types of their own, such as
/// `ClustersConfigDump.DynamicCluster`.
const SECTIONS: &[&str] = &[
    "BootstrapConfigDump",
    "ClustersConfigDump",
    "EcdsConfigDump",
    "EndpointsConfigDump",
    "ListenersConfigDump",
    "RoutesConfigDump",
    "ScopedRoutesConfigDump",
    "SecretsConfigDump",
];

/// Returns the name of the section at the scanner, and its full name if it is not one of
/// [`SECTIONS`]. The scanner stays where it is.
fn section(walker: &mut Walker<'_, '_>) -> (String, Option<String>) {
    let start = walker.pos();
    let found = walker.type_ahead();
    walker.tc.scan.set_pos(start);
    // A section that is cut off is read as far as it goes.
    let Ok(Some(url)) = found else {
        return (String::new(), None);
    };
    let name = url.rsplit('/').next().unwrap_or_default();
    let section = name.strip_prefix("envoy.admin.v3.").unwrap_or_default();
    let is_known = SECTIONS.contains(&section.split('.').next().unwrap_or_default());
    (section.to_owned(), (!is_known).then(|| name.to_owned()))
}

/// Reads a section. In an entry that stands alone, the keys of the entry take the place of the
/// section's lists.
pub(super) fn walk_section(walker: &mut Walker<'_, '_>) -> Result<()> {
    walker.recognised = true;
    walker.tc.scan.peek();
    let start = walker.pos();
    let mut is_entry = false;
    walker.fields(&mut |walker, key| match list(key) {
        Some((label, stage, type_name)) => walker.objects(&mut |walker| walk_entry(walker, label, stage, type_name)),
        None if key == "bootstrap" && walker.tc.scan.peek() == b'{' => {
            let start = walker.pos();
            match &mut walker.dump {
                Some(so_far) => so_far.bootstraps.push(start),
                None => return envoy_bootstrap::walk_bootstrap(walker, &[]),
            }
            walker.skip()
        }
        None => {
            if walker.tc.scan.peek() == b'[' {
                let message = format!("`{key}` is not a list of a config dump that xdsctl knows, so it is not checked");
                walker.unknown_section(message);
            }
            is_entry |= slot(key).is_some() || is_state(key) || key == "error_state";
            walker.skip()
        }
    })?;
    if is_entry {
        walker.tc.scan.set_pos(start);
        walk_entry(walker, Label::None, Stage::Active, "")?;
    }
    Ok(())
}

/// The members of a listener's entry that hold a version of the listener.
const STATES: &[(&str, Stage)] = &[
    ("active_state", Stage::Active),
    ("warming_state", Stage::Warming),
    ("draining_state", Stage::Draining),
];

/// Says whether a key of an entry holds an object with a resource and its version.
pub(super) fn is_state(key: &str) -> bool {
    STATES.iter().any(|(state, _)| *state == key)
}

/// The enum type of `client_status`.
pub(super) const CLIENT_STATUS: &str = "envoy.admin.v3.ClientResourceStatus";

/// What has been read of one entry.
#[derive(Default)]
pub(super) struct ConfigDumpEntry {
    pub resources: Vec<Pending>,
    pub status: LiveStatus,
    pub name: Option<String>,
    /// The value in the place of a resource is something else, and a finding says so already.
    pub is_reported: bool,
}

/// Reads an entry of a list and emits its resources.
fn walk_entry(walker: &mut Walker<'_, '_>, label: Label, stage: Stage, type_name: &str) -> Result<()> {
    walker.tc.scan.peek();
    let mut entry = ConfigDumpEntry::default();
    let start = walker.pos();
    let result = read_entry(walker, label, stage, &mut entry);
    entry.finish(walker, start, type_name, label, result)
}

fn read_entry(walker: &mut Walker<'_, '_>, label: Label, stage: Stage, entry: &mut ConfigDumpEntry) -> Result<()> {
    walker.fields(&mut |walker, key| {
        if let Some(type_name) = slot(key) {
            let place = SlotPlace {
                message: tables::message(type_name),
                label,
                stage,
                is_any: true,
            };
            return read_slot(walker, place, entry);
        }
        if let Some((_, state)) = STATES.iter().find(|(name, _)| *name == key) {
            return read_state(walker, label, *state, entry);
        }
        match key {
            "name" => walker.text().map(|name| entry.name = name),
            "version_info" => walker.text().map(|version| entry.status.version = version),
            "client_status" => walker
                .enum_name(CLIENT_STATUS)
                .map(|status| entry.status.client = status),
            "error_state" => read_error(walker, label, entry),
            _ => walker.skip(),
        }
    })
}

/// Reads one of [`STATES`]. Its version applies only to the resource inside it.
fn read_state(walker: &mut Walker<'_, '_>, label: Label, stage: Stage, entry: &mut ConfigDumpEntry) -> Result<()> {
    let first = entry.resources.len();
    let outer = entry.status.version.take();
    let result = read_entry(walker, label, stage, entry);
    let version = std::mem::replace(&mut entry.status.version, outer);
    for pending in entry.resources.iter_mut().skip(first) {
        let status = LiveStatus {
            version: version.clone(),
            ..LiveStatus::default()
        };
        pending.set_status(&status);
    }
    result
}

/// Reads one resource, or a list of them.
pub(super) fn read_slot(walker: &mut Walker<'_, '_>, place: SlotPlace, entry: &mut ConfigDumpEntry) -> Result<()> {
    match walker.tc.scan.peek() {
        b'[' => walker.elements(&mut |walker, _| read_slot(walker, place, entry)),
        b'{' => {
            let pending = walker.slot(place)?;
            if place.is_any && !pending.is_typed {
                walker.missing_type(&pending);
            }
            entry.resources.push(pending);
            Ok(())
        }
        b'n' => walker.skip(),
        _ => {
            entry.is_reported = true;
            walker.wrong_kind(OBJECT)
        }
    }
}

/// Reads `error_state`.
pub(super) fn read_error(walker: &mut Walker<'_, '_>, label: Label, entry: &mut ConfigDumpEntry) -> Result<()> {
    let place = SlotPlace {
        label,
        stage: Stage::Failed,
        ..SlotPlace::default()
    };
    walker.fields(&mut |walker, key| match key {
        "failed_configuration" => read_slot(walker, place, entry),
        "details" => walker.text().map(|details| entry.status.error = details),
        "version_info" => walker.text().map(|version| entry.status.rejected_version = version),
        _ => walker.skip(),
    })
}

impl ConfigDumpEntry {
    /// Emits the resources of an entry. If the entry has only a name or a status, emits one
    /// resource without bytes.
    ///
    /// `result` says how reading ended. Resources of an entry that is cut off are emitted all the
    /// same.
    pub(super) fn finish(
        mut self,
        walker: &mut Walker<'_, '_>,
        start: usize,
        type_name: &str,
        label: Label,
        result: Result<()>,
    ) -> Result<()> {
        let said = &walker.said;
        self.status.client = self.status.client.or_else(|| said.client.clone());
        self.status.server = self.status.server.or_else(|| said.server.clone());
        let has_news = result.is_ok() && (self.name.is_some() || self.status != LiveStatus::default());
        if self.resources.is_empty() && has_news && !type_name.is_empty() {
            let place = SlotPlace {
                label,
                ..SlotPlace::default()
            };
            let mut absent = walker.pending(format!("type.googleapis.com/{type_name}"), place);
            absent.raw.origin.span = crate::source::Span::new(start, walker.pos());
            self.resources.push(absent);
        } else if self.resources.is_empty() && result.is_ok() && !self.is_reported {
            let why = match type_name {
                "" => "it says no type",
                _ => "it has no resource, no name and no status",
            };
            walker.without_resource(start, why);
        }
        // The status is about one of the resources: the rejected one if it is there, else the one
        // in use.
        let find = |wanted| self.resources.iter().position(|pending| pending.raw.stage == wanted);
        let meant = find(Stage::Failed).or_else(|| find(Stage::Active)).unwrap_or(0);
        for (number, pending) in self.resources.iter_mut().enumerate() {
            let own = pending.raw.status.take().and_then(|status| status.version);
            let said = match number == meant {
                true => self.status.clone(),
                false => LiveStatus::default(),
            };
            pending.set_status(&LiveStatus {
                version: own.or_else(|| self.status.version.clone()),
                ..said
            });
            if pending.raw.wrapper_name.is_none() {
                pending.raw.wrapper_name.clone_from(&self.name);
            }
        }
        walker.push(self.resources);
        result
    }
}
