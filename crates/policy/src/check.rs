//! Checks the resources of a world against the policies.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cel::{Budget, Evaluation, EvaluationStop, Failure, Scratch, Value, one_line};
use crate::policy::{Element, MAX_TEXT_BYTES, Policies, Policy, is_policy};
use crate::reach::{Index, Reach};
use crate::site::{Ground, Held, Site, Thing};
use crate::walk;
use xdsctl_channel::client::{Checked, World};
use xdsctl_document::load::in_parts;
use xdsctl_document::source::SourceMap;
use xdsctl_model::diag::{Diagnostic, Effect, FieldPath, Path, Quota, Rule};
use xdsctl_model::resource::{Resource, ResourceType};

/// The most steps of all evaluations in the worlds of a client. A finding counts as
/// [`FINDING_STEPS`].
const MAX_STEPS_IN_ALL: u64 = 200_000_000;

/// The steps that a finding takes besides the bytes of its message. A finding is kept, so their
/// number must be limited.
const FINDING_STEPS: u64 = 1_000;

/// What follows a message if its own expression failed to give it; the reason comes after that.
pub const UNSAID: &str = " (its messageExpression";

/// A policy, with its number in the list.
type NumberedPolicy<'p> = (usize, &'p Policy);

/// The policies, and what they look at besides the worlds.
#[derive(Debug, Clone, Copy)]
pub struct PolicyInput<'p> {
    /// The policies.
    pub policies: &'p Policies,
    /// The documents.
    pub sources: &'p SourceMap,
    /// Whether messages may have secrets in them.
    pub shows_secrets: bool,
}

/// Returns what the policies find in a world, with the numbers of the resources.
///
/// Resources are looked at on several threads. The findings do not depend on that: if all steps may
/// be used up, those that are left are given out in the order of the resources.
pub fn check(world: &World, resources: &[Checked], input: PolicyInput<'_>) -> Vec<(usize, Diagnostic)> {
    let mut by_element: [Vec<NumberedPolicy<'_>>; Element::ALL.len()] = Default::default();
    for (number, policy) in input.policies.list.iter().enumerate() {
        if let Some(list) = by_element.get_mut(policy.element as usize) {
            list.push((number, policy));
        }
    }
    let index = match input.policies.list.iter().any(Policy::looks_at_world) {
        true => Index::of(world, resources),
        false => Index::default(),
    };
    let written: Option<Vec<_>> = input.policies.list.iter().map(Policy::written).collect();
    let world_check = WorldCheck {
        world,
        resources,
        input,
        by_element,
        index: &index,
        written: written.map(|all| all.into_iter().flatten().collect()),
    };
    let all = ResourceType::ALL.into_iter().flat_map(|of| world.all(of));
    let all: Vec<(&str, usize)> = all.map(|(name, entry)| (name, entry.id.0)).collect();
    let taken = AtomicU64::new(0);
    let mut ahead = in_parts(&all, |of| {
        let mut budget = Budget::new(MAX_STEPS_IN_ALL);
        (taken.load(Ordering::Relaxed) < MAX_STEPS_IN_ALL).then(|| {
            let (list, _) = world_check.resource(*of, &mut budget);
            let steps = MAX_STEPS_IN_ALL - budget.left();
            taken.fetch_add(steps, Ordering::Relaxed);
            (list, steps)
        })
    })
    .into_iter();
    let mut budget = Budget::new(MAX_STEPS_IN_ALL);
    let mut found = Vec::new();
    for (name, number) in all {
        let (list, goes_on) = match ahead.next().flatten() {
            Some((list, steps)) if steps < budget.left() => (list, budget.spend(steps)),
            _ => world_check.resource((name, number), &mut budget),
        };
        found.extend(list.into_iter().map(|diagnostic| (number, diagnostic)));
        if !goes_on {
            break;
        }
    }
    found
}

/// A world that policies look at.
struct WorldCheck<'w> {
    world: &'w World,
    resources: &'w [Checked],
    input: PolicyInput<'w>,
    by_element: [Vec<NumberedPolicy<'w>>; Element::ALL.len()],
    index: &'w Index<'w>,
    /// The fields of `resource` that one of the policies looks at; `None` for all of them.
    written: Option<BTreeSet<&'w String>>,
}

impl WorldCheck<'_> {
    /// Returns what is found in a resource, and `false` if the limit of all steps is reached.
    fn resource(&self, (name, number): (&str, usize), budget: &mut Budget) -> (Vec<Diagnostic>, bool) {
        let checked = self.resources.get(number);
        let Some((checked, value)) = checked.and_then(|checked| Some((checked, checked.parsed.as_deref()?))) else {
            return (Vec::new(), true);
        };
        let policies = &self.input.policies.list;
        let work = budget.work();
        let reach = Reach::new(self.world, self.resources, self.index, work.clone());
        let ground = Ground {
            world: self.world,
            reach: &reach,
            work: &work,
            sources: self.input.sources,
            written: self.written.as_ref(),
            shows_secrets: self.input.shows_secrets,
        };
        let held = Held::new(checked, name, None);
        let mut resource_check = ResourceCheck {
            list: Vec::new(),
            quota: Quota::default(),
            known: BTreeSet::new(),
            is_about: vec![None; policies.len()],
            looked: vec![0; policies.len()],
            scratch: Scratch::default(),
        };
        resource_check.quota.fit(checked.origin.span.range().len());
        // The routes of a listener that are being looked at. Each filter chain has its own.
        let mut inline: Option<Rc<Held<'_>>> = None;
        let goes_on = walk::resource(value, &mut |thing, at| {
            if let Thing::RouteConfiguration(Some(chain), _) = thing {
                inline = Some(Held::new(checked, name, Some((chain, at.to_owned()))));
            }
            let policies = self.by_element.get(thing.element() as usize);
            let Some(policies) = policies.filter(|policies| !policies.is_empty()) else {
                return true;
            };
            let held = inline.as_ref().filter(|_| thing.is_of_routes()).unwrap_or(&held);
            let site = Site::new(ground, Rc::clone(held), thing);
            policies
                .iter()
                .all(|policy| resource_check.evaluate(*policy, &site, at, budget))
        });
        for (policy, looked) in policies.iter().zip(&resource_check.looked) {
            policy.looked.fetch_add(*looked, Ordering::Relaxed);
        }
        (resource_check.finish().collect(), goes_on)
    }
}

