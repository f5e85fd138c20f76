//! Remembers what a text repeats: which key follows which in which layout, and whole values.
//!
//! A dump has the same few messages ten thousand times. For each field of each message type, two
//! things are remembered: the text between its last value and the next value (comma, white space,
//! key, colon), and its last value with the bytes written for it. Where the text is the same again,
//! one comparison replaces reading it.
//!
//! A comparison that fails costs little. If it keeps failing, it is suspended for a while.

use xdsctl_proto::tables;

use xdsctl_model::diag::BytesKnowledge;

/// The size of a text from which remembering pays off, in bytes: allocating the memory takes as
/// long as reading so many bytes.
pub(super) const WORTHWHILE: usize = 16 << 10;

/// The longest text between two values that is remembered, in bytes.
const MAX_STEP: usize = 96;

/// The number of comparisons of a value that may fail in a row.
const PATIENCE: u8 = 8;

/// After that many failures, only two in this many values are compared.
const RARELY: u8 = 32;

/// The text from one value of a message to its next value, or to the end of the message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ValueStep {
    /// The offset in the text at which the step starts.
    pub start: usize,
    /// The length in bytes; 0 if there is no step.
    pub len: u16,
    /// The offset in the step at which the name of the key starts.
    pub key: u16,
    /// The position of the field in its message; `None` for the end of the message.
    pub position: Option<u16>,
}

/// A value that was read without a fault, and the bytes written for it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReadValue {
    /// The offset in the text at which the value starts.
    pub start: usize,
    /// The length of the text; 0 if there is no value.
    pub len: usize,
    /// The offset in the output at which the bytes of the value start.
    pub wire: usize,
    /// The number of bytes written for the value.
    pub wire_len: usize,
    /// The number of the output that has the bytes; see `Transcoder::output`.
    pub output: u32,
    /// The levels of messages around the value, below the resource and in total.
    pub levels: (u32, u32),
    /// Whether gRPC does not read the field. A Duration out of range is noted only in such a field.
    pub is_unread: bool,
    /// What is known of the bytes without decoding them.
    pub known: BytesKnowledge,
    /// The number of values in its Structs.
    pub struct_values: usize,
    /// How many comparisons have failed since the last one that succeeded.
    pub misses: u8,
}

impl ReadValue {
    /// Says whether comparing the next value with this one is worthwhile.
    #[inline(always)]
    pub const fn is_hopeful(&self) -> bool {
        self.misses < PATIENCE || self.misses % RARELY < 2
    }

    /// Counts a value that was different or was not compared.
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

/// A place in a message from which a [`ValueStep`] leads to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The place after the opening brace.
    Start,
    /// The place after the value of `@type`.
    Typed,
    /// The place after the value of the field at this position.
    After(u16),
    /// Any other place. Nothing is remembered of what follows it.
    Unknown,
}

/// What is remembered of a text so far.
#[derive(Debug)]
pub(super) struct Repeats {
    /// The index of each message's first entry in the other lists. A message has an entry for each
    /// field, and two more: for its start and for `@type`.
    base: Vec<u32>,
    /// The last two steps from each place, the latest first.
    steps: Vec<[ValueStep; 2]>,
    values: Vec<ReadValue>,
    is_off: bool,
}

impl Repeats {
    /// Returns a value that remembers nothing before [`prepare`](Self::prepare).
    pub(super) const fn new() -> Self {
        Repeats {
            base: Vec::new(),
            steps: Vec::new(),
            values: Vec::new(),
            is_off: false,
        }
    }

    /// Stops remembering from now on.
    pub(super) const fn turn_off(&mut self) {
        self.is_off = true;
    }

    /// Allocates the memory when it is first needed. It takes longer than to read a message of a
    /// log, and many of those have no resource.
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

    /// Returns the last steps from this place. They have length 0 if there were none.
    #[inline(always)]
    pub(super) fn steps(&mut self, message: u16, place: Place) -> Option<&mut [ValueStep; 2]> {
        let slot = self.slot(message, place)?;
        self.steps.get_mut(slot)
    }

    /// Remembers a step that ends at `end`.
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

    /// Returns the last value of a field.
    #[inline(always)]
    pub(super) fn value(&mut self, message: u16, position: u16) -> Option<&mut ReadValue> {
        let slot = self.slot(message, Place::After(position))?;
        self.values.get_mut(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LIMIT_EXCEEDED, MAX_LEVELS, MAX_STRUCT_VALUES, TranscodeOptions, TranscodeStop, Transcoder};
    use super::tables;

    /// Reads messages one after the other, from one text or from a text each. Cuts off messages
    /// that are too large.
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
            // gRPC reads this field in HttpConnectionManager, but not in Cluster.
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
        // Each nesting adds two levels.
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
    fn values_that_are_repeated_count_for_the_limit_on_values_in_structs() {
        let of_endpoint = MAX_STRUCT_VALUES / 100;
        let metadata = |last: usize| {
            let values = "1,".repeat(of_endpoint - 1);
            format!(r#"{{"metadata":{{"filter_metadata":{{"a":{{"b":[{values}{last}]}}}}}}}}"#)
        };
        let message = tables::message("envoy.config.endpoint.v3.LocalityLbEndpoints").unwrap();
        let notes = |count: usize, are_alike: bool| -> usize {
            let endpoints = (0..count).map(|number| metadata(if are_alike { 1 } else { number }));
            let text = format!(r#"{{"lb_endpoints":[{}]}}"#, endpoints.collect::<Vec<_>>().join(","));
            let mut transcoder = Transcoder::new(text.as_bytes(), TranscodeOptions::default());
            transcoder.message_named(message).unwrap();
            let notes = transcoder.notes.iter().map(|note| note.diagnostic.rule);
            notes.inspect(|rule| assert_eq!(*rule, &LIMIT_EXCEEDED)).count()
        };
        for count in [99, 101, 120] {
            assert_eq!(notes(count, true), notes(count, false), "{count}");
        }
        assert_eq!((notes(99, true), notes(120, true) > 0), (0, true));
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
