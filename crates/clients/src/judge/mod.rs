//! What clients do with a resource: it is decoded once, and each client that is asked judges it.
//!
//! Each family has a folder beside this one, with a converter that follows that client's order of
//! checks. A converter gets a resource and a profile, and what it reports is the client's
//! judgement; no converter knows of another. A new family is a folder and a line in [`converter`].
//! Differences between versions are features: `cx.has(Feature::X)`.

mod answer;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;

use xdsctl_document::proto::any;
use xdsctl_model::diag::{BytesKnowledge, Diagnostic, Effect, Packed, Path, READERS_BESIDE, Rule, Validation};
use xdsctl_model::profile::{ClientStanding, Family, Profile, ServerFacts};
use xdsctl_model::resource::{Resource, ResourceType};

use crate::shared::{Converter, ConverterStop, Message, Opened, SentResource};
use crate::{core, go, java, node, rust};

pub use answer::{FamilyAnswer, FamilyVerdict, Findings};

const fn converter(family: Family) -> &'static Converter {
    match family {
        Family::Cpp => &core::CONVERTER,
        Family::Go => &go::CONVERTER,
        Family::Java => &java::CONVERTER,
        Family::Node => &node::CONVERTER,
        Family::Rust => &rust::CONVERTER,
    }
}

/// The rules that one family alone knows.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let files = Family::ALL.into_iter().flat_map(|family| converter(family).rules);
    files.flat_map(|file| file.iter().copied())
}

/// What clients make of one resource.
#[derive(Debug, Default)]
pub struct Validated {
    /// `name` or `cluster_name`; empty when the bytes cannot be parsed.
    pub name: String,
    /// What the first client keeps; `None` when it rejects the resource.
    pub value: Option<Resource>,
    /// Whether it is known what the first client does with the resource: its version was measured,
    /// or the versions around it agree.
    pub is_known: bool,
    /// Findings in the order in which the first client comes across them.
    pub diagnostics: Vec<Diagnostic>,
    /// The answers of the other clients, in the order in which they were given.
    pub answers: Vec<FamilyAnswer>,
    /// What each of the other clients keeps, in the same order; equal values are mostly shared.
    pub values: Vec<Option<Arc<Resource>>>,
    /// The first client's process dies of the resource, which counts as rejected here.
    pub dies: bool,
    /// The first client rejects the resource, and the rejection names no resource.
    pub is_unnamed: bool,
    /// Findings on fields that the first client never reads, if they were to be packed (see
    /// [`Validation::packing`]).
    pub packed: Packed,
    /// For each of the clients beside the first one, the fields that it never reads; `None` if the
    /// converter would have taken another way for it (see [`Validation::reading_beside`]).
    pub(crate) unread_beside: Vec<Option<Packed>>,
}

/// Validates the wire bytes of a resource of type `resource_type`.
pub fn validate(resource_type: ResourceType, bytes: &Bytes, profile: &Profile, server: &ServerFacts) -> Validated {
    within(Validation::new(profile, server), resource_type, bytes, (None, &[]))
}

/// Asks a client, in a context that may know something about the resource, and then others.
pub fn within(
    cx: Validation<'_>,
    resource_type: ResourceType,
    bytes: &Bytes,
    (outer_name, others): (Option<&str>, &[Profile]),
) -> Validated {
    let of = (resource_type, bytes, outer_name);
    match resource_type {
        ResourceType::Listener => decoded(of, others, cx, |message| Message::Listener(message)),
        ResourceType::RouteConfiguration => decoded(of, others, cx, |message| Message::RouteConfiguration(message)),
        ResourceType::Cluster => decoded(of, others, cx, |message| Message::Cluster(message)),
        ResourceType::Endpoints => decoded(of, others, cx, |message| Message::Endpoints(message)),
    }
}

