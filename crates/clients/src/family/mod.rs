//! What clients other than C-core do with a resource: one converter a family, in that client's own order.
//!
//! The families differ from C-core in most rules and in order (Go stops at the first fault, Node hands wrappers to the wrong
//! parser), so each has a straight converter of its own in a folder here, and `validate` knows nothing of them. A resource is decoded
//! once; [`ask`] hands the message to the converter of each client that is asked. What really is the same (matchers, addresses, LB
//! configs) is shared from below: [`convert`](crate::convert), [`lb`](xdsctl_lb), [`filter`](crate::filter).
//!
//! The same fault has the same rule in every family; one that C-core does not know stands in [`rules`] if several families know
//! it, and in the file that finds it if one does. Versions are features: `cx.has(Feature::X)`, declared in `profile/feature.rs`.

mod go;
mod java;
mod names;
mod node;
pub mod rules;

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;

use crate::validate::{self, RESOURCE_UNDECODABLE};
use xdsctl_document::proto::pb::envoy::config;
use xdsctl_document::proto::wire::Malformed;
use xdsctl_model::diag::{self, Allowance, Cx, Diagnostic, Effect, Path, Rule};
use xdsctl_model::profile::{Client, ClientStanding, Family, Profile, ServerFacts};
use xdsctl_model::resource::ResourceType;

/// Why there is no filter for the URL of a config; that of a config that is missing is empty.
fn no_filter_of(url: &str) -> String {
    match url {
        "" => "typed_config is missing, must hold the config of a filter".to_owned(),
        url => format!("the client has no filter of type `{url}`"),
    }
}

/// What stands before the type in every type URL that a client compares whole.
const URL_PREFIX: &str = "type.googleapis.com/";

/// The rules that one family alone knows, in the files that find them.
pub static PART_RULES: &[&[&Rule]] = &[
    go::http_filter::RULES,
    go::rbac::RULES,
    java::fault::RULES,
    java::listener::RULES,
    node::http_filter::RULES,
    node::lb::RULES,
    node::listener::RULES,
    node::routes::RULES,
];

/// A resource, decoded once for all clients that are asked about it.
#[derive(Debug, Clone, Copy)]
pub enum Message<'m> {
    /// `envoy.config.listener.v3.Listener`.
    Listener(&'m config::listener::v3::Listener),
    /// `envoy.config.route.v3.RouteConfiguration`.
    RouteConfiguration(&'m config::route::v3::RouteConfiguration),
    /// `envoy.config.cluster.v3.Cluster`.
    Cluster(&'m config::cluster::v3::Cluster),
    /// `envoy.config.endpoint.v3.ClusterLoadAssignment`.
    Endpoints(&'m config::endpoint::v3::ClusterLoadAssignment),
}

/// A resource as it was sent.
#[derive(Debug, Clone, Copy)]
pub struct SentResource<'m> {
    /// Its type.
    pub resource_type: ResourceType,
    /// The message, or what C-core's parser trips over; another client's parser may not.
    pub message: Result<Message<'m>, Malformed>,
    /// The bytes of the message.
    pub bytes: &'m Bytes,
    /// The name that stands around it, in a discovery Resource or a dump.
    pub outer_name: Option<&'m str>,
}

/// What a client answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FamilyVerdict {
    /// It takes the resource.
    Accepted,
    /// It NACKs it.
    Rejected,
    /// Its process dies of it.
    Dies,
    /// It is not known: this version was not measured, and its neighbours differ.
    NotKnown,
}

impl FamilyVerdict {
    /// The word used in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            FamilyVerdict::Accepted => "accepted",
            FamilyVerdict::Rejected => "rejected",
            FamilyVerdict::Dies => "dies",
            FamilyVerdict::NotKnown => "not_known",
        }
    }
}

/// The answer of one client.
#[derive(Debug)]
pub struct FamilyAnswer {
    /// Who answers.
    pub client: Client,
    /// What it does with the resource.
    pub verdict: FamilyVerdict,
    /// Why, and what else it makes of it, in the order in which it comes across it.
    pub diagnostics: Findings,
}

