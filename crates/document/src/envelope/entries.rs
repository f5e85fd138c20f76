//! Lists of resources. Reports entries that are not resources, and documents without any.
//!
//! Only lists that cannot hold anything else are checked: `resources` of a response, the lists of a
//! dump, and a document that is a list. Objects of an unknown shape are not reported.

use super::slot::Pending;
use super::walker::Walker;
use super::{Result, UNKNOWN_SHAPE};
use crate::proto::transcode::LIMIT_EXCEEDED;
use crate::source::Span;

/// What an entry must be, as messages call it.
pub(super) const OBJECT: &str = "an object";

/// The number of resources that a run reads at most. Each takes about a kilobyte of memory until it
/// is reported, however short its text is.
const MAX_RESOURCES: usize = 400_000;

/// The product of resources and clients asked about them that a run allows at most. Each answer
/// takes a few dozen bytes until it is reported.
const MAX_ANSWERS: usize = 4_000_000;

/// Returns how many resources a run reads at most if it asks `other_clients` besides the main
/// client.
pub(super) fn most_resources(other_clients: usize) -> usize {
    MAX_RESOURCES.min(MAX_ANSWERS / (1 + other_clients))
}

impl Walker<'_, '_> {
    /// Drops the resources above the limit, and reports the limit once.
    pub(super) fn turn_away(&mut self, pending: &mut Vec<Pending>) {
        let clients = 1 + self.loader.other_clients;
        let most = most_resources(self.loader.other_clients);
        let room = most.saturating_sub(self.loader.resources);
        if pending.len() <= room {
            return;
        }
        if !std::mem::replace(&mut self.loader.is_full, true) {
            let at = pending.get(room).map_or(0, |pending| pending.raw.origin.span.start);
            let fewer = if most < MAX_RESOURCES {
                format!(" for {clients} clients, the others are not checked: ask fewer at a time")
            } else {
                ", the others are not checked".to_owned()
            };
            let message = format!("more than {most} resources{fewer}");
            self.report(&LIMIT_EXCEEDED, Span::new(at, at + 1), message);
        }
        pending.truncate(room);
        if room == 0 && self.batch.is_empty() {
            self.tc.cut(0);
        }
    }

    /// Returns the numbers of resources, findings, bootstraps and errors so far. If they do not
    /// change, nothing was found.
    pub fn found(&self) -> (usize, usize, usize, usize) {
        let loader = &self.loader;
        (
            loader.resources,
            loader.findings.len(),
            loader.bootstraps.len(),
            loader.errors,
        )
    }

    /// Reads an element of a list of resources, and reports it if it is not a resource.
    pub fn entry(&mut self) -> Result<()> {
        let unknown_entry = self.unknown_entry()?;
        self.report_unknown_entries(unknown_entry.into_iter().collect());
        Ok(())
    }

    /// Reads a list of resources. Returns false if the list has elements and none is a resource.
    /// Adds the spans of elements that are not resources to `unknown_entries`.
    pub fn entries(&mut self, unknown_entries: &mut Vec<Span>) -> Result<bool> {
        let mut is_empty = true;
        let mut is_any_known = false;
        self.elements(&mut |walker, _| {
            is_empty = false;
            match walker.unknown_entry()? {
                Some(span) => unknown_entries.push(span),
                None => is_any_known = true,
            }
            Ok(())
        })?;
        Ok(is_empty || is_any_known)
    }

    /// Reports elements that are not resources.
    pub fn report_unknown_entries(&mut self, unknown_entries: Vec<Span>) {
        for span in unknown_entries {
            let message = "this entry is no resource of a known type".to_owned();
            self.report(&UNKNOWN_SHAPE, span, message)
                .help("give it an `@type`, or name the type with `--as lds|rds|cds|eds`");
        }
    }

    /// Reads a document that is a list. Unknown entries are reported only if another entry is
    /// known.
    pub fn list(&mut self) -> Result<()> {
        let mut unknown_entries = Vec::new();
        let mut is_any_known = false;
        let result = self.elements(&mut |walker, _| {
            match walker.unknown_entry()? {
                Some(span) => unknown_entries.push(span),
                None => is_any_known = true,
            }
            Ok(())
        });
        if is_any_known {
            self.recognised = true;
            self.report_unknown_entries(unknown_entries);
        }
        result
    }

    /// Reads a value. Returns its span if nothing in it has a known shape.
    fn unknown_entry(&mut self) -> Result<Option<Span>> {
        let is_placeholder = self.tc.scan.peek() == b'n' && self.options.nulls_are_explained;
        let start = self.pos();
        let outer = std::mem::replace(&mut self.recognised, false);
        self.value()?;
        let is_known = std::mem::replace(&mut self.recognised, outer);
        Ok((!is_known && !is_placeholder).then(|| Span::new(start, self.pos())))
    }

    /// Calls `read` for each entry of a list of objects; `read` must consume the entry. Entries
    /// that are not objects are reported.
    pub fn objects(&mut self, read: &mut dyn FnMut(&mut Self) -> Result<()>) -> Result<()> {
        match self.tc.scan.peek() {
            b'[' => self.elements(&mut |walker, _| match walker.tc.scan.peek() {
                b'{' => read(walker),
                b'n' if walker.options.nulls_are_explained => walker.skip(),
                _ => walker.wrong_kind(OBJECT),
            }),
            b'n' => self.skip(),
            _ => self.wrong_kind("a list"),
        }
    }