/// Returns the places of a resource that policies may look at, each before the places in it.
pub fn places(resource: &Resource) -> Vec<(Element, FieldPath)> {
    let mut places = Vec::new();
    walk::resource(resource, &mut |thing, at| {
        places.push((thing.element(), at.to_owned()));
        true
    });
    places
}

/// What has been found in a resource so far.
struct ResourceCheck<'a> {
    list: Vec<Diagnostic>,
    quota: Quota,
    /// Findings that are known already, by rule and text: routes share the retry policy of their
    /// virtual host, so it is looked at several times.
    known: BTreeSet<(&'static str, String)>,
    /// For each policy, whether it is about the resource, by name and target; `None` if that was
    /// not asked yet.
    is_about: Vec<Option<bool>>,
    /// For each policy, at how many places it was checked.
    looked: Vec<usize>,
    scratch: Scratch<'a>,
}

impl<'a> ResourceCheck<'a> {
    /// Says whether a policy wants the resource, by its name and by the listeners that lead to it.
    fn is_about(&mut self, (number, policy): NumberedPolicy<'_>, site: &Site<'_>) -> bool {
        if policy.name.is_none() && policy.target.is_none() {
            return true;
        }
        if let Some(Some(known)) = self.is_about.get(number) {
            return *known;
        }
        let is_about = policy.name.as_ref().is_none_or(|name| name.matches(site.held.name))
            && policy.target.as_ref().is_none_or(|target| {
                let is_it = |name: &str| target.matches(name);
                site.ground.reach.is_led_to(&site.held, site.thing, is_it)
            });
        if let Some(known) = self.is_about.get_mut(number) {
            *known = Some(is_about);
        }
        is_about
    }

