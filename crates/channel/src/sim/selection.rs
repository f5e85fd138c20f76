//! What the config selector decided for an RPC, kept as long as the RPC lives, and described for
//! people.

use crate::rpc::{ActiveSession, Mismatch, Refusal, Request, Selection, Selector, words};
use xdsctl_lb::picker::{StepKind, TraceStep};
use xdsctl_model::status::Status;

/// What was selected for an RPC.
#[derive(Debug)]
pub(super) struct Selected {
    /// Position of the route among the kept ones.
    pub position: usize,
    pub key: String,
    pub hash: u64,
    /// The timeout of the route or method, in milliseconds; `None` for none.
    pub timeout_ms: Option<i64>,
    /// How long fault injection holds the RPC back, in milliseconds; 0 for not at all.
    pub delay_ms: i64,
    pub abort: Option<Status>,
    pub sessions: Vec<ActiveSession>,
}

impl Selected {
    /// Keeps what an RPC needs of a selection.
    pub fn keep(selection: &Selection<'_>) -> Selected {
        Selected {
            position: selection.route,
            key: selection.key.to_owned(),
            hash: selection.hash,
            timeout_ms: selection.timeout.map(|timeout| timeout.0),
            delay_ms: selection.fault.delay.0,
            abort: selection.fault.abort.clone(),
            sessions: selection.sessions.clone(),
        }
    }
}

/// Traces which virtual host is in use, and why its routes do not take the RPC.
fn ways(selector: &Selector, request: &Request<'_>, tried: &[Mismatch], hides: bool) -> Vec<TraceStep> {
    let mut steps = Vec::new();
    let mut say = |kind, text: String| steps.push(TraceStep { kind, text });
    let config = selector.config();
    if let Some(host) = config.virtual_host().filter(|_| !config.starts_at_cluster) {
        let domain = host.domains.get(config.domain.domain).map_or("", String::as_str);
        say(
            StepKind::VirtualHost,
            format!("\"{}\" by its domain `{domain}`", host.name),
        );
        for (route, why) in host.routes.iter().zip(tried) {
            let why = words::mismatch(route, *why, request, hides);
            say(
                StepKind::Route { is_taken: false },
                format!("{}: no, {why}", route.label()),
            );
        }
    }
    steps
}

/// Traces which routes were tried, and which one takes the RPC but leads it nowhere.
pub(super) fn refusal_steps(
    selector: &Selector,
    request: &Request<'_>,
    refusal: Refusal,
    tried: &[Mismatch],
    hides: bool,
) -> Vec<TraceStep> {
    let mut steps = ways(selector, request, tried, hides);
    if let Refusal::InappropriateAction(position) = refusal
        && let Some(route) = selector.routes().get(position)
    {
        let (label, action) = (route.label(), words::inappropriate_action(route));
        let kind = StepKind::Route { is_taken: false };
        let text = format!("{label}: {}, {action}", words::route_match(route, hides));
        steps.push(TraceStep { kind, text });
    }
    steps
}

/// Describes the weight of the cluster that was drawn, if there are several.
fn weight(selector: &Selector, selection: &Selection<'_>) -> String {
    let weights = || selector.choices(selection.route).map(|(_, weight)| weight);
    match (weights().nth(selection.choice), weights().count()) {
        (Some(weight), 2..) => format!(", with {weight} of {}", weights().sum::<u64>()),
        _ => String::new(),
    }
}

/// Traces how the route and the rest were selected. `hides` masks the values of headers that hold
/// secrets.
pub(super) fn steps(
    selector: &Selector,
    request: &Request<'_>,
    selection: &Selection<'_>,
    tried: &[Mismatch],
    hides: bool,
) -> Vec<TraceStep> {
    let mut steps = ways(selector, request, tried, hides);
    let mut say = |kind, text: String| steps.push(TraceStep { kind, text });
    let config = selector.config();
    if let Some(host) = config.virtual_host().filter(|_| !config.starts_at_cluster) {
        if let Some(route) = host.routes.get(selection.route) {
            say(
                StepKind::Route { is_taken: true },
                format!(
                    "{}: takes it to {}{}",
                    route.label(),
                    selection.selected_key,
                    weight(selector, selection)
                ),
            );
        }
        let origin = if selection.hash_is_random {
            ", random: no hash policy applies"
        } else {
            ""
        };
        say(StepKind::RequestHash, format!("{:#018x}{origin}", selection.hash));
    }
    for session in &selection.sessions {
        say(StepKind::StatefulSession, words::session(session));
    }
    // After an abort no other filter runs.
    if selection.fault.abort.is_none() {
        for why in words::idle_sessions(selection.chain, request.path) {
            say(StepKind::StatefulSession, why);
        }
    }
    if selection.key != selection.selected_key {
        say(
            StepKind::Cluster,
            format!("{} instead, because of the cookie", selection.key),
        );
    }
    if selection.fault.delay.0 > 0 {
        say(StepKind::Fault, format!("delays for {}", selection.fault.delay));
    }
    if let Some(abort) = &selection.fault.abort {
        say(StepKind::Fault, format!("aborts with {abort}"));
    }
    if let Some(timeout) = selection.timeout {
        say(StepKind::Timeout, format!("{timeout} by configuration"));
    }
    steps
}
