//! Recognises short list elements that are like one that was walked before.
//!
//! Two endpoints that differ only in their addresses and weights have the same findings. So the
//! walk over an element marks the bytes that do not affect its findings: texts, and messages that
//! are not looked into. Another element with the same bytes in all other places need not be walked.

use xdsctl_model::diag::PackedPattern;
use xdsctl_proto::tables::Message;

use super::missed;
use super::since::Families;

/// The length in bytes up to which elements are compared. Longer elements are walked.
const MAX_SAMPLE_BYTES: usize = 1024;

/// The number of elements that are remembered.
const MAX_SAMPLES: usize = 16;

/// Comparing stops when elements without a match outnumber those with one by this many.
const MAX_MISSES: usize = 32;

/// The elements that were walked in one walk.
#[derive(Debug, Default)]
pub(super) struct Samples {
    samples: Vec<Sample>,
    /// The element that is being walked.
    open: Option<Sample>,
    /// The number of elements without a match, less the number of elements with one.
    misses: usize,
    #[cfg(test)]
    alike: usize,
}

/// An element that was walked.
#[derive(Debug)]
struct Sample {
    bytes: Vec<u8>,
    /// For each byte, the bits that affect the findings.
    mask: Vec<u8>,
    /// The address of the bytes in memory.
    addr: usize,
    /// The index of the message type, and the families for which unread fields are reported.
    of: (u16, Families),
    pattern: PackedPattern,
}

impl Samples {
    /// Says whether it is worthwhile to look for a match for this element.
    pub(super) fn are_for(&self, element: &[u8]) -> bool {
        self.open.is_none() && element.len() <= MAX_SAMPLE_BYTES && self.misses < MAX_MISSES
    }

    /// Returns the findings of an element that matches this one.
    pub(super) fn like(&mut self, element: &[u8], message: &'static Message, told: Families) -> Option<PackedPattern> {
        let is_like = |sample: &&Sample| {
            sample.bytes.len() == element.len()
                && sample.of == (message.index(), told)
                && is_like(&sample.bytes, &sample.mask, element)
        };
        let pattern = self.samples.iter().rfind(is_like)?.pattern;
        self.misses = self.misses.saturating_sub(1);
        #[cfg(test)]
        {
            self.alike += 1;
        }
        Some(pattern)
    }

    /// Begins to record an element that has no match.
    pub(super) fn open(&mut self, element: &[u8], message: &'static Message, told: Families) {
        self.misses += 1;
        self.open = Some(Sample {
            bytes: element.to_vec(),
            mask: vec![0xff; element.len()],
            addr: element.as_ptr().addr(),
            of: (message.index(), told),
            pattern: PackedPattern::default(),
        });
    }

    /// Records that a payload in the current element does not affect its findings, except by its
    /// length.
    #[inline(always)]
    pub(super) fn leave_out(&mut self, payload: &[u8]) {
        if let Some(open) = &mut self.open {
            open.leave_out(payload);
        }
    }

    /// Ends the current element, whose findings are `pattern`.
    pub(super) fn close(&mut self, pattern: Option<PackedPattern>) {
        if let Some((open, pattern)) = self.open.take().zip(pattern) {
            if self.samples.len() == MAX_SAMPLES {
                self.samples.clear();
            }
            self.samples.push(Sample { pattern, ..open });
        }
    }
}

impl Sample {
    fn leave_out(&mut self, payload: &[u8]) {
        // A payload of this length may be a number that means no limit, which has another finding.
        if payload.len() == missed::NO_LIMIT.len() {
            return;
        }
        let start = payload.as_ptr().addr().wrapping_sub(self.addr);
        let left_out = self
            .mask
            .get_mut(start..)
            .and_then(|mask| mask.get_mut(..payload.len()));
        left_out.into_iter().for_each(|mask| mask.fill(0));
    }
}

