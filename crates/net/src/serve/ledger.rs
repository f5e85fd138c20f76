//! Compares what clients have said about each resource with what was predicted.

use std::collections::{BTreeMap, BTreeSet};

use super::peer::PeerAnswer;
use super::snapshot::{Prediction, Snapshot, SnapshotResource};
use xdsctl_model::text::plural;

/// A line to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerLine {
    /// The text of the line.
    pub text: String,
    /// Whether the line is about a rejection or about something that was not predicted, and not
    /// about a mere event.
    pub is_loud: bool,
}

impl LedgerLine {
    /// Returns a line about an event.
    pub const fn plain(text: String) -> LedgerLine {
        LedgerLine { text, is_loud: false }
    }

    /// Returns a line about a rejection, or about something that was not predicted.
    pub const fn loud(text: String) -> LedgerLine {
        LedgerLine { text, is_loud: true }
    }
}

/// The result of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerCounts {
    /// The number of resources about which a client has said something.
    pub judged: usize,
    /// The number of those that a client has rejected.
    pub rejected: usize,
    /// The number of those for which a client's verdict differs from the prediction.
    pub different: usize,
    /// The number of resources that no client has asked for.
    pub unasked: usize,
}

/// The verdict of one client on one resource: the client whose rules apply, the type URL and the
/// name.
type Place = (String, String, String);

/// The last verdict of each client on each resource: whether it rejects the resource, and whether
/// that differs from the prediction.
#[derive(Debug, Default)]
pub struct Ledger {
    verdicts: BTreeMap<Place, (bool, bool)>,
    /// The last version that each client has accepted.
    in_use: BTreeMap<Place, String>,
}

impl Ledger {
    /// Takes a client's answer and the prediction for this client. Returns the lines to print.
    pub fn take(&mut self, answer: &PeerAnswer, predicted: &Prediction) -> Vec<LedgerLine> {
        let kind = kind(&answer.type_url);
        let count = plural(answer.resources.len(), "resource");
        let what = format!("{kind} version {}, {count}", answer.version);
        let who = match answer.node.as_str() {
            "" => format!(" from {}", predicted.client),
            node => format!(" from `{node}`, {}", predicted.client),
        };
        let mut lines = Vec::new();
        let Some(rejection) = &answer.rejection else {
            lines.push(LedgerLine::plain(format!("ACK  {what}{who}")));
            for resource in &answer.resources {
                lines.extend(self.judge((answer, predicted), resource, None));
            }
            return lines;
        };
        let blamed = blamed(rejection, &answer.resources);
        lines.push(LedgerLine::loud(format!("NACK {what}{who}")));
        if blamed.is_empty() {
            // The client does not blame a certain resource.
            lines.push(LedgerLine::loud(format!("     client: {rejection}")));
        }
        for (index, resource) in answer.resources.iter().enumerate() {
            lines.extend(self.judge((answer, predicted), resource, blamed.get(&index).copied()));
        }
        lines
    }

    /// Records a verdict. `words` are the client's if it rejects the resource.
    fn judge(
        &mut self,
        (answer, predicted): (&PeerAnswer, &Prediction),
        resource: &SnapshotResource,
        words: Option<&str>,
    ) -> Vec<LedgerLine> {
        let kind = kind(&answer.type_url);
        let rejected = predicted.of(resource);
        let is_different = words.is_some() != rejected.is_some();
        let place = (
            predicted.client.clone(),
            resource.type_url.clone(),
            resource.name.clone(),
        );
        let in_use = match words {
            Some(_) => self.in_use.get(&place).cloned(),
            None => self.in_use.insert(place.clone(), answer.version.clone()),
        };
        let before = self.verdicts.insert(place, (words.is_some(), is_different));
        let is_known = before == Some((words.is_some(), is_different));
        if is_known || words.is_none() && !is_different {
            return Vec::new();
        }
        let title = if is_different { " DIFFERS" } else { "" };
        let mut lines = vec![
            format!("     {kind} `{}`{title}", resource.name),
            format!("       client: {}", words.unwrap_or("takes it")),
            format!("       xdsctl: {}", rejected.unwrap_or("takes it")),
        ];
        if let (Some(_), Some(version)) = (words, in_use) {
            lines.push(format!("       version {version} stays in use"));
        }
        lines.into_iter().map(LedgerLine::loud).collect()
    }

    /// Counts over all clients and resources whether the verdicts are as predicted.
    pub fn compared(&self, snapshot: &Snapshot) -> LedgerCounts {
        let judged: BTreeSet<(&str, &str)> = self
            .verdicts
            .keys()
            .map(|(_, url, name)| (url.as_str(), name.as_str()))
            .collect();
        let is_judged =
            |resource: &&SnapshotResource| judged.contains(&(resource.type_url.as_str(), resource.name.as_str()));
        LedgerCounts {
            judged: self.verdicts.len(),
            rejected: self.verdicts.values().filter(|(is_rejected, _)| *is_rejected).count(),
            different: self.verdicts.values().filter(|(_, is_different)| *is_different).count(),
            unasked: snapshot.iter().filter(|resource| !is_judged(resource)).count(),
        }
    }
}

/// Returns the last part of a type URL.
fn kind(type_url: &str) -> &str {
    type_url.rsplit(['.', '/']).next().unwrap_or_default()
}

