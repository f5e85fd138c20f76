//! What a text repeats: which key follows which, laid out how, and whole values.
//!
//! A dump holds the same few messages ten thousand times. Two things are kept for each field of
//! each message type: the text that led from its last value to the next one (comma, white space,
//! key, colon), and its last value with the bytes that it became. Where the text says the same
//! again, one comparison takes the place of reading it.
//!
//! A comparison that fails costs little, and one that keeps failing is given up for a while.

use xdsctl_proto::tables;

use xdsctl_model::diag::BytesKnowledge;

/// Making room takes as long as to read so many bytes.
pub(super) const WORTHWHILE: usize = 16 << 10;

/// Longest text between two values that is kept.
const MAX_STEP: usize = 96;

/// Comparisons of a value that may fail in a row.
const PATIENCE: u8 = 8;

/// After that, two in this many values are compared.
const RARELY: u8 = 32;

/// The way from one value of a message to its next one, or out of the message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ValueStep {
    /// Where it stands in the text.
    pub start: usize,
    /// Its length; 0 for none.
    pub len: u16,
    /// Where the name in its key starts in it.
    pub key: u16,
    /// The position of the field in its message; `None` for the end of the message.
    pub position: Option<u16>,
}

/// A value that has been read without fault, and the bytes that it became.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReadValue {
    /// Where it starts in the text.
    pub start: usize,
    /// Its length; 0 for none.
    pub len: usize,
    /// Where its bytes start in the output.
    pub wire: usize,
    /// How many bytes it became.
    pub wire_len: usize,
    /// Number of the output that they are in.
    pub output: u32,
    /// Levels of messages around it, below the resource and in all.
    pub levels: (u32, u32),
    /// It stood where gRPC reads nothing: a Duration out of range is noted there, and nowhere else.
    pub is_unread: bool,
    /// What is known of its bytes.
    pub known: BytesKnowledge,
    /// Comparisons that have failed since the last one that did not.
    pub misses: u8,
}

impl ReadValue {
    /// Says whether it is worth the while to compare the next value with this one.
    #[inline(always)]
    pub const fn is_hopeful(&self) -> bool {
        self.misses < PATIENCE || self.misses % RARELY < 2
    }

    /// Counts a value that was another one, or was not compared.
    #[inline(always)]
    pub const fn miss(&mut self) {
        self.misses = match self.misses {
            u8::MAX => PATIENCE,
            misses => misses + 1,
        };
    }

    /// Counts a value that was the same.
    #[inline(always)]
    pub const fn hit(&mut self) {
        self.misses = 0;
    }
}

/// A place in a message, from which a [`ValueStep`] leads on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The place behind the opening brace.
    Start,
    /// The place behind the value of `@type`.
    Typed,
    /// Behind the value of the field at this position.
    After(u16),
    /// Any other place, from which nothing is known of what follows.
    Unknown,
}

/// What has been kept of a text so far.
#[derive(Debug)]
pub(super) struct Repeats {
    /// Where the entries of each message start: one for each field, and two more for the steps.
    base: Vec<u32>,
    /// The last two different ones from each place, the latest first.
    steps: Vec<[ValueStep; 2]>,
    values: Vec<ReadValue>,
    is_off: bool,
}

impl Repeats {
    /// Keeps nothing before [`prepare`](Self::prepare).
    pub(super) const fn new() -> Self {
        Repeats {
            base: Vec::new(),
            steps: Vec::new(),
            values: Vec::new(),
            is_off: false,
        }
    }

    /// Keeps nothing from now on.
    pub(super) const fn turn_off(&mut self) {
        self.is_off = true;
    }

    /// Makes room, once: many messages of a log have no resource in them, and it takes longer than
    /// they do.
    #[inline(always)]
    pub(super) fn prepare(&mut self) {
        if self.base.is_empty() && !self.is_off {
            self.make_room();
        }
    }

