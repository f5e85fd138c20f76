//! The message on a field that no version of a client reads.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::since::{self, MessageReads};
use super::{BEHAVIOUR_FIELD_IGNORED, FIELD_IGNORED, SECURITY_FIELD_IGNORED, missed};
use xdsctl_model::diag::FieldWords;
use xdsctl_model::profile::Profile;
use xdsctl_proto::tables::Field;

/// The message and number of a field, the name of those that do not read it, and whether its value
/// asks for nothing.
type Unread = (u16, u32, &'static str, bool);

thread_local! {
    static SAID: RefCell<HashMap<Unread, FieldWords>> = RefCell::default();
}

/// Returns the message. It is made once and shared, because thousands of resources have the same.
pub(super) fn of((reads, field): (&MessageReads, &'static Field), is_off: bool, reader: &Profile) -> FieldWords {
    let who = since::who(reader, field);
    let key = (reads.message.index(), field.number, who, is_off);
    SAID.with_borrow_mut(|said| {
        said.entry(key)
            .or_insert_with(|| words(reads, field, is_off, who))
            .clone()
    })
}

fn words(reads: &MessageReads, field: &Field, is_off: bool, who: &str) -> FieldWords {
    let text = format!("{who} does not read `{}`", field.name);
    if let Some(lost) = missed::security(reads.missed, field) {
        return (&SECURITY_FIELD_IGNORED, format!("{text}: {lost}").into(), None);
    }
    let text = Arc::from(text);
    match missed::instead(reads.missed, field).filter(|_| !is_off) {
        Some(instead) => (&BEHAVIOUR_FIELD_IGNORED, text, Some(instead)),
        None => (&FIELD_IGNORED, text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::profile::Client;
    use xdsctl_proto::tables::MESSAGES;

    #[test]
    fn of_each_field_the_same_is_said_again() {
        let profiles: Vec<Profile> = Client::parse_list("current")
            .unwrap()
            .into_iter()
            .map(Profile::of)
            .collect();
        for message in MESSAGES {
            let reads = since::reads(message.index());
            for (field, is_off) in message.fields.iter().flat_map(|field| [(field, false), (field, true)]) {
                for reader in &profiles {
                    let once = words(reads, field, is_off, since::who(reader, field));
                    for _ in 0..2 {
                        let said = of((reads, field), is_off, reader);
                        assert_eq!((said.0.id, &said.1, said.2), (once.0.id, &once.1, once.2));
                    }
                }
            }
        }
    }

    #[test]
    fn a_field_is_known_by_its_address() {
        // The compiler may merge equal tables. Then the same must be said of both.
        let mut known = HashMap::new();
        for message in MESSAGES {
            let reads = since::reads(message.index());
            for field in message.fields {
                let said = words(reads, field, false, "gRPC");
                let first = known
                    .entry(std::ptr::from_ref(field).addr())
                    .or_insert_with(|| said.clone());
                assert_eq!(
                    (first.0.id, &first.1, first.2),
                    (said.0.id, &said.1, said.2),
                    "{}",
                    message.full_name
                );
            }
        }
    }
}
