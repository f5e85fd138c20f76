//! `validate --explain-error`: shows only the findings that a line of a client's log is about.

use crate::io::input::Inputs;
use crate::{Error, Io};
use xdsctl_channel::client::target::Target;
use xdsctl_lint::decide::CheckOutcome;
use xdsctl_lint::recognise::{self, Page, Recognised, place};
use xdsctl_model::resource::ResourceType;

/// Rules on a channel's listener that a line may be about.
const OF_CHANNEL: [&str; 3] = [
    "target-listener-missing",
    "target-listener-not-api",
    "target-without-virtual-host",
];

/// The rule for a channel whose authority has no virtual host.
const WITHOUT_HOST: &str = "target-without-virtual-host";

/// The words that clients write before an authority without a virtual host.
const BEFORE_AUTHORITY: [&str; 5] = [
    "could not find VirtualHost for ",
    "no matching virtual host found for ",
    "Failed to find virtual host matching hostname",
    "Could not find xDS virtual host matching RPC",
    "No matching route found for ",
];

/// A line of which at least a part is recognised.
pub(super) struct RecognisedLine {
    told: Vec<Recognised>,
    /// The authority that has no virtual host according to the line.
    authority: Option<String>,
}

impl RecognisedLine {
    /// Recognises the parts of a line.
    ///
    /// # Errors
    /// Nothing in the line is known.
    pub fn read(line: &str) -> Result<RecognisedLine, Error> {
        let mut told = recognise::recognised(line);
        // A part that no page knows may still name a resource and its fields.
        let is_vague = |one: &Recognised| one.pages.is_empty() && one.path.is_none() && one.resource_name.is_none();
        if told.iter().all(is_vague) {
            told.extend(recognise::unknown(line));
        }
        if told.is_empty() {
            let what = "nothing in the line of --explain-error is known to be a client's";
            return Err(Error::Usage(format!(
                "{what}; `xdsctl explain WORDS` searches the rules"
            )));
        }
        let authority = authority(line).map(str::to_owned);
        Ok(RecognisedLine { told, authority })
    }

    /// Says whether the line tells that a resource did not arrive. Then the place to show is a
    /// reference to it in the input.
    pub fn is_of_missing(&self) -> bool {
        self.told.iter().any(place::is_missing)
    }

    /// The authority of the channel to [`Self::target`], if the line names it.
    pub fn authority(&self) -> Option<&str> {
        self.authority.as_deref()
    }

    /// Returns the target of a channel whose listener is missing, is not for clients, or has no
    /// virtual host for the channel.
    pub fn target(&self) -> Option<String> {
        let is_channels = |one: &&Recognised| place::is_missing(one) || OF_CHANNEL.iter().any(|id| one.leads_to(id));
        let of_listener = |one: &Recognised| match one.resource_type {
            Some(ResourceType::Listener) => one.resource_name.clone(),
            _ => None,
        };
        let listener = self.told.iter().filter(is_channels).find_map(of_listener)?;
        // A listener name with `://` was made from the target by a template.
        (!listener.contains("://")).then(|| format!("xds:///{listener}"))
    }

    /// Keeps only the findings that the line is about, and says which parts of the line are not
    /// about a resource. If something was not looked for, returns why it is not known whether the
    /// fault is there.
    ///
    /// # Errors
    /// A stream cannot be written.
    pub fn keep(
        &self,
        outcome: &mut CheckOutcome,
        target: Option<&Target>,
        inputs: &Inputs,
        io: &mut Io<'_>,
    ) -> Result<Option<String>, Error> {
        let is_asked =
            |one: &Recognised| !one.leads_to(WITHOUT_HOST) || target.is_some_and(|target| self.is_of(target));
        let asked: Vec<Recognised> = self.told.iter().filter(|one| is_asked(one)).cloned().collect();
        let not_known = place::keep(outcome, &asked, inputs.documents.first().copied());
        let mut symptoms = 0;
        for one in self.told.iter().filter(|one| !place::is_missing(one)) {
            if let Some(Page::Symptom(symptom)) = one.pages.first().map(|lead| lead.page) {
                symptoms += 1;
                let (words, id) = (&one.words, symptom.id);
                writeln!(
                    io.err,
                    "note: `{words}` is not a fault of a resource: `xdsctl explain {id}` says where to look"
                )?;
            }
        }
        if asked.len() < self.told.len() {
            let authority = self.authority().unwrap_or("AUTHORITY");
            let why = format!(
                "the line tells of a channel with the authority `{authority}`, which was not checked: \
                 add --target xds:///NAME --authority {authority}, with the channel's own target"
            );
            return Ok(Some(why));
        }
        let is_of_none = symptoms == self.told.len();
        let of_none = is_of_none.then_some("the line tells of nothing that could be looked for in a resource");
        Ok(not_known.or(of_none).map(str::to_owned))
    }

    /// Says whether the line may be about a channel to this target.
    fn is_of(&self, target: &Target) -> bool {
        self.authority().is_none_or(|authority| authority == target.authority)
    }
}

/// Returns the authority without a virtual host that a line names.
fn authority(line: &str) -> Option<&str> {
    let behind = BEFORE_AUTHORITY
        .iter()
        .find_map(|words| Some(line.split_once(words)?.1))?;
    let is_around = |c: char| c.is_whitespace() || "\"'\\`:[({".contains(c);
    let is_end = |c: char| c.is_whitespace() || "\"'\\`,;)]}".contains(c);
    behind
        .trim_start_matches(is_around)
        .split(is_end)
        .next()
        .filter(|name| !name.is_empty())
}