    /// Checks a policy at a place. Returns `false` if the limit of all steps is reached.
    fn evaluate(
        &mut self,
        (number, policy): NumberedPolicy<'a>,
        site: &Site<'a>,
        at: &Path<'_>,
        budget: &mut Budget,
    ) -> bool {
        if !self.is_about((number, policy), site) {
            return true;
        }
        if let Some(looked) = self.looked.get_mut(number) {
            *looked += 1;
        }
        budget.begin();
        let root = |number| site.root(number, false);
        let mut evaluation = Evaluation::new(&root, &policy.variables, budget, &mut self.scratch);
        let mut diagnostic = match evaluation.value(&policy.expression) {
            Ok(Value::Bool(true)) => return true,
            Ok(Value::Bool(false)) => {
                let message = message(policy, site, budget, &mut self.scratch);
                Diagnostic::of_whole(policy.rule, message)
            }
            Ok(other) => failed(
                policy,
                &format!("the expression is {}, and must be a bool", other.kind()),
            ),
            Err(stop) => {
                let diagnostic = failed(policy, &told(policy, &policy.text, &stop));
                if budget.left() == 0 {
                    self.list.push(diagnostic);
                    return false;
                }
                diagnostic
            }
        };
        diagnostic.path = field_of(at, &policy.at);
        if matches!(site.thing, Thing::RetryPolicy(..))
            && !self.known.insert((
                diagnostic.rule.id,
                format!("{} {}", diagnostic.path, diagnostic.message),
            ))
        {
            return true;
        }
        diagnostic.help.clone_from(&policy.help);
        if !self.quota.admits(diagnostic.rule) {
            return true;
        }
        let bytes = diagnostic.message.len() + policy.help.as_ref().map_or(0, String::len);
        self.list.push(diagnostic);
        let goes_on = budget.spend(FINDING_STEPS + bytes as u64);
        if !goes_on {
            self.list
                .push(failed(policy, &told(policy, "", &EvaluationStop::Limit)));
        }
        goes_on
    }

    fn finish(self) -> impl Iterator<Item = Diagnostic> {
        let closing: Vec<Diagnostic> = self.quota.closing().collect();
        self.list.into_iter().chain(closing)
    }
}

/// Returns the path of a field of what is at a place.
fn field_of(at: &Path<'_>, fields: &[String]) -> FieldPath {
    match fields.split_first() {
        Some((first, rest)) => field_of(&at.field(first), rest),
        None => at.to_owned(),
    }
}

/// Returns the message for a place where the policy does not hold.
fn message<'a>(policy: &'a Policy, site: &Site<'a>, budget: &mut Budget, scratch: &mut Scratch<'a>) -> String {
    let plain = || match &policy.message {
        Some(message) => message.split_whitespace().collect::<Vec<_>>().join(" "),
        None => {
            format!("it is not so that `{}`", one_line(&policy.text))
        }
    };
    let Some((program, text)) = &policy.message_expression else {
        return plain();
    };
    let root = |number| site.root(number, true);
    let why = match Evaluation::new(&root, &policy.variables, budget, scratch).value(program) {
        Ok(Value::Text(text)) if text.len() > MAX_TEXT_BYTES => format!("gives more than {MAX_TEXT_BYTES} bytes"),
        Ok(Value::Text(text)) if !text.trim().is_empty() => return text.trim().replace('\n', " "),
        Ok(Value::Text(_)) => "is empty".to_owned(),
        Ok(other) => format!("gives {}", other.kind()),
        Err(stop) => format!("fails: {}", told(policy, text, &stop)),
    };
    policy.unsaid.fetch_add(1, Ordering::Relaxed);
    format!("{}{UNSAID} {why})", plain())
}

/// Says what went wrong, and in which part of the expression, whose text is given.
fn told(policy: &Policy, text: &str, stop: &EvaluationStop) -> String {
    let EvaluationStop::Failed(failure) = stop else {
        return "it takes more steps than there may be (docs/limits.md)".to_owned();
    };
    let Failure {
        why,
        span,
        variable,
        is_null,
    } = &**failure;
    let of_variable = variable.and_then(|number| policy.variable_texts.get(number));
    let text = of_variable.map_or(text, String::as_str);
    let part = text.get(span.clone()).unwrap_or_default();
    let part = one_line(part);
    match (is_null, part.is_empty()) {
        (true, true) => format!("null {why}: has() says whether there is something"),
        (true, false) if part.contains('.') => format!("`{part}` is null and {why}: ask `has({part}) && ...` first"),
        (true, false) => format!("`{part}` is null and {why}"),
        (false, true) => why.clone(),
        (false, false) => format!("{why}, in `{part}`"),
    }
}

/// Makes the finding that a policy cannot be checked at a place, which is worse than any other.
fn failed(policy: &Policy, why: &str) -> Diagnostic {
    Diagnostic {
        effect: Effect::Fails,
        ..Diagnostic::of_whole(policy.rule, format!("cannot be checked here: {why}"))
    }
}

/// Says whether a finding means that a policy could not be checked.
pub fn is_failed(rule: &Rule, effect: Effect) -> bool {
    effect == Effect::Fails && is_policy(rule)
}