/// Returns the resources that a client blames, by index, with its words. C-core and clients built
/// on it write `resource index 3: NAME: ...`; other clients write the names.
fn blamed<'r>(rejection: &'r str, resources: &[std::sync::Arc<SnapshotResource>]) -> BTreeMap<usize, &'r str> {
    const INDEX: &str = "resource index ";
    let mut found = BTreeMap::new();
    let starts: Vec<usize> = rejection.match_indices(INDEX).map(|(at, _)| at).collect();
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(rejection.len());
        let part = rejection.get(*start..end).unwrap_or_default();
        let digits = part.get(INDEX.len()..).unwrap_or_default();
        let digits = digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        if let Some(index) = digits.parse::<usize>().ok().filter(|index| *index < resources.len()) {
            // The text between two of them, or after the last.
            let words = part
                .strip_suffix("; ")
                .or_else(|| part.strip_suffix(']'))
                .unwrap_or(part);
            found.entry(index).or_insert(words);
        }
    }
    if found.is_empty() {
        for (index, resource) in resources.iter().enumerate() {
            let is_named = !resource.name.is_empty() && rejection.contains(&resource.name);
            if is_named || resources.len() == 1 {
                found.insert(index, rejection);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use xdsctl_model::profile::UserAgent;

    use super::*;

    const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

    /// Returns an answer of a client, and the prediction for each resource.
    fn answer(
        (client, version): (&str, &str),
        names: &[(&str, Option<&str>)],
        rejection: Option<&str>,
    ) -> (PeerAnswer, Prediction) {
        let resources = names.iter().map(|(name, _)| {
            Arc::new(SnapshotResource {
                type_url: CDS.to_owned(),
                name: (*name).to_owned(),
                value: bytes::Bytes::new(),
            })
        });
        let rejected = names
            .iter()
            .filter_map(|(name, why)| Some(((CDS.to_owned(), (*name).to_owned()), (*why)?.to_owned())));
        let answer = PeerAnswer {
            node: String::new(),
            agent: UserAgent::default(),
            type_url: CDS.to_owned(),
            version: version.to_owned(),
            resources: resources.collect(),
            rejection: rejection.map(str::to_owned),
        };
        let predicted = Prediction {
            client: client.to_owned(),
            rejected: rejected.collect(),
        };
        (answer, predicted)
    }

    fn take(ledger: &mut Ledger, (answer, predicted): (PeerAnswer, Prediction)) -> Vec<LedgerLine> {
        ledger.take(&answer, &predicted)
    }

    const GO: (&str, &str) = ("go@1.85.0", "1");

    #[test]
    fn a_rejection_is_laid_beside_the_prediction() {
        let mut ledger = Ledger::default();
        let words = "xDS response validation errors: [resource index 0: a: INVALID_ARGUMENT: x; resource index 2: c: INVALID_ARGUMENT: [y]]";
        let all = [("a", Some("p")), ("b", None), ("c", None)];
        let lines = take(&mut ledger, answer(GO, &all, Some(words)));
        let text: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(
            text,
            [
                "NACK Cluster version 1, 3 resources from go@1.85.0",
                "     Cluster `a`",
                "       client: resource index 0: a: INVALID_ARGUMENT: x",
                "       xdsctl: p",
                "     Cluster `c` DIFFERS",
                "       client: resource index 2: c: INVALID_ARGUMENT: [y]",
                "       xdsctl: takes it",
            ]
        );
        let compared = ledger.compared(&Snapshot::default());
        assert_eq!((compared.judged, compared.rejected, compared.different), (3, 2, 1));
    }

    #[test]
    fn a_client_that_takes_what_was_to_be_rejected_differs() {
        let mut ledger = Ledger::default();
        let lines = take(&mut ledger, answer(GO, &[("a", Some("p"))], None));
        assert!(lines.iter().any(|line| line.text.ends_with(" DIFFERS")), "{lines:?}");
        assert_eq!(ledger.compared(&Snapshot::default()).different, 1);
    }

    #[test]
    fn others_name_resources_without_a_number() {
        let mut ledger = Ledger::default();
        let words = "validating \"a1\": no";
        take(&mut ledger, answer(GO, &[("a1", Some("p")), ("b1", None)], Some(words)));
        let compared = ledger.compared(&Snapshot::default());
        assert_eq!((compared.rejected, compared.different), (1, 0));
    }

    #[test]
    fn each_client_is_compared_with_what_was_predicted_for_it() {
        let mut ledger = Ledger::default();
        take(&mut ledger, answer(GO, &[("a", None)], None));
        take(
            &mut ledger,
            answer(("node@1.14.1", "1"), &[("a", Some("p"))], Some("a: no")),
        );
        let compared = ledger.compared(&Snapshot::default());
        assert_eq!((compared.judged, compared.rejected, compared.different), (2, 1, 0));
    }

    #[test]
    fn the_version_before_a_rejected_one_stays_in_use() {
        let mut ledger = Ledger::default();
        take(&mut ledger, answer(GO, &[("a", None)], None));
        let lines = take(
            &mut ledger,
            answer(("go@1.85.0", "2"), &[("a", Some("p"))], Some("a: no")),
        );
        assert_eq!(lines.last().unwrap().text, "       version 1 stays in use");
        // Another client has not accepted any version.
        let lines = take(
            &mut ledger,
            answer(("node@1.14.1", "2"), &[("a", Some("p"))], Some("a: no")),
        );
        assert_eq!(lines.last().unwrap().text, "       xdsctl: p");
    }
}