    #[cold]
    fn make_room(&mut self) {
        let mut total = 0u32;
        for message in tables::MESSAGES {
            self.base.push(total);
            total += u32::try_from(message.fields.len()).unwrap_or(u32::MAX) + 2;
        }
        self.steps = vec![<[ValueStep; 2]>::default(); total as usize];
        self.values = vec![ReadValue::default(); total as usize];
    }

    #[inline(always)]
    fn slot(&self, message: u16, place: Place) -> Option<usize> {
        let base = *self.base.get(usize::from(message))? as usize;
        match place {
            Place::Start => Some(base),
            Place::Typed => Some(base + 1),
            Place::After(position) => Some(base + 2 + usize::from(position)),
            Place::Unknown => None,
        }
    }

    /// The steps that were taken last from here; of length 0 if there were none.
    #[inline(always)]
    pub(super) fn steps(&mut self, message: u16, place: Place) -> Option<&mut [ValueStep; 2]> {
        let slot = self.slot(message, place)?;
        self.steps.get_mut(slot)
    }

    /// Keeps the step, which ends at `end`.
    pub(super) fn keep_step(&mut self, message: u16, place: Place, step: ValueStep, end: usize) {
        let len = end - step.start;
        if len > MAX_STEP {
            return;
        }
        if let Some(slot) = self.slot(message, place)
            && let Some(kept) = self.steps.get_mut(slot)
            && let Ok(len) = u16::try_from(len)
        {
            kept[1] = kept[0];
            kept[0] = ValueStep { len, ..step };
        }
    }

