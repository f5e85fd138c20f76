//! CSDS: a `ClientStatusResponse` and its `ClientConfig`s, in the generic and in the old form. Each
//! `ClientConfig` is a world of its own.

use xdsctl_proto::tables::{self, Message};

use super::config_dump::{CLIENT_STATUS, ConfigDumpEntry, is_state, read_error, read_slot, slot, walk_section};
use super::entries::OBJECT;
use super::raw::{Label, LiveStatus, Stage};
use super::slot::SlotPlace;
use super::walker::Walker;
use super::{Clue, Result, Shape, legacy};
use crate::source::Span;
use xdsctl_model::profile::UserAgent;

/// The shape `{"config": [...]}`.
pub(super) static RESPONSE: Shape = Shape {
    claims: |clue| {
        clue.is("config", b'[') || matches!(clue, Clue::Type("envoy.service.status.v3.ClientStatusResponse"))
    },
    walk: |walker| {
        walker.recognised = true;
        walker.fields(&mut |walker, key| match key {
            "config" => walker.objects(&mut walk_client),
            key => walker.beside(key),
        })
    },
};

/// The shape of one `ClientConfig`.
pub(super) static CLIENT: Shape = Shape {
    claims: |clue| {
        clue.is("generic_xds_configs", b'[')
            || clue.is("xds_config", b'[')
            || matches!(clue, Clue::Type("envoy.service.status.v3.ClientConfig"))
    },
    walk: walk_client,
};

/// The shape of one entry alone: `GenericXdsConfig` or `PerXdsConfig`.
pub(super) static OLD_CONFIG: Shape = Shape {
    claims: |clue| match clue {
        Clue::Key { name, value, .. } => *value == b'{' && (SECTIONS.contains(name) || *name == "xds_config"),
        Clue::Type(name) => matches!(
            *name,
            "envoy.service.status.v3.PerXdsConfig" | "envoy.service.status.v3.ClientConfig.GenericXdsConfig"
        ),
    },
    walk: |walker| {
        walker.recognised = true;
        let start = walker.pos();
        walk_generic(walker)?;
        let end = walker.pos();
        walker.tc.scan.set_pos(start);
        walk_old(walker)?;
        walker.tc.scan.set_pos(end);
        Ok(())
    },
};

/// The members of `PerXdsConfig`.
const SECTIONS: &[&str] = &[
    "listener_config",
    "cluster_config",
    "route_config",
    "scoped_route_config",
    "endpoint_config",
];

/// The enum type of `status` and `config_status`.
const CONFIG_STATUS: &str = "envoy.service.status.v3.ConfigStatus";

/// Reads a `ClientConfig`, which is a world of its own. The world is named by `client_scope`;
/// without one, every world but the first is named by the id of its node.
fn walk_client(walker: &mut Walker<'_, '_>) -> Result<()> {
    walker.recognised = true;
    let wrapper = walker.wrappers.join("/");
    let number = walker.clients.get(&wrapper).copied().unwrap_or(0);
    walker.clients.insert(wrapper.clone(), number + 1);
    let scope = match (number, wrapper.is_empty()) {
        (0, true) => None,
        (0, false) => Some(wrapper),
        (_, true) => Some(format!("config[{number}]")),
        (_, false) => Some(format!("{wrapper}/config[{number}]")),
    };
    let source = walker.source;
    let world = walker.loader.world(source, scope);
    walker.loader.dumps.insert(world);
    let outer = walker.world.replace(world);
    let mut name = None;
    let mut node = None;
    let result = walker.fields(&mut |walker, key| match key {
        "node" => walk_node(walker).map(|id| node = id.filter(|id| number > 0 && !id.is_empty())),
        "generic_xds_configs" => walker.objects(&mut walk_generic),
        // The old list. An entry of the generic list has a key of the same name for its resource.
        "xds_config" => walker.objects(&mut walk_old),
        "client_scope" => walker.text().map(|scope| name = scope.filter(|name| !name.is_empty())),
        key => walker.beside(key),
    });
    walker.world = outer;
    if let (Some(name), Some(world)) = (name.or(node), walker.loader.worlds.get_mut(world.0 as usize)) {
        world.scope = Some(name);
    }
    result
}

/// Reads a `Node`, records the user agent in it, and returns its id.
pub(super) fn walk_node(walker: &mut Walker<'_, '_>) -> Result<Option<String>> {
    let mut id = None;
    let mut agent = UserAgent::default();
    let mut is_node = false;
    walker.fields(&mut |walker, key| {
        is_node = true;
        match key {
            "id" => walker.text().map(|text| id = text),
            "user_agent_name" => walker.text().map(|name| agent.name = name.unwrap_or_default()),
            "user_agent_version" => walker.text().map(|version| agent.version = version.unwrap_or_default()),
            _ => walker.skip(),
        }
    })?;
    if is_node {
        walker.loader.agents.insert(agent);
    }
    Ok(id)
}

