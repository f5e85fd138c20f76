//! Finds expectations that can never fail or never hold: they are reported as notes, and the test
//! runs anyway.

use std::collections::BTreeMap;

use super::check::{Check, CheckKind, RpcCheck};
use super::{PlannedStep, Suite, Test};
use xdsctl_channel::sim::script::Step;
use xdsctl_document::source::Span;

/// Makes a suite of the tests of a file, with notes on such expectations.
pub(super) fn of(mut tests: Vec<Test>) -> Suite {
    let mut guards: BTreeMap<(usize, usize), (Span, usize, bool)> = BTreeMap::new();
    for (number, test) in tests.iter_mut().enumerate() {
        let has_jar = test.steps.iter().any(|step| sends_with_jar(step.step.as_ref()));
        // Several tests may share a `never`, and one of them may send with a jar.
        for never in test.never.iter() {
            for check in never.checks.iter().filter(|check| is_moves(check)) {
                let key = (check.span.start, check.span.end);
                guards.entry(key).or_insert((check.span, number, false)).2 |= has_jar;
            }
        }
        let without = of_steps(&test.steps);
        let words = "`moves` compares the RPCs of a `jar`, and those of the step have none: it is never true";
        test.notes
            .extend(without.into_iter().map(|span| (span, words.to_owned())));
    }
    for (span, number, _) in guards.into_values().filter(|(_, _, has_jar)| !has_jar) {
        let words = "`moves` compares the RPCs of a `jar`, and no RPC has one: it is never true";
        if let Some(test) = tests.get_mut(number) {
            test.notes.push((span, words.to_owned()));
        }
    }
    Suite { tests }
}

/// Returns where `moves` is expected of RPCs without a jar.
fn of_steps(steps: &[PlannedStep]) -> Vec<Span> {
    let mut begun: BTreeMap<&str, bool> = BTreeMap::new();
    let mut found = Vec::new();
    for planned in steps {
        let has_jar = match &planned.step {
            Some(Step::Finish(name)) => begun.get(name.as_str()).copied().unwrap_or(true),
            step => sends_with_jar(step.as_ref()),
        };
        if let Some(Step::Begin { name, .. }) = &planned.step {
            begun.insert(name, has_jar);
        }
        let moves = planned.expect.iter().filter(|check| is_moves(check) && !has_jar);
        found.extend(moves.map(|check| check.span));
    }
    found
}

fn sends_with_jar(step: Option<&Step>) -> bool {
    let sending = step.and_then(Step::sending);
    sending.is_some_and(|sending| sending.jar.is_some())
}

const fn is_moves(check: &Check) -> bool {
    matches!(check.what, CheckKind::Rpc(RpcCheck::Moves(_)))
}
