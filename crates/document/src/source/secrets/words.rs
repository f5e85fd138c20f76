//! Words that reveal nothing: names of fields and types, plain words of comments and of errors. All
//! decisions about words are made here.

use std::collections::HashSet;
use std::sync::OnceLock;

use xdsctl_proto::tables::{self, ENUMS, MESSAGES};

use super::known::{BOOTSTRAP, CLUSTERS, KUBERNETES, POLICY, SUITE};

/// The writer of a text, who decides which of its words are harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// A person, in a comment.
    Author,
    /// A client or a control plane, which may quote anything.
    Peer,
}

/// The greatest length of a plain word, in letters.
const MAX_LETTERS: usize = 20;

/// The greatest length of a peer's word that is harmless whatever it is, such as `LB` or `cds`, in
/// letters.
const MAX_SHORT: usize = 3;

/// The greatest number of digits of a number, with those after its points and dashes.
const MAX_DIGITS: usize = 6;

/// Common names that are written in mixed case.
const NAMES: &[&str] = &["gRPC", "xDS"];

/// Characters that may be around a word.
const AROUND: &[char] = &[
    '.', ',', ';', ':', '!', '?', '(', ')', '"', '\'', '`', '#', '-', '=', '[', ']',
];

/// Words that occur in errors.
const PEER_WORDS: &str = "a accepted after all already an and any are as at be because but by cannot client config \
    configuration connection could deadline decoding did does duplicate either empty entry error errors exceeded exist \
    expected extension failed failure field fields filter found for from given got greater has have in incompatible \
    index internal invalid is it its json key least less list malformed map match matching message missing more must name \
    no non none not null number object of on one only or out parse parsing permission plugin policy present proto range \
    received refused regex registered rejected required resource resources response route server set should string such \
    supported than that the timed timeout to too type types unable unavailable unexpected unknown unmarshal unsupported \
    update url used validating validation value values virtual was when which while with without wrong xds xdsctl zero";

/// Says whether a word is the name of a field, a type (with or without its package), a value of an
/// enum, or a key of one of xdsctl's formats.
pub fn is_known_word(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let fields = MESSAGES.iter().flat_map(|message| message.fields);
        let values = ENUMS.iter().flat_map(|item| item.values).map(|(name, _)| *name);
        let types = MESSAGES
            .iter()
            .filter_map(|message| message.full_name.rsplit('.').next());
        let known = [&BOOTSTRAP, &POLICY, &CLUSTERS, &SUITE, &KUBERNETES].into_iter();
        fields
            .flat_map(|field| [field.name, field.json_name])
            .chain(values)
            .chain(types)
            .chain(known.flat_map(super::known::KnownKeys::all))
            .chain(["@type", "true", "false", "null"])
            .collect()
    });
    words.contains(word) || tables::message(word.rsplit('/').next().unwrap_or_default()).is_some()
}

/// Says whether a word is the name of an enum value, and cannot be any other value.
pub fn is_enum_value(word: &str) -> bool {
    static VALUES: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let values = VALUES.get_or_init(|| {
        ENUMS
            .iter()
            .flat_map(|item| item.values)
            .map(|(name, _)| *name)
            .collect()
    });
    values.contains(word)
}

/// Says whether a word reveals nothing: it is made of letters, the name of a field or similar, or a
/// number. Punctuation around it does not matter.
///
/// ```
/// use xdsctl_document::source::secrets::{Speaker, is_plain_word};
/// assert!(is_plain_word("(round-robin,", Speaker::Author) && !is_plain_word("hunter2", Speaker::Author));
/// assert!(is_plain_word("lb_policy", Speaker::Peer) && !is_plain_word("swordfish", Speaker::Peer));
/// ```
pub fn is_plain_word(word: &str, speaker: Speaker) -> bool {
    let inner = word.trim_matches(AROUND);
    let stem = inner.split_once('\'').map_or(inner, |(stem, end)| match end {
        "s" | "t" | "re" | "ll" | "ve" | "d" | "m" => stem,
        _ => inner,
    });
    let is_number = |piece: &str| piece.bytes().all(|byte| byte.is_ascii_digit());
    let is_even = |piece: &str| {
        let mut rest = piece.chars().skip(1);
        piece.chars().all(char::is_alphabetic)
            && piece.chars().count() <= MAX_LETTERS
            && (rest.all(char::is_lowercase) || piece.chars().all(char::is_uppercase))
    };
    let has_few_digits = || stem.bytes().filter(u8::is_ascii_digit).count() <= MAX_DIGITS;
    let is_usual = match speaker {
        Speaker::Author => {
            stem.split(['-', '_', '.', '/'])
                .all(|piece| is_number(piece) || is_even(piece))
                && has_few_digits()
        }
        Speaker::Peer => {
            let mut usual = PEER_WORDS.split_ascii_whitespace();
            let is_short = stem.len() <= MAX_SHORT && stem.bytes().all(|byte| byte.is_ascii_alphabetic());
            is_short || is_number(stem) && has_few_digits() || usual.any(|usual| usual.eq_ignore_ascii_case(stem))
        }
    };
    is_usual || NAMES.contains(&stem) || is_known_word(inner)
}

/// Returns the free text of a peer as it may be printed: plain words, and asterisks for others.
///
/// ```
/// use xdsctl_document::source::secrets::peer_words;
/// assert_eq!(peer_words("[field:lb_policy error:unknown `hunter2`]"), "[field:lb_policy error:unknown `*******`]");
/// ```
pub fn peer_words(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = is_part(first);
        let end = rest.find(|c| is_part(c) != is_word).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        if !is_word || is_plain_word(piece, Speaker::Peer) {
            out.push_str(piece);
        } else {
            out.extend(piece.chars().map(|_| '*'));
        }
        rest = after;
    }
    out
}

/// Says whether a key is a part of some text, and not the name of a field.
pub fn is_piece(key: &str) -> bool {
    !key.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'@' | b'-'))
}