/// Reads a `GenericXdsConfig`.
fn walk_generic(walker: &mut Walker<'_, '_>) -> Result<()> {
    walker.tc.scan.peek();
    let start = walker.pos();
    let mut entry = ConfigDumpEntry::default();
    let mut type_url = String::new();
    let mut label = Label::None;
    let mut later = None;
    let mut result = walker.fields(&mut |walker, key| match key {
        "type_url" => walker.text().map(|url| type_url = url.unwrap_or_default()),
        "name" => walker.text().map(|name| entry.name = name),
        "version_info" => walker.text().map(|version| entry.status.version = version),
        "client_status" => walker
            .enum_name(CLIENT_STATUS)
            .map(|status| entry.status.client = status),
        "config_status" => walker
            .enum_name(CONFIG_STATUS)
            .map(|status| entry.status.server = status),
        "is_static_resource" => {
            if walker.tc.scan.peek() == b't' {
                label = Label::Static;
            }
            walker.skip()
        }
        "error_state" => read_error(walker, label, &mut entry),
        "xds_config" if type_url.is_empty() && walker.tc.scan.peek() == b'{' => {
            // The type of this resource comes later in the text.
            later = Some(walker.pos());
            walker.skip()
        }
        "xds_config" => read_slot(walker, place(&type_url, label), &mut entry),
        _ => walker.skip(),
    });
    if let (Some(at), Ok(())) = (later, &result) {
        let end = walker.pos();
        walker.tc.scan.set_pos(at);
        result = read_slot(walker, place(&type_url, label), &mut entry);
        walker.tc.scan.set_pos(end);
    }
    // `is_static_resource` may come after the resource.
    for pending in &mut entry.resources {
        pending.raw.label = label;
    }
    let type_name = type_url.rsplit('/').next().unwrap_or_default();
    entry.finish(walker, start, type_name, label, result)
}

fn place(type_url: &str, label: Label) -> SlotPlace {
    let message: Option<&'static Message> = type_url.rsplit('/').next().and_then(tables::message);
    SlotPlace {
        message,
        label,
        stage: Stage::Active,
        is_any: true,
    }
}

/// Reads a `PerXdsConfig`. Its sections are those of a config dump, as plain messages without
/// `@type`.
fn walk_old(walker: &mut Walker<'_, '_>) -> Result<()> {
    let said = said(walker)?;
    let outer = std::mem::replace(&mut walker.said, said);
    let result = walk_sections(walker);
    walker.said = outer;
    result
}

/// Reads the status that a `PerXdsConfig` gives for all its resources.
fn said(walker: &mut Walker<'_, '_>) -> Result<LiveStatus> {
    let start = walker.pos();
    let mut said = LiveStatus::default();
    walker.fields(&mut |walker, key| match key {
        "status" => walker.enum_name(CONFIG_STATUS).map(|status| said.server = status),
        "client_status" => {
            let status = walker.enum_name("envoy.service.status.v3.ClientConfigStatus")?;
            // The values of the old enum have this prefix.
            said.client = status.map(|status| status.strip_prefix("CLIENT_").unwrap_or(&status).to_owned());
            Ok(())
        }
        _ => walker.skip(),
    })?;
    walker.tc.scan.set_pos(start);
    Ok(said)
}

fn walk_sections(walker: &mut Walker<'_, '_>) -> Result<()> {
    let from = walker.pos();
    let mut is_known = walker.said != LiveStatus::default();
    walker.fields(&mut |walker, key| {
        is_known |= SECTIONS.contains(&key);
        match walker.tc.scan.peek() {
            b'{' if SECTIONS.contains(&key) => {}
            b'n' => return walker.skip(),
            _ if SECTIONS.contains(&key) => return walker.wrong_kind(OBJECT),
            _ => return walker.skip(),
        }
        let start = walker.pos();
        if has_type(walker)? {
            return walk_section(walker);
        }
        walker.skip()?;
        legacy::report(walker, Span::new(start, start + 1));
        Ok(())
    })?;
    if !is_known {
        walker.without_resource(from, "it has no section and no status");
    }
    Ok(())
}

/// Says whether the section at the scanner has an `@type`, or has no resource that would need one.
/// In Envoy's v2 API, these sections had resources without `@type`.
fn has_type(walker: &mut Walker<'_, '_>) -> Result<bool> {
    let start = walker.pos();
    let mut has_resource = false;
    walker.fields(&mut |walker, _| walker.elements(&mut |walker, _| find_resource(walker, &mut has_resource)))?;
    let text = walker.tc.scan.slice(start, walker.pos());
    let is_typed = memchr::memmem::find(text, b"\"@type\"").is_some();
    walker.tc.scan.set_pos(start);
    Ok(is_typed || !has_resource)
}

/// Sets `found` if the entry at the scanner holds a resource.
fn find_resource(walker: &mut Walker<'_, '_>, found: &mut bool) -> Result<()> {
    walker.fields(&mut |walker, key| {
        if is_state(key) {
            return find_resource(walker, found);
        }
        *found |= slot(key).is_some() && matches!(walker.tc.scan.peek(), b'{' | b'[');
        walker.skip()
    })
}
