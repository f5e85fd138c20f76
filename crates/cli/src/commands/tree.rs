//! `xdsctl tree`: the tree of LB policies of a channel.

use std::io::Write;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::several::{self, ClientsQuestion};
use crate::args::{Layout, TreeArgs, TreeFormat};
use crate::io::DEFAULT_WIDTH;
use crate::session::{self, words};
use crate::{Error, Io};
use xdsctl_channel::client::config::{ChannelFailure, XdsConfig};
use xdsctl_channel::session::Session;
use xdsctl_channel::tree::build::{self, Cds, Generated};
use xdsctl_channel::tree::form::TreeForm;
use xdsctl_channel::tree::node::{NodeKind, TreeNode};
use xdsctl_channel::tree::service_config::ServiceConfig;
use xdsctl_channel::tree::show::{self, ShownTree};
use xdsctl_channel::tree::{legacy, service_config};
use xdsctl_document::source::secrets::SecretPlace;
use xdsctl_model::profile::{Client, Feature, Fleet, Profile};
use xdsctl_model::status::Status;
use xdsctl_report::channel::layers::Question;
use xdsctl_report::channel::{graph, svg, tree as text};
use xdsctl_report::told::Told;

/// The name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.tree/v1";

/// The answer of `tree --format json`.
#[derive(Serialize)]
struct TreeJson {
    schema: &'static str,
    /// The service config that the resolver hands to the channel; null if there is none.
    service_config: Value,
    /// The config that each cds policy generates, by cluster.
    cds_children: Map<String, Value>,
    /// The clusters to which every RPC fails; null stands for the whole channel.
    errors: Vec<Value>,
}

/// Asks a client whose tree is known.
fn of_tree(client: Client) -> Result<Fleet, String> {
    let fleet = session::of_channel(client)?;
    let is_known = client == Client::REFERENCE
        || TreeForm::of(client.family).is_of_all_versions
        || fleet.base().has(Feature::AggregateIsFlat);
    match is_known {
        true => Ok(fleet),
        false => Err(format!(
            "the LB policies that {} builds are not known: `route` says which cluster an RPC goes to, and `pick` which endpoint",
            fleet.base().name()
        )),
    }
}

pub(super) fn run(args: &TreeArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let mut asked = ClientsQuestion::of_channel(Question::Tree, &args.channel, args.format == TreeFormat::Json);
    asked.is_picture = !asked.is_json && args.format != TreeFormat::Human;
    several::run(asked, io, &mut |one, told, io| {
        let mut args = args.clone();
        one.put_into(&mut args.channel.client);
        answer(&args, told, io)
    })
}

fn answer(args: &TreeArgs, told: &mut Told, io: &mut Io<'_>) -> Result<u8, Error> {
    let opened = session::open_if(&args.channel, of_tree, io)?;
    let outcome = match &opened.config {
        Ok(config) => match service_config::generate(config) {
            Ok(generated) => Outcome::Config(config, generated),
            Err(status) => Outcome::Fails(status, None),
        },
        Err(failure) => Outcome::Fails(failure.status(), Some(failure)),
    };
    let root = || nodes(args, &opened, &outcome);
    match args.format {
        TreeFormat::Dot => graph::write_dot(&root(), &mut io.out)?,
        TreeFormat::Mermaid => graph::write_mermaid(&root(), &mut io.out)?,
        TreeFormat::Svg => svg::write(&root(), &mut io.out)?,
        TreeFormat::Human | TreeFormat::Json => {
            let style = text::TreeStyle {
                colour: io.colours(args.color),
                width: io.width.unwrap_or(DEFAULT_WIDTH),
                all: args.all,
            };
            let write_text = |out: &mut dyn Write| text::write(&root(), style, out);
            told.tell(&mut io.out, || document(args, &opened, &outcome), write_text)?;
        }
    }
    words::say_hint(&opened, io)?;
    let fails = match &outcome {
        Outcome::Fails(..) => true,
        Outcome::Config(config, generated) => all_fail(config, generated, &opened.client.profile),
    };
    if let (true, Some(unanswered)) = (fails, words::unanswered(&opened)) {
        say!(io.err, "help: {unanswered}")?;
    }
    Ok(session::exit(fails))
}

/// The result of the resolver for the channel.
enum Outcome<'a> {
    Config(&'a XdsConfig, ServiceConfig),
    Fails(Status, Option<&'a ChannelFailure>),
}

/// Says whether there are clusters in the routes, and RPCs to all of them fail.
fn all_fail(config: &XdsConfig, service_config: &ServiceConfig, profile: &Profile) -> bool {
    let mut roots = service_config.clusters().peekable();
    roots.peek().is_some()
        && roots.all(|cluster| {
            let cds = Cds {
                config,
                cluster,
                below: None,
                profile,
            };
            cds.check().is_err() || !config.can_serve(cluster)
        })
}

fn nodes(args: &TreeArgs, opened: &Session, outcome: &Outcome<'_>) -> TreeNode {
    match outcome {
        Outcome::Config(config, service_config) => {
            let shown = ShownTree {
                config,
                service_config,
                profile: &opened.client.profile,
                resources: &opened.client.resources,
            };
            match args.layout {
                Layout::A75 => show::tree(&shown),
                Layout::A37 => legacy::tree(&shown),
            }
        }
        Outcome::Fails(status, failure) => {
            let name = opened.target().map_or("channel", |target| target.uri.as_str());
            let mut node =
                TreeNode::new(NodeKind::Failure, status.code.name()).warning("every RPC fails:", &*status.message);
            if let Some(failure) = failure {
                node = node.fact("because:", failure.class.name());
            }
            TreeNode::new(NodeKind::Channel, name).with(node)
        }
    }
}

fn document(args: &TreeArgs, opened: &Session, outcome: &Outcome<'_>) -> TreeJson {
    let (mut service_config, mut children, errors): (Value, Map<String, Value>, _) = match outcome {
        Outcome::Config(config, generated) => {
            let Generated { children, errors } = build::generate(config, generated, &opened.client.profile);
            let children = match args.layout {
                Layout::A75 => children,
                Layout::A37 => legacy::children(config, generated),
            };
            let errors: Vec<Value> = errors
                .iter()
                .map(|(cluster, status)| {
                    json!({ "cluster": cluster, "code": status.code.name(), "message": &*status.message })
                })
                .collect();
            let form = TreeForm::of(opened.client.profile.client().family);
            let service_config = (form.service_config)(generated);
            (service_config, children.into_iter().collect(), errors)
        }
        Outcome::Fails(status, _) => {
            let error = json!({ "cluster": null, "code": status.code.name(), "message": &*status.message });
            (Value::Null, Map::new(), vec![error])
        }
    };
    if !args.channel.input.show_secrets {
        SecretPlace::POLICIES.redact(&mut service_config);
        children
            .values_mut()
            .for_each(|child| SecretPlace::POLICIES.redact(child));
    }
    TreeJson {
        schema: SCHEMA,
        service_config,
        cds_children: children,
        errors,
    }
}
