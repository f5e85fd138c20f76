//! Suites that are written for people to continue. They have what happened, and expectations that
//! hold whatever chance does.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde_json::Value as Json;

use super::rewrite::{yaml, yaml_text};
use xdsctl_document::source::node::{JsonNode, Value};
use xdsctl_lb::runtime::Time;
use xdsctl_model::resource::ResourceType;

/// A suite of one test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// Comments at its head.
    pub comments: Vec<String>,
    /// The targets of the channels. Several targets are clients that are named after them.
    pub targets: Vec<String>,
    /// The files of the world; if there are none, `world` is the world.
    pub files: Vec<String>,
    /// The resources of the world.
    pub world: Vec<JsonNode>,
    /// Backends that accept no connection at first; `true` if they do not even refuse it.
    pub unreachable: Vec<(SocketAddr, bool)>,
    /// The steps, in order.
    pub steps: Vec<Drafted>,
}

/// A step of a draft.
#[derive(Debug, Clone, PartialEq)]
pub struct Drafted {
    /// A comment before the step; may be empty.
    pub comment: String,
    /// The number of the step's client, if there are several.
    pub client: Option<usize>,
    /// What the step does.
    pub action: DraftAction,
    /// What is expected of the step.
    pub expect: Vec<Expected>,
    /// Whether the log lacks something that decides where RPCs go. An expectation that never holds
    /// is then put into the comment, and not expected.
    pub is_partial: bool,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum DraftAction {
    /// Time passes, in milliseconds.
    Sleep(Time),
    /// RPCs are sent and awaited, with these members of `pick`.
    Pick(Vec<(&'static str, Json)>),
    /// RPCs are sent, with these members of `begin`.
    Begin(Vec<(&'static str, Json)>),
    /// The RPCs of this name are awaited.
    Finish(String),
    /// A step for these backends: `stop`, `start`, `silence` or `drop`.
    Backends(&'static str, Vec<SocketAddr>),
    /// Resources are sent.
    Update(Vec<JsonNode>),
    /// Resources are removed.
    Remove(Vec<(ResourceType, String)>),
}

/// An expectation of a draft.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The member of `expect`.
    pub member: &'static str,
    /// The value of the member.
    pub value: Json,
    /// Whether this expectation says less than the last one before it that is not weaker. It is
    /// used if that one depends on chance.
    pub is_weaker: bool,
}

/// What happened to the expectations of a draft.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DraftOutcome {
    /// The number of expectations that were removed because they hold with some seeds only, or
    /// because a weaker one holds with all.
    pub chance: usize,
    /// The number of expectations in partial steps that hold with no seed. A comment says each.
    pub commented: usize,
    /// The expectations that hold with no seed, by step and member.
    pub failing: Vec<(usize, &'static str)>,
    /// Why the suite cannot be played to its end.
    pub stop: Option<String>,
}

/// The number of seeds that a draft is played with. What one RPC in ten does happens with at least
/// one of them, in all but one draft in a thousand.
pub const SEEDS: u64 = 64;

/// The expectations that were not met, by step and place.
pub type Unmet = BTreeSet<(usize, usize)>;

/// How often an expectation was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Met {
    Always,
    Sometimes,
    Never,
}

impl Draft {
    /// Keeps the expectations that do not depend on chance.
    ///
    /// `runs` has the expectations that were not met when the draft was played, once with each
    /// seed, or why it cannot be played.
    pub fn keep_certain(&mut self, runs: Result<Vec<Unmet>, String>) -> DraftOutcome {
        let mut outcome = DraftOutcome::default();
        let runs = match runs {
            Ok(runs) => runs,
            Err(why) => {
                self.steps
                    .iter_mut()
                    .for_each(|step| step.expect.retain(|expected| !expected.is_weaker));
                outcome.stop = Some(why);
                return outcome;
            }
        };
        for (number, step) in self.steps.iter_mut().enumerate() {
            let met = |place: usize| {
                let failed = runs.iter().filter(|unmet| unmet.contains(&(number, place))).count();
                match failed {
                    0 => Met::Always,
                    all if all == runs.len() => Met::Never,
                    _ => Met::Sometimes,
                }
            };
            let met: Vec<Met> = (0..step.expect.len()).map(met).collect();
            let expect = std::mem::take(&mut step.expect);
            let mut places = expect.into_iter().zip(met).peekable();
            while let Some((strong, met)) = places.next() {
                let mut weaker = Vec::new();
                while let Some(one) = places.next_if(|(expected, _)| expected.is_weaker) {
                    weaker.push(one);
                }
                let holds = !weaker.is_empty() && weaker.iter().all(|(_, met)| *met == Met::Always);
                match met {
                    Met::Always => step.expect.push(strong),
                    Met::Never if !holds && step.is_partial => {
                        outcome.commented += 1;
                        step.comment += &format!("; then the log has `{}: {}`", strong.member, yaml(&strong.value));
                    }
                    Met::Never if !holds => {
                        outcome.failing.push((number, strong.member));
                        step.expect.push(strong);
                    }
                    Met::Never | Met::Sometimes => {
                        outcome.chance += 1;
                        let kept = weaker.into_iter().filter(|(_, met)| *met == Met::Always);
                        step.expect.extend(kept.map(|(expected, _)| Expected {
                            is_weaker: false,
                            ..expected
                        }));
                    }
                }
            }
        }
        outcome
    }

    /// Writes the suite as YAML.
    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        for comment in &self.comments {
            out.push_str(&format!("# {}\n", one_line(comment)));
        }
        let files: Vec<Json> = self.files.iter().map(|file| file.as_str().into()).collect();
        match files.as_slice() {
            [] => {}
            [file] => out.push_str(&format!("world: {}\n", yaml(file))),
            _ => out.push_str(&format!("world: {}\n", yaml(&files.into()))),
        }
        match self.targets.as_slice() {
            [] => {}
            [target] => out.push_str(&format!("target: {}\n", yaml_text(target))),
            several => {
                out.push_str("clients:\n");
                for target in several {
                    out.push_str(&format!("  {}: {{target: {}}}\n", yaml_text(target), yaml_text(target)));
                }
            }
        }
        if !self.unreachable.is_empty() {
            out.push_str("backends:\n");
        }
        for (address, is_silent) in &self.unreachable {
            let reach = if *is_silent { "silent" } else { "refuse" };
            out.push_str(&format!("  {}: {{reach: {reach}}}\n", yaml_text(&address.to_string())));
        }
        out.push_str("steps:\n");
        self.steps.iter().for_each(|step| self.step(step, &mut out));
        if self.files.is_empty() {
            out.push_str("world:\n");
        }
        for resource in &self.world {
            out.push_str("- ");
            block(resource, 2, &mut out);
        }
        out
    }

    fn step(&self, step: &Drafted, out: &mut String) {
        if !step.comment.is_empty() {
            out.push_str(&format!("# {}\n", one_line(&step.comment)));
        }
        match &step.action {
            DraftAction::Sleep(ms) => out.push_str(&format!("- sleep: {}\n", seconds(*ms))),
            DraftAction::Pick(members) => out.push_str(&format!("- pick: {}\n", flow(members))),
            DraftAction::Begin(members) => out.push_str(&format!("- begin: {}\n", flow(members))),
            DraftAction::Finish(name) => out.push_str(&format!("- finish: {}\n", yaml_text(name))),
            DraftAction::Backends(verb, addresses) => {
                let texts: Vec<Json> = addresses.iter().map(|address| address.to_string().into()).collect();
                let value = match texts.as_slice() {
                    [one] => one.clone(),
                    _ => texts.into(),
                };
                out.push_str(&format!("- {verb}: {}\n", yaml(&value)));
            }
            DraftAction::Update(resources) => {
                out.push_str("- update:\n");
                for resource in resources {
                    out.push_str("  - ");
                    block(resource, 4, out);
                }
            }
            DraftAction::Remove(names) => {
                let pair = |(kind, name): &(ResourceType, String)| Json::from(vec![kind.type_url(), name.clone()]);
                let pairs: Vec<Json> = names.iter().map(pair).collect();
                out.push_str(&format!("- remove: {}\n", yaml(&pairs.into())));
            }
        }
        if let Some(target) = step.client.and_then(|client| self.targets.get(client)) {
            out.push_str(&format!("  client: {}\n", yaml_text(target)));
        }
        if !step.expect.is_empty() {
            let members: Vec<(&str, Json)> = step
                .expect
                .iter()
                .map(|expected| (expected.member, expected.value.clone()))
                .collect();
            out.push_str(&format!("  expect: {}\n", flow(&members)));
        }
    }
}

/// Writes headers as a suite has them: an object, or pairs if a name occurs twice.
pub fn headers(pairs: &[(String, String)]) -> Json {
    let names: BTreeSet<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    match names.len() == pairs.len() {
        true => pairs
            .iter()
            .map(|(name, value)| (name.clone(), Json::from(value.as_str())))
            .collect(),
        false => pairs
            .iter()
            .map(|(name, value)| Json::from(vec![name.as_str(), value.as_str()]))
            .collect(),
    }
}

/// Writes milliseconds as seconds, without needless zeros.
pub fn seconds(ms: Time) -> String {
    (ms as f64 / 1000.0).to_string()
}

fn flow(members: &[(&str, Json)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("{name}: {}", yaml(value)))
        .collect();
    format!("{{{}}}", members.join(", "))
}

/// Replaces the characters that would end a comment before its line does.
fn one_line(text: &str) -> String {
    let is_odd = |c: char| c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
    text.chars().map(|c| if is_odd(c) { ' ' } else { c }).collect()
}

/// The most columns of a value that is written on one line.
const FLOW_COLUMNS: usize = 100;

/// Writes a value as a block of YAML whose further lines begin at `indent`.
fn block(node: &JsonNode, indent: usize, out: &mut String) {
    let is_resource = indent <= 4 && node.get("@type").is_some() && node.map().is_some_and(|members| members.len() > 1);
    if let Some(text) = on_line(node, indent).filter(|_| !is_resource) {
        out.push_str(&text);
        out.push('\n');
        return;
    }
    let pad = " ".repeat(indent);
    match &node.value {
        Value::Map(members) => {
            for (number, member) in members.iter().enumerate() {
                if number > 0 {
                    out.push_str(&pad);
                }
                out.push_str(&yaml_text(&member.name));
                out.push(':');
                inside(&member.node, indent, out);
            }
        }
        Value::List(list) => {
            for (number, node) in list.iter().enumerate() {
                if number > 0 {
                    out.push_str(&pad);
                }
                out.push_str("- ");
                block(node, indent + 2, out);
            }
        }
        _ => {}
    }
}

/// Writes the value of a member of a block.
fn inside(node: &JsonNode, indent: usize, out: &mut String) {
    if let Some(text) = on_line(node, indent) {
        out.push(' ');
        out.push_str(&text);
        out.push('\n');
        return;
    }
    // A list begins where its key does.
    let indent = if node.list().is_some() { indent } else { indent + 2 };
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    block(node, indent, out);
}

/// Returns a value as it is written on one line at this indent: all but long objects and lists.
fn on_line(node: &JsonNode, indent: usize) -> Option<String> {
    match &node.value {
        Value::Map(_) | Value::List(_) => short(node).filter(|text| text.len() + indent <= FLOW_COLUMNS),
        Value::Text(text) => Some(yaml_text(text)),
        _ => Some(node.to_json()),
    }
}

/// Returns a value on one line, if it is not too long for that. Members keep their order.
fn short(node: &JsonNode) -> Option<String> {
    let text = match &node.value {
        Value::List(list) => {
            let list: Option<Vec<String>> = list.iter().map(short).collect();
            format!("[{}]", list?.join(", "))
        }
        Value::Map(members) => {
            let member = |member: &xdsctl_document::source::node::JsonMember| {
                Some(format!("{}: {}", yaml_text(&member.name), short(&member.node)?))
            };
            let members: Option<Vec<String>> = members.iter().map(member).collect();
            format!("{{{}}}", members?.join(", "))
        }
        Value::Text(text) => yaml_text(text),
        _ => node.to_json(),
    };
    (text.len() <= FLOW_COLUMNS).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(member: &'static str, is_weaker: bool) -> Expected {
        Expected {
            member,
            value: "a".into(),
            is_weaker,
        }
    }

    fn draft() -> Draft {
        let expect = vec![
            expected("status", false),
            expected("address", false),
            expected("cluster", true),
            expected("locality", true),
        ];
        let step = Drafted {
            comment: String::new(),
            client: None,
            action: DraftAction::Sleep(1500),
            expect,
            is_partial: false,
        };
        Draft {
            steps: vec![step],
            ..Draft::default()
        }
    }

    /// Returns what is left if these expectations are not met with all seeds, or with every other
    /// one.
    fn left(always: &[usize], sometimes: &[usize]) -> (Vec<&'static str>, usize, Vec<(usize, &'static str)>) {
        let mut draft = draft();
        let run = |run: usize| {
            let sometimes = sometimes.iter().filter(|_| run.is_multiple_of(2));
            always.iter().chain(sometimes).map(|place| (0, *place)).collect()
        };
        let outcome = draft.keep_certain(Ok((0..8).map(run).collect()));
        let members = draft.steps[0].expect.iter().map(|expected| expected.member);
        (members.collect(), outcome.chance, outcome.failing)
    }

    #[test]
    fn what_chance_decides_is_not_expected() {
        assert_eq!(left(&[], &[]), (vec!["status", "address"], 0, vec![]));
        assert_eq!(left(&[], &[1]), (vec!["status", "cluster", "locality"], 1, vec![]));
        assert_eq!(left(&[1], &[]), (vec!["status", "cluster", "locality"], 1, vec![]));
        assert_eq!(left(&[], &[1, 3]), (vec!["status", "cluster"], 1, vec![]));
        assert_eq!(left(&[0], &[]), (vec!["status", "address"], 0, vec![(0, "status")]));
        assert_eq!(left(&[1, 2], &[]), (vec!["status", "address"], 0, vec![(0, "address")]));
    }

    #[test]
    fn what_a_partial_step_does_not_show_is_told() {
        let mut draft = draft();
        draft.steps[0].is_partial = true;
        let outcome = draft.keep_certain(Ok(vec![Unmet::from([(0, 1), (0, 2)]); 2]));
        assert_eq!((outcome.commented, outcome.failing.len()), (1, 0));
        assert_eq!(draft.steps[0].expect.len(), 1);
        assert_eq!(draft.steps[0].comment, "; then the log has `address: a`");
    }

    #[test]
    fn a_block_of_any_width_reads_back_as_the_same() {
        for width in 0..130 {
            let long = "x".repeat(width);
            let json =
                format!(r#"{{"@type":"t/a","a":{{"b":{{"c":{{"{long}":[{{"d":["{long}"]}}]}}}}}},"e":[["{long}"]]}}"#);
            let node = JsonNode::of_json(&json).unwrap();
            let mut draft = draft();
            draft.world = vec![node.clone()];
            draft.steps[0].action = DraftAction::Update(vec![node]);
            let mut sources = xdsctl_document::source::SourceMap::new();
            let id = sources.add("a.yaml", draft.to_yaml().into_bytes());
            let read = JsonNode::of(sources.get(id).unwrap()).unwrap().unwrap();
            assert_eq!(read.get("world").and_then(JsonNode::list).unwrap()[0].to_json(), json);
            let update = read.get("steps").and_then(JsonNode::list).unwrap()[0]
                .get("update")
                .unwrap();
            assert_eq!(update.list().unwrap()[0].to_json(), json);
        }
    }

    #[test]
    fn a_block_reads_back_as_the_same() {
        let long = "x".repeat(90);
        let json = format!(
            r#"{{"@type":"t/a","name":"{long}","list":[{{"a":"{long}","b":[1,2,{{"c":null}}]}},[["{long}"],[]],"x: y"],"on":{{"k":{{"{long}":true}}}},"n":"1"}}"#
        );
        let node = JsonNode::of_json(&json).unwrap();
        let mut draft = draft();
        draft.world = vec![
            node.clone(),
            JsonNode::of_json(r#"{"@type":"t/b","name":"é\n#"}"#).unwrap(),
        ];
        draft.steps[0].action = DraftAction::Update(vec![node.clone()]);
        let mut sources = xdsctl_document::source::SourceMap::new();
        let id = sources.add("a.yaml", draft.to_yaml().into_bytes());
        let read = JsonNode::of(sources.get(id).unwrap()).unwrap().unwrap();
        let world = read.get("world").and_then(JsonNode::list).unwrap();
        assert_eq!(world[0].to_json(), node.to_json(), "{}", draft.to_yaml());
        assert_eq!(world[1].to_json(), draft.world[1].to_json());
        let update = read.get("steps").and_then(JsonNode::list).unwrap()[0]
            .get("update")
            .unwrap();
        assert_eq!(update.list().unwrap()[0].to_json(), node.to_json());
    }
}