    /// The last value of a field.
    #[inline(always)]
    pub(super) fn value(&mut self, message: u16, position: u16) -> Option<&mut ReadValue> {
        let slot = self.slot(message, Place::After(position))?;
        self.values.get_mut(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MAX_LEVELS, TranscodeOptions, TranscodeStop, Transcoder};
    use super::tables;

    /// Reads messages one after the other, of one text or each of its own; cuts off what is too
    /// large.
    fn read(type_name: &str, texts: &[String], limit: usize, together: bool) -> Vec<Option<Vec<u8>>> {
        let message = tables::message(type_name).unwrap();
        let options = TranscodeOptions {
            max_resource_bytes: limit,
            ..TranscodeOptions::default()
        };
        let all = texts.join(" ");
        let mut shared = Transcoder::new(all.as_bytes(), options);
        let mut end = 0;
        let mut results = Vec::new();
        for text in texts {
            let mut own = Transcoder::new(text.as_bytes(), options);
            results.push(if together {
                one(&mut shared, message)
            } else {
                one(&mut own, message)
            });
            end += text.len() + 1;
            shared.scan.set_pos(end.min(all.len()));
        }
        results
    }

    fn one(transcoder: &mut Transcoder<'_>, message: &'static tables::Message) -> Option<Vec<u8>> {
        let start = transcoder.written();
        match transcoder.message_named(message) {
            Ok(()) => Some(transcoder.out[start..].to_vec()),
            Err(TranscodeStop::TooLarge(_)) => {
                transcoder.cut(start);
                None
            }
            Err(TranscodeStop::Syntax(syntax)) => panic!("{syntax:?}"),
        }
    }

    #[track_caller]
    fn check(type_name: &str, texts: &[String], limit: usize) -> Vec<Option<Vec<u8>>> {
        let together = read(type_name, texts, limit, true);
        assert_eq!(together, read(type_name, texts, limit, false));
        together
    }

    #[test]
    fn what_was_cut_off_is_not_repeated() {
        let small = r#"{"eds_cluster_config":{"service_name":"a"}}"#.to_owned();
        let large = small.replace("}}", &format!(r#"}},"alt_stat_name":"{}"}}"#, "x".repeat(200)));
        let other = format!(r#"{{"name":"{}"}}"#, "y".repeat(60));
        let read = check(
            "envoy.config.cluster.v3.Cluster",
            &[large, other, small.clone(), small],
            100,
        );
        assert_eq!(read[0], None);
    }

    #[test]
    fn a_value_is_not_repeated_from_where_it_is_read_to_where_it_is_not() {
        let names = [
            // gRPC reads the field of the manager, and not that of the cluster.
            "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            "envoy.config.cluster.v3.Cluster",
        ];
        let text = r#"{"common_http_protocol_options":{"max_stream_duration":"315576000001s"}}"#;
        for (order, notes) in [([0, 1], [0, 1]), ([1, 0], [1, 1]), ([0, 0], [0, 0]), ([1, 1], [1, 2])] {
            let both = format!("{text} {text}");
            let mut transcoder = Transcoder::new(both.as_bytes(), TranscodeOptions::default());
            for (number, message) in order.into_iter().enumerate() {
                transcoder.scan.set_pos(number * (text.len() + 1));
                one(&mut transcoder, tables::message(names[message]).unwrap());
                assert_eq!(transcoder.notes.len(), notes[number], "{order:?}");
            }
        }
    }

    #[test]
    fn a_value_is_not_repeated_at_another_depth() {
        let value = r#"{"not_id":{"not_id":{"not_id":{"any":true}}}}"#;
        // Each adds two levels.
        let around = |count: usize| r#"{"and_ids":{"ids":["#.repeat(count) + value + &"]}}".repeat(count);
        let texts = [around(1), around(MAX_LEVELS as usize / 2 - 1), around(1)];
        check("envoy.config.rbac.v3.Principal", &texts, 1 << 20);
    }

    #[test]
    fn a_key_behind_the_type_needs_its_comma() {
        let first = r#"{"typed_config":{"@type":"t/envoy.config.core.v3.Locality","region":"a"}}"#;
        let later = r#"{"typed_config":{"region":"a","@type":"t/envoy.config.core.v3.Locality"}}"#;
        let texts = [first, later, first, later].map(str::to_owned);
        check("envoy.config.core.v3.TypedExtensionConfig", &texts, 1 << 20);
        let text = later.to_owned() + &first.replace(r#"","region"#, r#"""region"#);
        let mut transcoder = Transcoder::new(text.as_bytes(), TranscodeOptions::default());
        let message = tables::message("envoy.config.core.v3.TypedExtensionConfig").unwrap();
        transcoder.message_named(message).unwrap();
        assert!(matches!(
            transcoder.message_named(message),
            Err(TranscodeStop::Syntax(_))
        ));
    }

    #[test]
    fn a_key_with_an_escape_is_repeated_and_noted_where_it_stands() {
        let text = r#"{"na\u006de":"a","na\u006de":"b"}"#;
        let (all, second) = (text.repeat(3), text.rfind(r#""na"#).unwrap());
        let mut transcoder = Transcoder::new(all.as_bytes(), TranscodeOptions::default());
        let message = tables::message("envoy.config.cluster.v3.Cluster").unwrap();
        for number in 0..3 {
            assert_eq!(one(&mut transcoder, message), Some(b"\x0a\x01a".to_vec()));
            let note = transcoder.notes.last().unwrap();
            assert_eq!(
                (transcoder.notes.len(), note.span.start),
                (number + 1, number * text.len() + second)
            );
            let wanted = r"`na\u006de` is given twice, only the first is read";
            assert_eq!(note.diagnostic.message, wanted);
        }
    }

    #[test]
    fn a_small_text_is_read_without_room_for_what_it_repeats() {
        let message = tables::message("envoy.config.cluster.v3.Cluster").unwrap();
        for (bytes, has_room) in [(super::WORTHWHILE - 1, false), (super::WORTHWHILE, true)] {
            let mut transcoder = Transcoder::new(br#"{"name":"a"}{"name":"a"}"#, TranscodeOptions::default());
            transcoder.expect(bytes);
            let read = [one(&mut transcoder, message), one(&mut transcoder, message)];
            assert_eq!(read, [Some(b"\x0a\x01a".to_vec()), Some(b"\x0a\x01a".to_vec())]);
            assert_eq!(!transcoder.repeats.base.is_empty(), has_room);
        }
    }
}