/// Decodes a resource, and has it judged.
fn decoded<T: prost::Message + Default>(
    (resource_type, bytes, outer_name): (ResourceType, &Bytes, Option<&str>),
    others: &[Profile],
    cx: Validation<'_>,
    of: for<'m> fn(&'m T) -> Message<'m>,
) -> Validated {
    let (server, known) = (cx.server(), cx.known().min(BytesKnowledge::WellFormed));
    let leads = leads(others);
    let is_reading_beside = !leads.is_empty() && cx.profile().is_reference() && cx.is_packing();
    let mut cx = match is_reading_beside {
        true => cx.reading_beside(&leads),
        false => cx,
    };
    let decoded = any::try_decode::<T>(bytes, resource_type.type_name(), &Path::ROOT, &mut cx);
    let opened = match others.is_empty() {
        true => Opened::default(),
        false => Opened::shared(),
    };
    let sent = SentResource {
        resource_type,
        message: decoded.as_ref().map(of).map_err(|fault| *fault),
        opened: &opened,
        bytes,
        outer_name,
    };
    let mut validated = judge_at_version(&sent, cx);
    sent.message.map_or("", Message::name).clone_into(&mut validated.name);
    if others.is_empty() {
        return validated;
    }
    let around = (server, known);
    let reading = match is_reading_beside {
        true => CoreReading {
            findings: Cow::Borrowed(&validated.diagnostics),
            unread: std::mem::take(&mut validated.unread_beside),
        },
        false => CoreReading::of(&sent, &leads, around),
    };
    (validated.answers, validated.values) = ask_all(&sent, (others, &leads), reading, around);
    validated
}

/// Returns the lead clients, for which C-core's converter reads a resource in one run: the first
/// client of each family but C-core.
fn leads(others: &[Profile]) -> Vec<Profile> {
    let mut leads: Vec<Profile> = Vec::new();
    let are_asked = |profile: &&Profile| {
        !profile.is_core() && profile.has_own_world() && profile.client().standing() == ClientStanding::Measured
    };
    for profile in others.iter().filter(are_asked) {
        let family = profile.client().family;
        if leads.iter().all(|lead| lead.client().family != family) {
            leads.push(profile.clone());
        }
    }
    leads.truncate(READERS_BESIDE);
    leads
}

/// Judges a resource for the client of a context. A version between two measured ones keeps what
/// the older one keeps, if both accept the resource or both reject it.
fn judge_at_version(sent: &SentResource<'_>, mut cx: Validation<'_>) -> Validated {
    let (profile, server) = (cx.profile(), cx.server());
    match profile.client().standing() {
        ClientStanding::Measured => convert(sent, cx, None).1,
        ClientStanding::Between(before, after) => {
            let neighbour = |version, packed| {
                let profile = profile.at_version(version);
                let cx = Validation::new(&profile, server).sized(sent.bytes.len());
                convert(sent, cx.packing_after(packed), None).1
            };
            let (older, newer) = (neighbour(before, cx.take_unread().0), neighbour(after, None));
            match older.value.is_some() == newer.value.is_some() {
                true => older,
                false => Validated::default(),
            }
        }
        ClientStanding::Unknown => Validated::default(),
    }
}

/// Judges a resource for a client whose version was measured; returns the verdict and what the
/// client makes of the resource. `read` is what C-core's converter has found for this client, if
/// that is known already.
fn convert(
    sent: &SentResource<'_>,
    mut cx: Validation<'_>,
    read: Option<(&[Diagnostic], Packed)>,
) -> (FamilyVerdict, Validated) {
    let converter = converter(cx.profile().client().family);
    let judged = (converter.judge)(sent, &mut cx);
    let verdict = match judged {
        Err(ConverterStop::Dies) => FamilyVerdict::Dies,
        Err(ConverterStop::Rejected | ConverterStop::Unnamed) => FamilyVerdict::Rejected,
        Ok(_) if cx.nacked() => FamilyVerdict::Rejected,
        Ok(_) => FamilyVerdict::Accepted,
    };
    let is_unnamed = matches!(judged, Err(ConverterStop::Unnamed));
    let value = judged.unwrap_or(None);
    let mut value = if cx.nacked() { None } else { value };
    let (profile, server, known) = (cx.profile(), cx.server(), cx.known().min(BytesKnowledge::WellFormed));
    let (packed, unread_beside) = cx.take_unread();
    let mut diagnostics = cx.finish();
    let fatal = diagnostics.iter_mut().filter(|d| d.effect == Effect::Fails);
    let mut dies = false;
    for diagnostic in fatal.filter(|d| converter.failures_kill && !converter.failing_later.contains(&d.rule)) {
        dies = true;
        diagnostic.effect = Effect::Nack;
        diagnostic.message = format!("{DIES}{}", diagnostic.message);
    }
    if dies {
        value = None;
    }
    if value.is_none() && !profile.is_core() {
        keep_only_faults(&mut diagnostics);
    }
    let packed = match (read, packed) {
        (Some((findings, unread)), _) => {
            add_shared(findings, (profile, value.is_some()), &mut diagnostics);
            unread
        }
        (None, Some(packed)) if !profile.is_core() => {
            let (findings, unread) = as_core_reads(sent, (profile, server, known), packed);
            add_shared(&findings, (profile, value.is_some()), &mut diagnostics);
            unread
        }
        (None, packed) => packed.unwrap_or_default(),
    };
    let validated = Validated {
        value,
        diagnostics,
        packed,
        unread_beside,
        dies,
        is_unnamed,
        is_known: true,
        ..Validated::default()
    };
    (verdict, validated)
}

