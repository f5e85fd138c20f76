//! `validate --explain-error`: of all findings only those that a line of a client's log is about.

use super::input::Inputs;
use super::{Error, Io};
use xdsctl::check::Outcome;
use xdsctl::model::ResourceType;
use xdsctl::recognise::{self, Page, Told, place};

/// Listeners of a channel that a line may be about.
const OF_CHANNEL: [&str; 3] = [
    "target-listener-missing",
    "target-listener-not-api",
    "target-without-virtual-host",
];

/// A line of which something is recognised.
pub(super) struct Line {
    told: Vec<Told>,
}

impl Line {
    /// Takes a line apart.
    ///
    /// # Errors
    /// Nothing in it is known.
    pub fn read(line: &str) -> Result<Line, Error> {
        let mut told = recognise::told(line);
        // What no page knows may still name a resource and its fields.
        if told.iter().all(|one| one.pages.is_empty() && one.path.is_none()) {
            told.extend(recognise::unknown(line));
        }
        if told.is_empty() {
            let what = "nothing in the line of --explain-error is known to be a client's";
            return Err(Error::Usage(format!(
                "{what}; `xdsctl explain WORDS` searches the rules"
            )));
        }
        Ok(Line { told })
    }

    /// The target of a channel whose listener is missing, not for a client, or without a virtual host.
    pub fn target(&self) -> Option<String> {
        let is_channels = |one: &&Told| OF_CHANNEL.iter().any(|id| one.leads_to(id));
        let of_listener = |one: &Told| match one.resource_type {
            Some(ResourceType::Listener) => one.resource_name.clone(),
            _ => None,
        };
        let listener = self.told.iter().filter(is_channels).find_map(of_listener)?;
        // A name in another form was made of the target by a template.
        (!listener.contains("://")).then(|| format!("xds:///{listener}"))
    }

    /// Keeps of an outcome what the line is about, and says what of the line no resource can show; `false` if the line names a
    /// resource that was not checked.
    ///
    /// # Errors
    /// Those of the streams.
    pub fn keep(&self, outcome: &mut Outcome, inputs: &Inputs, io: &mut Io<'_>) -> Result<bool, Error> {
        let is_checked = place::keep(outcome, &self.told, inputs.documents.first().copied());
        for one in &self.told {
            if let Some(Page::Symptom(symptom)) = one.pages.first().map(|lead| lead.page) {
                let (words, id) = (&one.words, symptom.id);
                writeln!(
                    io.err,
                    "note: `{words}` is not a fault of a resource: `xdsctl explain {id}` says where to look"
                )?;
            }
        }
        Ok(is_checked)
    }
}