    /// Skips a value, and reports that it is not what it must be, such as `an object`.
    pub fn wrong_kind(&mut self, wanted: &str) -> Result<()> {
        let found = match self.tc.scan.peek() {
            b'{' => OBJECT,
            b'[' => "a list",
            b'"' => "a string",
            b't' | b'f' => "a boolean",
            b'n' => "null",
            _ => "a number",
        };
        let start = self.pos();
        self.skip()?;
        self.recognised = true;
        let message = format!("this is {found}, must be {wanted}: nothing is read of it");
        self.report(&UNKNOWN_SHAPE, Span::new(start, self.pos()), message);
        Ok(())
    }

    /// Reports the entry of a dump from `start` to the scanner, which neither holds a resource nor
    /// says anything about one.
    pub fn without_resource(&mut self, start: usize, why: &str) {
        let span = Span::new(start, self.pos());
        self.report(&UNKNOWN_SHAPE, span, format!("this entry holds no resource: {why}"));
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_ANSWERS, MAX_RESOURCES};
    use crate::envelope::Loader;
    use crate::source::SourceId;

    /// Returns the number of resources, and the text at each finding.
    fn read(text: &str) -> (usize, Vec<&str>) {
        let mut loader = Loader::new();
        let mut sources = crate::source::SourceMap::new();
        let id: SourceId = sources.add("-", text.as_bytes().to_vec());
        loader.json(id, text.as_bytes(), Default::default(), &mut |_| ());
        let places = loader.findings.iter().map(|found| &text[found.span.range()]).collect();
        (loader.resources, places)
    }

    #[test]
    fn resources_beyond_the_limit_are_said_once() {
        let text = format!("[{CLUSTER}, {CLUSTER},{CLUSTER}]");
        let mut sources = crate::source::SourceMap::new();
        let id: SourceId = sources.add("-", text.as_bytes().to_vec());
        for (other_clients, most, message) in [
            (
                0,
                MAX_RESOURCES,
                "more than 400000 resources, the others are not checked",
            ),
            (
                9,
                MAX_RESOURCES,
                "more than 400000 resources, the others are not checked",
            ),
            (
                79,
                MAX_ANSWERS / 80,
                "more than 50000 resources for 80 clients, the others are not checked: ask fewer at a time",
            ),
        ] {
            let mut loader = Loader::new();
            (loader.other_clients, loader.resources) = (other_clients, most - 1);
            let mut emitted = 0;
            loader.json(id, text.as_bytes(), Default::default(), &mut |batch| {
                emitted += batch.len()
            });
            assert_eq!(emitted, 1);
            let found = loader.findings.iter().map(|f| (f.diagnostic.rule.id, f.span.start));
            let start = text.find(", ").unwrap() + 2;
            assert_eq!(found.collect::<Vec<_>>(), [("dump-limit-exceeded", start)]);
            assert_eq!(loader.findings[0].diagnostic.message, message);
        }
    }

    const CLUSTER: &str = r#"{"@type":"t/envoy.config.cluster.v3.Cluster","name":"a"}"#;

    #[test]
    fn an_entry_that_is_no_resource_is_reported_at_its_place() {
        for (text, resources, places) in [
            (
                format!(r#"{{"resources":[{CLUSTER}, 5, {{}}, "x",null,{{"a":1}}]}}"#),
                1,
                &["5", "{}", "\"x\"", "null", "{\"a\":1}"][..],
            ),
            (format!(r#"[{CLUSTER}, 5,{{"a":1}}]"#), 1, &["5", "{\"a\":1}"]),
            (format!(r#"[[{CLUSTER}], {CLUSTER}]"#), 2, &[]),
            ("[1,2]".to_owned(), 0, &["[1,2]"]),
            (format!(r#"{{"a":[1,{CLUSTER}]}}"#), 1, &[]),
            (
                format!(r#"{{"static_clusters":[{{"cluster":{CLUSTER}}},7,null,{{}},{{"cluster":"x"}}]}}"#),
                1,
                &["7", "null", "{}", "\"x\""],
            ),
            (
                format!(
                    r#"{{"configs":[5,{{}},{{"@type":"t/envoy.admin.v3.ClustersConfigDump","static_clusters":[{{"cluster":{CLUSTER}}}],"dynamic_active_clusters":true}}]}}"#
                ),
                1,
                &["5", "{}", "true"],
            ),
            (
                format!(
                    r#"{{"config":["x",{{"generic_xds_configs":[null,{{"name":"c"}},{{"type_url":"t/envoy.config.cluster.v3.Cluster","xds_config":{CLUSTER}}},{{"type_url":"t/envoy.config.cluster.v3.Cluster","name":"d"}}],"xds_config":[1,{{}},{{"status":"NOT_SENT"}}]}}]}}"#
                ),
                2,
                &["\"x\"", "null", "{\"name\":\"c\"}", "1", "{}"],
            ),
            (
                r#"{"type.googleapis.com/envoy.config.cluster.v3.Cluster":{"a":{"name":"a"},"b":3}}"#.to_owned(),
                1,
                &["3"],
            ),
        ] {
            assert_eq!(read(&text), (resources, places.to_vec()), "{text}");
        }
    }

    #[test]
    fn a_document_of_a_known_shape_without_a_resource_is_reported() {
        for text in [
            r#"{"resources":[]}"#,
            r#"{"configs":[]}"#,
            r#"{"config":[{"generic_xds_configs":[]}]}"#,
        ] {
            assert_eq!(read(text), (0, vec![text]));
        }
    }
}