/// Findings of a client. Those of its other versions are mostly the same, and are there once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings(Option<Arc<Vec<Diagnostic>>>);

impl Deref for Findings {
    type Target = [Diagnostic];

    fn deref(&self) -> &[Diagnostic] {
        self.0.as_ref().map_or(&[], |list| list.as_slice())
    }
}

impl From<Vec<Diagnostic>> for Findings {
    fn from(list: Vec<Diagnostic>) -> Findings {
        Findings((!list.is_empty()).then(|| Arc::new(list)))
    }
}

impl Findings {
    /// Takes out those that `keep` does not want; it is asked once for each, in order.
    pub fn retain(&mut self, mut keep: impl FnMut(&Diagnostic) -> bool) {
        let kept: Vec<bool> = self.iter().map(&mut keep).collect();
        if kept.contains(&false)
            && let Some(list) = &mut self.0
        {
            let mut kept = kept.into_iter();
            Arc::make_mut(list).retain(|_| kept.next().unwrap_or(true));
        }
    }

    /// Adds more.
    pub fn extend(&mut self, more: Vec<Diagnostic>) {
        Arc::make_mut(self.0.get_or_insert_default()).extend(more);
    }

    /// Keeps what is allowed, and the first of each kind; the others are counted.
    pub fn cut(&mut self, allowance: Allowance) {
        if self.len() > allowance.first {
            // Others may have the same list: only what is kept is copied.
            let mut list: Vec<Cow<'_, Diagnostic>> = self.iter().map(Cow::Borrowed).collect();
            diag::cut(&mut list, allowance, |finding| finding, Cow::Owned);
            *self = Findings::from(list.into_iter().map(Cow::into_owned).collect::<Vec<_>>());
        }
    }

    /// Says whether both are one list in memory.
    pub fn is_same(&self, other: &Findings) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    /// The findings alone.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.0.map_or_else(Vec::new, Arc::unwrap_or_clone)
    }
}

/// Why a converter stops: what follows is never looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConverterStop {
    /// The resource is rejected; the finding says why.
    Rejected,
    /// The process dies; the finding says of what.
    Dies,
}

/// What a converter that stops at the first fault returns.
pub type Checked<T = ()> = Result<T, ConverterStop>;

/// Reports a rejection; the converter stops with what it returns.
#[cold]
pub fn reject(rule: &'static Rule, at: &Path<'_>, message: std::fmt::Arguments<'_>, cx: &mut Cx<'_>) -> ConverterStop {
    cx.report_as(Effect::Nack, rule, at, message);
    ConverterStop::Rejected
}

/// Reports what kills the process; the converter stops with what it returns.
#[cold]
pub fn die(rule: &'static Rule, at: &Path<'_>, message: std::fmt::Arguments<'_>, cx: &mut Cx<'_>) -> ConverterStop {
    cx.report_as(Effect::Fails, rule, at, message);
    ConverterStop::Dies
}

/// Says whether a type URL is exactly that of a message.
fn is_url_of(url: &str, type_name: &str) -> bool {
    url.strip_prefix(URL_PREFIX) == Some(type_name)
}

/// The resource, for a client whose parser takes what C-core's takes.
pub fn decoded<'m>(sent: &SentResource<'m>, cx: &mut Cx<'_>) -> Checked<Message<'m>> {
    sent.message.map_err(|fault| undecodable(sent.resource_type, fault, cx))
}

/// Reports that the client cannot parse the resource.
#[cold]
pub fn undecodable(kind: ResourceType, fault: impl fmt::Display, cx: &mut Cx<'_>) -> ConverterStop {
    let name = kind.short_name();
    let message = format_args!("not a valid {name}: {fault}");
    reject(&RESOURCE_UNDECODABLE, &Path::ROOT, message, cx)
}

