//! The answer of `admit` for programs, `xdsctl.admit/v1`. Fields are added, never changed.

use serde::Serialize;
use serde_json::Value;

use super::layers::{AdmitAnswer, has_shadow_rules, looks};
use super::{Sentence, told};
use crate::channel::retry::failed;
use xdsctl_model::resource::listener::chain_place;
use xdsctl_server::End;

/// Name of the schema of `--format json`.
const SCHEMA: &str = "xdsctl.admit/v1";

#[derive(Serialize)]
struct AdmitJson<'a> {
    schema: &'static str,
    /// `served`, `denied`, `refused`, `connected`, `handshake failed`, `closed`, `reset`, `program
    /// ended` or `not serving`.
    end: &'static str,
    /// The status of an RPC that does not reach the application.
    error: Option<Value>,
    /// Name of the Listener.
    listener: &'a str,
    /// The chain that takes the connection; null if none does.
    filter_chain: Option<String>,
    /// The virtual host that takes the RPC, by index; null if none does.
    virtual_host: Option<usize>,
    /// The index of the route in the virtual host.
    route: Option<usize>,
    /// The RBAC filters that the RPC reaches.
    rbac: Vec<RbacJson>,
    /// Every layer in words.
    layers: Vec<Sentence>,
    seed: u64,
}

#[derive(Serialize)]
struct RbacJson {
    filter: String,
    config_from: &'static str,
    allowed: bool,
    /// The name of the policy that matches; null if none does.
    policy: Option<String>,
    /// The audit loggers that record the decision.
    audit_loggers: Vec<String>,
    /// Whether there are shadow rules, which no server evaluates.
    shadow_rules: bool,
}

/// Returns the answer as a document.
pub fn document(answer: &AdmitAnswer<'_>, seed: u64) -> impl Serialize {
    let taken = answer.answer.taken.as_ref();
    let chosen = taken.and_then(|taken| taken.chain.chosen);
    let handled = answer.answer.handled.as_ref();
    let route = handled.and_then(|handled| match &handled.routes {
        xdsctl_server::routing::Routes::Held(held) => {
            let choice = handled.route.as_ref()?;
            Some((
                choice.virtual_host(held)?.index,
                choice.chosen(held).map(|route| route.index),
            ))
        }
        _ => None,
    });
    AdmitJson {
        schema: SCHEMA,
        end: answer.answer.end.name(),
        error: match &answer.answer.end {
            End::Refused(status) => Some(failed(status)),
            _ => None,
        },
        listener: &answer.server.listener,
        filter_chain: chosen.map(|(index, _)| chain_place(index)),
        virtual_host: route.map(|(host, _)| host),
        route: route.and_then(|(_, route)| route),
        rbac: rbac(answer),
        layers: told(answer),
        seed,
    }
}

fn rbac(answer: &AdmitAnswer<'_>) -> Vec<RbacJson> {
    let decided = looks(answer).into_iter().filter_map(|(look, decision)| {
        let decision = decision?;
        Some(RbacJson {
            filter: look.name.clone(),
            config_from: look.config_level.name(),
            allowed: decision.is_allowed,
            policy: decision.matched().map(|policy| policy.name.to_owned()),
            audit_loggers: decision.loggers.to_vec(),
            shadow_rules: has_shadow_rules(look),
        })
    });
    decided.collect()
}
