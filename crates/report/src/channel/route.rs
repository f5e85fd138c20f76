//! The answer of `route`: every route that was tried, the one that takes the RPC, and the settings
//! that follow from it.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::edge;
use xdsctl_channel::rpc::{
    CLUSTER_PREFIX, ChainFilter, ChannelFacts, Mismatch, PLUGIN_PREFIX, Refusal, Request, Selection, Selector, hash,
    words,
};
use xdsctl_model::resource::domain::DomainClass;
use xdsctl_model::resource::filter::{FilterConfig, SessionCookie};
use xdsctl_model::resource::route::{HashPolicyKind, RetryPolicy};
use xdsctl_model::status::Status;
use xdsctl_model::text::percent;

/// The question and what was selected.
#[derive(Debug)]
pub struct RouteAnswer<'a> {
    /// The config selector, which has the routes.
    pub selector: &'a Selector,
    /// The RPC that was asked about.
    pub request: &'a Request<'a>,
    /// What the channel contributes to the RPC: its random number.
    pub channel: ChannelFacts,
    /// Why each of the routes before the chosen one does not take the RPC.
    pub tried: &'a [Mismatch],
    /// The route that takes the RPC, or why none does.
    pub selected: &'a Result<Selection<'a>, Refusal>,
    /// The status of the RPC if it fails although all backends answer.
    pub failure: Option<&'a Status>,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Whether values of headers that hold secrets are printed.
    pub shows_secrets: bool,
}

/// Describes a retry policy and the level that it comes from.
fn retry_words(policy: Option<&RetryPolicy>, inherited: bool) -> String {
    let Some(policy) = policy else {
        return "none".to_owned();
    };
    let level = if inherited { "virtual host" } else { "route" };
    if policy.retry_on.is_empty() {
        return format!("none: the policy of the {level} names no status that gRPC retries");
    }
    let codes: Vec<&str> = policy.retry_on.iter().map(|on| on.code().name()).collect();
    format!(
        "up to {} attempts on {}, back-off {} to {}, from the {level}",
        policy.max_attempts(),
        codes.join(", "),
        policy.base_interval,
        policy.max_interval
    )
}

/// Describes the effective config of a filter.
pub fn filter_words(filter: &ChainFilter) -> String {
    let origin = filter.config_level.name();
    let config = match &filter.config {
        FilterConfig::StatefulSession(Some(cookie)) => session_words(cookie),
        FilterConfig::StatefulSession(None) => "does nothing".to_owned(),
        FilterConfig::Fault(fault) => {
            let mut parts = Vec::new();
            if fault.delay.0 != 0 || fault.delay_from_header {
                let share = percent(u64::from(fault.delay_numerator), u64::from(fault.delay_denominator));
                let time = if fault.delay_from_header {
                    "as a header says".to_owned()
                } else {
                    fault.delay.to_string()
                };
                parts.push(format!("delays {share} by {time}"));
            }
            if fault.abort_code != 0 || fault.aborts_with_ok || fault.abort_from_header {
                let share = percent(u64::from(fault.abort_numerator), u64::from(fault.abort_denominator));
                let code =
                    xdsctl_model::status::Code::from_number(fault.abort_code).map_or("UNKNOWN", |code| code.name());
                let code = if fault.abort_from_header {
                    "what a header says"
                } else {
                    code
                };
                parts.push(format!("aborts {share} with {code}"));
            }
            if parts.is_empty() {
                "does nothing".to_owned()
            } else {
                parts.join(", ")
            }
        }
        FilterConfig::Described(description) if !description.words.is_empty() => description.words.clone(),
        FilterConfig::Router | FilterConfig::Rbac(_) | FilterConfig::Described(_) => {
            return filter.config.kind().to_owned();
        }
    };
    format!("{} {config}, config of the {origin}", filter.config.kind())
}

fn session_words(cookie: &SessionCookie) -> String {
    let path = if cookie.path.is_empty() {
        "any path"
    } else {
        &cookie.path
    };
    let age = if cookie.ttl.0 > 0 {
        format!("for {}", cookie.ttl)
    } else {
        "for the session".to_owned()
    };
    format!("cookie `{}` on {path} {age}", cookie.name)
}