/// Removes everything but the faults: a rejected resource has no other effect.
fn keep_only_faults(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.retain(|diagnostic| matches!(diagnostic.effect, Effect::Nack | Effect::Fails));
}

/// The text before the message of a finding of which the client's process dies.
const DIES: &str = "the process dies of it: ";

/// Rewrites the finding of which a client's process dies for reports in which death is a verdict of
/// its own: removes the prefix of the message, and sets the effect to [`Effect::Fails`].
pub fn turn_death_into_failure(diagnostic: &mut Diagnostic) {
    if let Some(message) = diagnostic.message.strip_prefix(DIES) {
        diagnostic.message = message.to_owned();
        diagnostic.effect = Effect::Fails;
    }
}

/// Returns what C-core's converter finds in a resource and is true of another client that accepts
/// it: findings of rules that are [shared](xdsctl_model::diag::Rule::shared), and the fields that
/// this client never reads, after those that are packed already.
///
/// The other families' converters stop at the first fault and look at nothing that is merely odd.
/// So whatever does not depend on the client is found by the one converter that looks at
/// everything.
fn as_core_reads(
    sent: &SentResource<'_>,
    (profile, server, known): (&Profile, &ServerFacts, BytesKnowledge),
    packed: Packed,
) -> (Vec<Diagnostic>, Packed) {
    let cx = Validation::new(&REFERENCE, server).sized(sent.bytes.len());
    let mut cx = cx.knowing(known).reading_as(profile, packed);
    // It does not matter what C-core keeps, or whether it stops.
    let _ = (core::CONVERTER.judge)(sent, &mut cx);
    let (packed, _) = cx.take_unread();
    (cx.finish(), packed.unwrap_or_default())
}

/// What C-core's converter finds in a resource for several clients in one run.
struct CoreReading<'v> {
    findings: Cow<'v, [Diagnostic]>,
    /// The fields that each of the [`leads`] never reads; `None` for a client for which the
    /// converter would have taken another way.
    unread: Vec<Option<Packed>>,
}

impl CoreReading<'_> {
    /// Reads a resource for the leads, as the reference client in its default environment.
    fn of(sent: &SentResource<'_>, leads: &[Profile], (server, known): Around<'_>) -> Self {
        if leads.is_empty() {
            let (findings, unread) = Default::default();
            return CoreReading { findings, unread };
        }
        let cx = Validation::new(&REFERENCE, server).sized(sent.bytes.len());
        let mut cx = cx.knowing(known).reading_beside(leads);
        any::note_unread(sent.bytes, sent.resource_type.type_name(), &Path::ROOT, &mut cx);
        let _ = (core::CONVERTER.judge)(sent, &mut cx);
        let (_, unread) = cx.take_unread();
        CoreReading {
            findings: cx.finish().into(),
            unread,
        }
    }
}

/// Adds the findings of C-core that are true of a client, if it accepts the resource and does not
/// have them already.
fn add_shared(findings: &[Diagnostic], (profile, is_taken): (&Profile, bool), diagnostics: &mut Vec<Diagnostic>) {
    let family = profile.client().family;
    for finding in findings.iter().filter(|_| is_taken) {
        let is_its = finding.effect != Effect::Nack && finding.shared.contains(&family);
        let mut own = diagnostics.iter();
        if is_its && !own.any(|own| own.rule == finding.rule && own.path == finding.path) {
            diagnostics.push(finding.clone());
        }
    }
}

/// What is known besides the resource: what the bootstrap says, and what the loader knows of the
/// bytes.
type Around<'s> = (&'s ServerFacts, BytesKnowledge);

/// The profile of the reference client. It is made once, because its features follow from all
/// changes between versions.
static REFERENCE: LazyLock<Profile> = LazyLock::new(Profile::default);