fn is_like(sample: &[u8], mask: &[u8], element: &[u8]) -> bool {
    let bytes = sample.iter().zip(mask).zip(element);
    bytes.fold(0, |differs, ((one, mask), other)| differs | (one ^ other) & mask) == 0
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::{MAX_DEPTH, WireWalk, since};
    use super::*;
    use crate::proto::transcode;
    use xdsctl_model::diag::{BytesKnowledge, Packed, Path, Validation};
    use xdsctl_model::profile::{Client, Profile, ServerFacts};

    const ENDPOINTS: &str = "envoy.config.endpoint.v3.ClusterLoadAssignment";

    /// Returns what each client leaves unread, and how many elements matched another.
    fn unread(text: &str, type_name: &str, has_samples: bool) -> (Vec<Packed>, usize) {
        let bytes = Bytes::from(transcode::named(text.as_bytes(), type_name).unwrap().bytes);
        let message = xdsctl_proto::tables::message(type_name).unwrap();
        let profiles: Vec<Profile> = Client::parse_list("current")
            .unwrap()
            .into_iter()
            .map(Profile::of)
            .collect();
        let (server, (own, beside)) = (ServerFacts::default(), profiles.split_first().unwrap());
        let mut cx = Validation::new(own, &server)
            .knowing(BytesKnowledge::WellFormed)
            .reading_beside(beside);
        let mut walk = WireWalk::new(&mut cx);
        if !has_samples {
            walk.samples = None;
        }
        let reads = since::reads(message.index());
        let told = Families::of(own.client().family);
        let told = beside
            .iter()
            .fold(told, |told, one| told.any(Families::of(one.client().family)));
        walk.message(&bytes, reads, (&Path::ROOT, None), MAX_DEPTH, told)
            .unwrap();
        let alike = walk.samples.map_or(0, |samples| samples.alike);
        let (own, beside) = cx.take_unread();
        (own.into_iter().chain(beside.into_iter().flatten()).collect(), alike)
    }

    /// Checks that the findings with and without samples are equal. Returns how many elements
    /// matched another.
    fn compared(text: &str, type_name: &str) -> usize {
        let (walked, _) = unread(text, type_name, false);
        let (sampled, alike) = unread(text, type_name, true);
        assert_eq!(walked, sampled, "{text}");
        for (one, other) in walked.iter().zip(&sampled) {
            let groups = |packed: &Packed| {
                let groups = packed.groups();
                let groups = groups.map(|group| (group.text, group.first.to_path(), group.count));
                groups.collect::<Vec<_>>()
            };
            assert_eq!(groups(one), groups(other), "{text}");
            assert!(one.counts().eq(other.counts()), "{text}");
        }
        alike
    }

    /// Draws numbers in a pseudo-random order.
    struct Draw(u64);

    impl Draw {
        fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            of[(self.0 >> 33) as usize % of.len()]
        }
    }

    fn list(draw: &mut Draw, most: usize, element: impl Fn(&mut Draw) -> String) -> String {
        let counts: Vec<String> = (0..=most).map(|count| count.to_string()).collect();
        let counts: Vec<&str> = counts.iter().map(String::as_str).collect();
        let count: usize = draw.one(&counts).parse().unwrap();
        let elements: Vec<String> = (0..count).map(|_| element(draw)).collect();
        elements.join(",")
    }

    fn endpoint(draw: &mut Draw) -> String {
        let address = draw.one(&["10.0.0.1", "10.0.0.2", "10.0.0.13"]);
        let odd = draw.one(&["", "", "", "", "", "", "odd"]) == "odd";
        let more = draw.one(match odd {
            true => &[r#","hostname":"h""#, r#","additional_addresses":[{}]"#],
            false => &[""],
        });
        let weight = draw.one(match odd {
            true => &["", "0", "300", "4294967294", "4294967295"],
            false => &["1", "2"],
        });
        let weight = match weight {
            "" => String::new(),
            weight => format!(r#","load_balancing_weight":{weight}"#),
        };
        let metadata = draw.one(&[
            "",
            r#","metadata":{}"#,
            r#","metadata":{"filter_metadata":{"a":{"b":"c"}}}"#,
        ]);
        let metadata = match metadata {
            "" => "",
            metadata => draw.one(&[metadata, r#","metadata":{"filter_metadata":{"a":{"b":"d"}}}"#]),
        };
        let health = draw.one(&["", "", "", "", r#","health_status":"HEALTHY""#]);
        format!(
            r#"{{"endpoint":{{"address":{{"socket_address":{{"address":"{address}","port_value":80}}}}{more}}}{weight}{metadata}{health}}}"#
        )
    }

    fn locality(draw: &mut Draw) -> String {
        let endpoints = list(draw, 40, endpoint);
        let more = draw.one(&["", r#","proximity":1"#, r#","priority":1"#]);
        format!(r#"{{"lb_endpoints":[{endpoints}]{more}}}"#)
    }

    fn route(draw: &mut Draw) -> String {
        let path = draw.one(&["/a", "/b", "/cc"]);
        let timeout = draw.one(&["0s", "1s", "2s", "1.5s"]);
        let most = draw.one(&["0s", "3s"]);
        let headers = list(draw, 2, |draw| {
            let name = draw.one(&["x", "y"]);
            format!(r#"{{"name":"{name}","present_match":true,"treat_missing_header_as_empty":true}}"#)
        });
        let more = draw.one(&[
            "",
            r#","decorator":{"operation":"o"}"#,
            r#","request_headers_to_remove":["h"]"#,
        ]);
        format!(
            r#"{{"match":{{"prefix":"{path}","headers":[{headers}]}},"route":{{"cluster":"c","timeout":"{timeout}","max_stream_duration":{{"max_stream_duration":"{most}"}}}}{more}}}"#
        )
    }

    #[test]
    fn what_is_like_another_is_said_as_if_it_were_walked() {
        let mut alike = 0;
        for seed in 0..400 {
            let mut draw = Draw(seed);
            let (type_name, text) = match seed % 2 {
                0 => {
                    let endpoints = list(&mut draw, 3, locality);
                    let text = format!(r#"{{"cluster_name":"c","endpoints":[{endpoints}]}}"#);
                    (ENDPOINTS, text)
                }
                _ => {
                    let hosts = list(&mut draw, 3, |draw| {
                        let routes = list(draw, 20, route);
                        format!(r#"{{"domains":["*"],"routes":[{routes}],"include_request_attempt_count":true}}"#)
                    });
                    let text = format!(r#"{{"virtual_hosts":[{hosts}]}}"#);
                    ("envoy.config.route.v3.RouteConfiguration", text)
                }
            };
            alike += compared(&text, type_name);
        }
        assert!(alike > 2_500, "{alike}");
    }

    #[test]
    fn of_more_than_is_kept_the_number_is_right() {
        let plain = r#"{"load_balancing_weight":1},"#;
        let both = r#"{"load_balancing_weight":1,"metadata":{}},"#;
        for (before, after) in [(10_050, 0), (9_999, 3), (4_990, 5_010), (0, 5_010)] {
            let mut endpoints = plain.repeat(before) + &both.repeat(after) + &plain.repeat(20);
            endpoints.pop();
            let text = format!(r#"{{"endpoints":[{{"lb_endpoints":[{endpoints}]}}]}}"#);
            let alike = compared(&text, ENDPOINTS);
            assert!(alike > 5_000, "{alike}");
        }
    }
}
