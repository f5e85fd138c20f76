//! Lists of resources: an entry that is none must not pass in silence, nor a whole document without a resource.
//!
//! Only lists that can hold nothing else are looked at so: `resources` of a response, and a document that is a list. What
//! stands in objects of an unknown shape is none of our business.

use super::walker::Walker;
use super::{Result, UNKNOWN_SHAPE};
use crate::source::Span;

impl Walker<'_, '_> {
    /// How much was read so far that a reader of the report sees.
    pub fn found(&self) -> (usize, usize, usize, usize) {
        let loader = &self.loader;
        let errors = loader.responses.iter().map(|response| response.errors.len()).sum();
        (loader.resources, loader.findings.len(), loader.bootstraps.len(), errors)
    }

    /// Reads a list of resources; false if nothing in it is one. The places of the elements that are none go to `strangers`.
    pub fn entries(&mut self, strangers: &mut Vec<Span>) -> Result<bool> {
        let mut is_empty = true;
        let mut is_any_known = false;
        self.elements(&mut |walker, _| {
            is_empty = false;
            match walker.stranger()? {
                Some(span) => strangers.push(span),
                None => is_any_known = true,
            }
            Ok(())
        })?;
        Ok(is_empty || is_any_known)
    }

    /// Reports elements that are no resources.
    pub fn report_strangers(&mut self, strangers: Vec<Span>) {
        for span in strangers {
            self.report_stranger(span);
        }
    }

    /// Reads a document that is a list; strangers in it are reported if anything else is known.
    pub fn list(&mut self) -> Result<()> {
        let mut strangers = Vec::new();
        let mut is_any_known = false;
        let result = self.elements(&mut |walker, _| {
            match walker.stranger()? {
                Some(span) => strangers.push(span),
                None => is_any_known = true,
            }
            Ok(())
        });
        if is_any_known {
            self.recognised = true;
            self.report_strangers(strangers);
        }
        result
    }

    /// Reads a value and returns its place if nothing in it is of a known shape.
    fn stranger(&mut self) -> Result<Option<Span>> {
        // Another reader has left out what it could not read, and has said so.
        if self.tc.scan.peek() == b'n' {
            self.skip()?;
            return Ok(None);
        }
        let start = self.pos();
        let outer = std::mem::replace(&mut self.recognised, false);
        self.value()?;
        let is_known = std::mem::replace(&mut self.recognised, outer);
        Ok((!is_known).then(|| Span::new(start, self.pos())))
    }

    fn report_stranger(&mut self, span: Span) {
        let message = "this entry is no resource of a known type".to_owned();
        self.report(&UNKNOWN_SHAPE, span, message)
            .help("give it an `@type`, or name the type with `--as lds|rds|cds|eds`");
    }
}

#[cfg(test)]
mod tests {
    use crate::envelope::Loader;
    use crate::source::SourceId;

    /// Number of resources, and the text that each finding is about.
    fn read(text: &str) -> (usize, Vec<&str>) {
        let mut loader = Loader::new();
        let mut sources = crate::source::SourceMap::new();
        let id: SourceId = sources.add("-", text.as_bytes().to_vec());
        loader.json(id, text.as_bytes(), Default::default(), &mut |_| ());
        let places = loader.findings.iter().map(|found| &text[found.span.range()]).collect();
        (loader.resources, places)
    }

    const CLUSTER: &str = r#"{"@type":"t/envoy.config.cluster.v3.Cluster","name":"a"}"#;

    #[test]
    fn an_entry_that_is_no_resource_is_reported_at_its_place() {
        for (text, resources, places) in [
            (
                format!(r#"{{"resources":[{CLUSTER}, 5, {{}}, "x",null,{{"a":1}}]}}"#),
                1,
                &["5", "{}", "\"x\"", "{\"a\":1}"][..],
            ),
            (format!(r#"[{CLUSTER}, 5,{{"a":1}}]"#), 1, &["5", "{\"a\":1}"]),
            (format!(r#"[[{CLUSTER}], {CLUSTER}]"#), 2, &[]),
            ("[1,2]".to_owned(), 0, &["[1,2]"]),
            (format!(r#"{{"a":[1,{CLUSTER}]}}"#), 1, &[]),
        ] {
            assert_eq!(read(&text), (resources, places.to_vec()), "{text}");
        }
    }

    #[test]
    fn a_document_of_a_known_shape_without_a_resource_is_reported() {
        for text in [
            r#"{"resources":[]}"#,
            r#"{"configs":[5]}"#,
            r#"{"config":[{"generic_xds_configs":[5]}]}"#,
        ] {
            assert_eq!(read(text), (0, vec![text]));
        }
    }
}