/// Writes the answer for people.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_text(answer: &RouteAnswer<'_>, colour: bool, out: &mut dyn Write) -> io::Result<()> {
    let paint = |style: Style, text: &str| edge::paint(style, colour, text);
    let (bold, green, yellow, red) = (
        Style::new().bold(),
        AnsiColor::Green.on_default(),
        AnsiColor::Yellow.on_default(),
        AnsiColor::Red.on_default().bold(),
    );
    let config = answer.selector.config();
    if let Some(host) = config.virtual_host().filter(|_| !config.starts_at_cluster) {
        let domain = host.domains.get(config.domain.domain).map_or("", String::as_str);
        let class = match config.domain.class {
            DomainClass::Exact => "exactly",
            DomainClass::Suffix => "by its end",
            DomainClass::Prefix => "by its beginning",
            DomainClass::Universe => "as any",
        };
        let name = if host.name.is_empty() { "(unnamed)" } else { &host.name };
        let (authority, index) = (&config.authority, host.index);
        say!(
            out,
            "{}  virtual_hosts[{index}] {name}: domain `{domain}` matches `{authority}` {class}",
            paint(bold, "virtual host")
        )?;
    }
    let routes = answer.selector.routes();
    for (route, why) in routes.iter().zip(answer.tried) {
        let why = words::mismatch(route, *why, answer.request, !answer.shows_secrets);
        say!(out, "  {} {}: no, {why}", paint(yellow, "✗"), route.label())?;
    }
    let selection = match answer.selected {
        Ok(selection) => selection,
        Err(refusal) => {
            if let Refusal::InappropriateAction(position) = refusal
                && let Some(route) = routes.get(*position)
            {
                let action = words::inappropriate_action(route);
                say!(
                    out,
                    "  {} {}: {}, {action}",
                    paint(red, "!"),
                    route.label(),
                    words::route_match(route, !answer.shows_secrets)
                )?;
            }
            return say!(
                out,
                "{}  {}",
                paint(red, "fails"),
                refusal.status(answer.selector.config().asked, answer.request.path)
            );
        }
    };
    let Some(route) = routes.get(selection.route) else {
        return Ok(());
    };
    say!(
        out,
        "  {} {}: yes, {}",
        paint(green, "✓"),
        route.label(),
        words::route_match(route, !answer.shows_secrets)
    )?;
    let Some(action) = route.route_action() else {
        return Ok(());
    };
    for (title, text) in details(answer, selection, action) {
        say!(out, "{}  {text}", paint(bold, &format!("{title:12}")))?;
    }
    for filter in selection.chain.iter() {
        let words = filter_words(filter);
        if filter.disabled {
            let level = filter.disabled_level.name();
            say!(
                out,
                "{}  {}: switched off by the {level} ({words})",
                paint(bold, "filter      "),
                filter.name
            )?;
        } else {
            say!(out, "{}  {}: {words}", paint(bold, "filter      "), filter.name)?;
        }
    }
    if let Some(failure) = answer.failure {
        say!(out, "{}  {failure}", paint(red, "fails"))?;
    }
    Ok(())
}

/// Returns the settings that follow from the chosen route, by title, in words.
pub fn details(
    answer: &RouteAnswer<'_>,
    selection: &Selection<'_>,
    action: &xdsctl_model::resource::route::RouteAction,
) -> Vec<(&'static str, String)> {
    let mut details = Vec::new();
    let choices: Vec<(&str, u64)> = answer.selector.choices(selection.route).collect();
    let sum: u64 = choices.iter().map(|(_, share)| share).sum();
    if choices.len() > 1 {
        let list: Vec<String> = choices
            .iter()
            .map(|(key, share)| format!("{} {}", name_of(key), percent(*share, sum)))
            .collect();
        details.push((
            "cluster",
            format!(
                "{} of {}, seed {}",
                name_of(selection.selected_key),
                list.join(", "),
                answer.seed
            ),
        ));
    } else {
        details.push(("cluster", name_of(selection.selected_key).into_owned()));
    }
    let plugin = selection.selected_key.strip_prefix(PLUGIN_PREFIX);
    let lookup = plugin.and_then(|plugin| words::lookup(answer.selector, answer.request, plugin));
    details.extend(lookup.map(|words| ("lookup", words)));
    for session in &selection.sessions {
        details.push(("session", words::session(session)));
    }
    if selection.fault.abort.is_none() {
        let idle = words::idle_sessions(selection.chain, answer.request.path);
        details.extend(idle.map(|why| ("session", why)));
    }
    if selection.key != selection.selected_key {
        details.push((
            "cluster",
            format!("{} instead, as the cookie says", name_of(selection.key)),
        ));
    }
    details.push(("hash", hash_words(answer, selection, action)));
    details.push((
        "timeout",
        match (selection.timeout, action.max_stream_duration) {
            (Some(timeout), Some(_)) => format!("{timeout}, from the route"),
            (Some(timeout), None) => format!("{timeout}, from the listener"),
            (None, Some(_)) => "none: the route sets 0".to_owned(),
            (None, None) => "none".to_owned(),
        },
    ));
    details.push(("retries", retry_words(selection.retry, action.retry_policy_inherited)));
    if action.auto_host_rewrite {
        details.push(("authority", "rewritten to the endpoint's hostname".to_owned()));
    }
    if action.untrusted_host_rewrite {
        let why = "not rewritten: auto_host_rewrite counts only from a `trusted_xds_server`";
        details.push(("authority", why.to_owned()));
    }
    details
}

fn name_of(key: &str) -> Cow<'_, str> {
    match key.strip_prefix(PLUGIN_PREFIX) {
        Some(plugin) => Cow::Owned(format!("what plugin `{plugin}` looks up for each RPC, unknown here")),
        None => Cow::Borrowed(key.strip_prefix(CLUSTER_PREFIX).unwrap_or(key)),
    }
}

fn hash_words(
    answer: &RouteAnswer<'_>,
    selection: &Selection<'_>,
    action: &xdsctl_model::resource::route::RouteAction,
) -> String {
    let mut parts = Vec::new();
    for policy in &action.hash_policies {
        let what = match &policy.kind {
            HashPolicyKind::ChannelId => "channel id".to_owned(),
            HashPolicyKind::Header {
                name, rewrite: None, ..
            } => format!("header `{name}`"),
            HashPolicyKind::Header {
                name,
                rewrite: Some((regex, with)),
                ..
            } => {
                format!("header `{name}` with `{}` → `{with}`", regex.as_str())
            }
        };
        let value = match hash::of_policy(policy, answer.request, answer.channel.id) {
            Some(hash) => format!("{hash:016x}"),
            None => "no value".to_owned(),
        };
        let terminal = if policy.terminal { ", terminal" } else { "" };
        parts.push(format!("{what} {value}{terminal}"));
    }
    let origin = match (selection.hash_is_random, parts.is_empty()) {
        (false, _) => parts.join("; "),
        (true, true) => "random: the route has no hash policy".to_owned(),
        (true, false) => format!("random: {}", parts.join("; ")),
    };
    format!("{:016x} ({origin})", selection.hash)
}