/// Asks clients about a resource; returns their answers and what they keep, in the order of
/// `profiles`.
///
/// A client gets the answer of another version, and is not asked again, if that answer depended on
/// no feature in which the two versions differ: most resources depend on few such features.
fn ask_all(
    sent: &SentResource<'_>,
    (profiles, leads): (&[Profile], &[Profile]),
    mut reading: CoreReading<'_>,
    around: Around<'_>,
) -> (Vec<FamilyAnswer>, Vec<Option<Arc<Resource>>>) {
    let mut answers: Vec<FamilyAnswer> = Vec::with_capacity(profiles.len());
    let mut values: Vec<Option<Arc<Resource>>> = Vec::with_capacity(profiles.len());
    let mut heard: Vec<(Cow<'_, Profile>, usize)> = Vec::new();
    for profile in profiles {
        let client = profile.client();
        let is_measured = client.standing() == ClientStanding::Measured;
        let mut like = heard
            .iter()
            .rev()
            .filter(|(other, _)| is_measured && other.answers_for(profile));
        let same = like.find_map(|(_, at)| Some((answers.get(*at)?.clone(), values.get(*at)?.clone())));
        if let Some((answer, value)) = same {
            answers.push(FamilyAnswer { client, ..answer });
            values.push(value);
            continue;
        }
        let lead = leads.iter().zip(0..).find(|(lead, _)| lead.client() == client);
        let read = lead.and_then(|(lead, number)| Some((lead, reading.unread.get_mut(number)?.take()?)));
        // The copy of the profile records which features are asked for in judging this resource.
        let (own, (mut answer, value)) = match read {
            Some((lead, unread)) => {
                let read = (&*reading.findings, unread);
                (Cow::Borrowed(lead), answer(sent, lead, Some(read), around))
            }
            None => {
                let own = profile.clone();
                let asked = ask(sent, &own, around);
                (Cow::Owned(own), asked)
            }
        };
        if is_measured {
            heard.push((own, answers.len()));
        }
        answer.share(&answers);
        answers.push(answer);
        values.push(value.map(|value| shared_value(value, &values)));
    }
    (answers, values)
}

/// Returns a value, or an equal one that another client keeps. Endpoints are not compared: there
/// may be many, and clients share what they keep of them already.
fn shared_value(value: Resource, known: &[Option<Arc<Resource>>]) -> Arc<Resource> {
    let is_same = |other: &&Arc<Resource>| !matches!(value, Resource::Endpoints(_)) && ***other == value;
    let same = known.iter().flatten().find(is_same).cloned();
    same.unwrap_or_else(|| Arc::new(value))
}

/// Asks a client about a resource.
///
/// For a version between two measured ones, the answer is that of the older one if both agree; see
/// [`ClientStanding`].
fn ask(sent: &SentResource<'_>, profile: &Profile, around: Around<'_>) -> (FamilyAnswer, Option<Resource>) {
    let client = profile.client();
    let not_known = || {
        let answer = FamilyAnswer {
            client,
            verdict: FamilyVerdict::NotKnown,
            diagnostics: Findings::default(),
        };
        (answer, None)
    };
    match client.standing() {
        ClientStanding::Measured => answer(sent, profile, None, around),
        ClientStanding::Between(before, after) => {
            let neighbour = |version| answer(sent, &profile.at_version(version), None, around);
            let ((older, value), (newer, _)) = (neighbour(before), neighbour(after));
            match older.verdict == newer.verdict {
                true => (FamilyAnswer { client, ..older }, value),
                false => not_known(),
            }
        }
        ClientStanding::Unknown => not_known(),
    }
}

fn answer(
    sent: &SentResource<'_>,
    profile: &Profile,
    read: Option<(&[Diagnostic], Packed)>,
    (server, known): Around<'_>,
) -> (FamilyAnswer, Option<Resource>) {
    let mut cx = Validation::new(profile, server).knowing(known).sized(sent.bytes.len());
    if profile.has_own_world() && read.is_none() {
        cx = cx.packing();
        // The message was decoded for the first client, which may read other fields.
        any::note_unread(sent.bytes, sent.resource_type.type_name(), &Path::ROOT, &mut cx);
    }
    let (verdict, validated) = convert(sent, cx, read);
    let (mut diagnostics, mut unread) = (validated.diagnostics, validated.packed);
    diagnostics.iter_mut().for_each(turn_death_into_failure);
    unread.take_from(&mut diagnostics, |found| found.effect == Effect::Ignored);
    unread.shrink();
    let answer = FamilyAnswer {
        client: profile.client(),
        verdict,
        diagnostics: Findings::new(diagnostics, unread),
    };
    (answer, validated.value)
}

#[cfg(test)]
mod tests;
