//! What lookup services (RLS) answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use xdsctl_lb::policy::{LookupAnswer, LookupResult};
use xdsctl_lb::runtime::Lookup;
use xdsctl_model::status::{Code, Status};

/// Time from the start of a lookup to its answer, in milliseconds.
pub const LOOKUP_MS: i64 = 1;

/// An answer that lookups may get.
#[derive(Debug, Clone, PartialEq)]
pub struct LookupReply {
    /// The service whose lookups get this answer, as a target URI; `None` for any service.
    pub service: Option<String>,
    /// The keys and values that a lookup must have to get this answer. It may have more.
    pub keys: BTreeMap<String, String>,
    /// Time from the start of a lookup to this answer, in milliseconds; `None` for [`LOOKUP_MS`].
    pub after_ms: Option<i64>,
    /// The result of the lookup.
    pub result: LookupResult,
}

/// The answers of all lookup services. The first one that fits counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lookups(pub Arc<[LookupReply]>);

impl Lookups {
    /// Returns the result of a lookup, and after how many milliseconds it comes.
    pub fn reply(&self, lookup: &Lookup) -> (i64, LookupResult) {
        let fits = |reply: &&LookupReply| {
            reply.service.as_ref().is_none_or(|service| *service == lookup.service)
                && reply
                    .keys
                    .iter()
                    .all(|(key, value)| lookup.keys.get(key) == Some(value))
        };
        let (after_ms, result) = match self.0.iter().find(fits) {
            Some(reply) => (reply.after_ms.unwrap_or(LOOKUP_MS), reply.result.clone()),
            None => (LOOKUP_MS, Arc::new(Err(self.unanswered(&lookup.service)))),
        };
        if after_ms > lookup.timeout_ms {
            let late = Status::new(Code::DeadlineExceeded, "Deadline Exceeded");
            return (lookup.timeout_ms, Arc::new(Err(late)));
        }
        (after_ms, result)
    }

    fn unanswered(&self, service: &str) -> Status {
        match self.0.is_empty() {
            true => Status::unavailable(format!(
                "nobody answers at `{service}`, as no `lookups` say what it answers"
            )),
            false => Status::new(
                Code::NotFound,
                format!("none of the `lookups` answers these keys at `{service}`"),
            ),
        }
    }

    /// The targets that the answers name.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        let answers = self.0.iter().filter_map(|reply| reply.result.as_ref().as_ref().ok());
        answers.flat_map(|answer: &LookupAnswer| answer.targets.iter().map(|target| &**target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(service: &str, user: &str) -> Lookup {
        Lookup {
            at: Arc::from([]),
            number: 0,
            service: service.to_owned(),
            keys: Arc::new([("user".to_owned(), user.to_owned()), ("c".to_owned(), "v".to_owned())].into()),
            timeout_ms: 100,
        }
    }

    fn reply(service: Option<&str>, user: Option<&str>, after_ms: i64, target: &str) -> LookupReply {
        LookupReply {
            service: service.map(str::to_owned),
            keys: user
                .map(|user| ("user".to_owned(), user.to_owned()))
                .into_iter()
                .collect(),
            after_ms: Some(after_ms),
            result: Arc::new(Ok(LookupAnswer {
                targets: vec![target.into()],
                header_data: "".into(),
            })),
        }
    }

    #[test]
    fn the_first_answer_that_fits_counts() {
        let lookups = Lookups(Arc::from([
            reply(Some("a"), Some("ann"), 7, "x"),
            reply(None, Some("ann"), 8, "y"),
            reply(None, Some("bob"), 101, "z"),
        ]));
        let asked = |service: &str, user: &str| {
            let (after, result) = lookups.reply(&lookup(service, user));
            let target = result.as_ref().as_ref().map(|answer| answer.targets[0].to_string());
            (after, target.map_err(|status| status.code))
        };
        assert_eq!(asked("a", "ann"), (7, Ok("x".to_owned())));
        assert_eq!(asked("b", "ann"), (8, Ok("y".to_owned())));
        assert_eq!(asked("b", "eve"), (1, Err(Code::NotFound)));
        assert_eq!(asked("b", "bob"), (100, Err(Code::DeadlineExceeded)));
        assert_eq!(lookups.targets().collect::<Vec<_>>(), ["x", "y", "z"]);
        let nobody = Lookups::default().reply(&lookup("a", "ann")).1;
        assert_eq!(nobody.as_ref().as_ref().unwrap_err().code, Code::Unavailable);
    }
}