/// Asks clients about a resource, and gives their answers in the same order.
///
/// A client that was found to answer by features that another version has alike is not asked again in its place: most resources hang on few of
/// the features in which versions differ.
pub fn ask_all(sent: &SentResource<'_>, profiles: &[Profile], server: &ServerFacts) -> Vec<FamilyAnswer> {
    let mut answers: Vec<FamilyAnswer> = Vec::with_capacity(profiles.len());
    let mut heard: Vec<(Profile, usize)> = Vec::new();
    for profile in profiles {
        let client = profile.client();
        let is_measured = client.standing() == ClientStanding::Measured;
        let mut like = heard
            .iter()
            .rev()
            .filter(|(other, _)| is_measured && other.speaks_for(profile));
        if let Some(same) = like.find_map(|(_, at)| answers.get(*at)) {
            answers.push(same.of(client));
            continue;
        }
        // A copy of its own notes what it is asked about this resource.
        let own = profile.clone();
        let answer = ask(sent, &own, server).beside(&answers);
        if is_measured {
            heard.push((own, answers.len()));
        }
        answers.push(answer);
    }
    answers
}

/// Asks a client about a resource.
///
/// A version between two measured ones is answered by the older where both agree; see [`ClientStanding`].
pub fn ask(sent: &SentResource<'_>, profile: &Profile, server: &ServerFacts) -> FamilyAnswer {
    let client = profile.client();
    match client.standing() {
        ClientStanding::Measured => answer(sent, profile, server),
        ClientStanding::Between(before, after) => {
            let neighbour = |version| answer(sent, &profile.at_version(version), server);
            let (older, newer) = (neighbour(before), neighbour(after));
            if older.verdict == newer.verdict {
                FamilyAnswer { client, ..older }
            } else {
                FamilyAnswer::not_known(client)
            }
        }
        ClientStanding::Unknown => FamilyAnswer::not_known(client),
    }
}

impl FamilyAnswer {
    fn not_known(client: Client) -> Self {
        FamilyAnswer {
            client,
            verdict: FamilyVerdict::NotKnown,
            diagnostics: Findings::default(),
        }
    }

    /// The same answer of another client.
    fn of(&self, client: Client) -> Self {
        FamilyAnswer {
            client,
            verdict: self.verdict,
            diagnostics: self.diagnostics.clone(),
        }
    }

    /// Says whether it has its findings in common with another one; two lists may be equal all the same.
    pub fn is_as(&self, other: &FamilyAnswer) -> bool {
        self.diagnostics.is_same(&other.diagnostics)
    }

    /// The same, with findings in common with one of the answers just before it.
    pub fn beside(mut self, before: &[FamilyAnswer]) -> Self {
        self.share(before);
        self
    }

    /// Has its findings in common with one of the answers just before it, if they are the same.
    pub fn share(&mut self, before: &[FamilyAnswer]) {
        let mut near = before.iter().rev().take(NEAR);
        if let Some(same) = near.find(|other| other.diagnostics == self.diagnostics) {
            self.diagnostics = same.diagnostics.clone();
        }
    }
}

/// Answers before one that are compared with it: versions stand in order.
const NEAR: usize = 2;

fn answer(sent: &SentResource<'_>, profile: &Profile, server: &ServerFacts) -> FamilyAnswer {
    let mut cx = Cx::new(profile, server).sized(sent.bytes.len());
    let outcome = match profile.client().family {
        Family::Cpp => validate::again(sent, &mut cx),
        Family::Go => go::convert(sent, &mut cx),
        Family::Java => java::convert(sent, &mut cx),
        Family::Node => node::convert(sent, &mut cx),
    };
    let verdict = match outcome {
        Err(ConverterStop::Dies) => FamilyVerdict::Dies,
        Err(ConverterStop::Rejected) => FamilyVerdict::Rejected,
        Ok(()) if cx.nacked() => FamilyVerdict::Rejected,
        Ok(()) => FamilyVerdict::Accepted,
    };
    FamilyAnswer {
        client: profile.client(),
        verdict,
        diagnostics: cx.finish().into(),
    }
}
