//! A test for a fleet: clients of several kinds, each with its share of all RPCs.
//!
//! Such a test stands for several tests. Each client is played alone, and what a step expects is
//! expected of that client. If a step expects something of all RPCs (`of_all`), one more test has
//! all clients on one clock, with RPCs distributed by their shares.

use std::sync::Arc;

use crate::{PlannedClient, PlannedStep, Test};

/// All RPCs together, in the unit of weights: a weight counts millionths of them.
pub const WHOLE: f64 = 1e6;

/// Returns the tests that a test of a fleet stands for. A test without a fleet stays as it is.
pub(crate) fn tests(test: Test) -> Vec<Test> {
    if test.fleet.is_empty() {
        return vec![test];
    }
    let mut tests: Vec<Test> = (0..test.fleet.len())
        .filter_map(|number| alone(&test, number))
        .collect();
    if test.steps.iter().any(|step| !step.of_all.is_empty()) {
        tests.push(together(test));
    }
    tests
}

/// Returns the test of one client of the fleet, without the steps for other clients.
fn alone(test: &Test, number: usize) -> Option<Test> {
    let client = test.fleet.get(number)?;
    let is_its = |step: &&PlannedStep| step.client.is_none_or(|of| of == number);
    let own = |step: &PlannedStep| PlannedStep {
        client: None,
        of_all: Vec::new(),
        ..step.clone()
    };
    Some(Test {
        name: named(&test.name, &client.name),
        // An only client has no name.
        clients: Arc::from([PlannedClient {
            name: String::new(),
            ..client.clone()
        }]),
        steps: test.steps.iter().filter(is_its).map(own).collect(),
        fleet: Arc::default(),
        ..test.clone()
    })
}

/// Returns the test of all clients together, with only the checks of all RPCs.
fn together(test: Test) -> Test {
    let all = |step: PlannedStep| PlannedStep {
        expect: step.of_all,
        of_all: Vec::new(),
        ..step
    };
    Test {
        name: named(&test.name, "all by their shares"),
        clients: test.fleet,
        fleet: Arc::default(),
        steps: test.steps.into_iter().map(all).collect(),
        never: Arc::default(),
        ..test
    }
}

fn named(name: &str, client: &str) -> String {
    match name {
        "" => client.to_owned(),
        name => format!("{name} ({client})"),
    }
}
