//! What the client keeps of a resource, as `--show parsed` prints it. It is made part by part, and
//! no part is kept.

use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use xdsctl_channel::parsed::{self, ParsedValue};
use xdsctl_model::resource::Resource;

/// What the client keeps of a resource.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The validated resource.
    pub resource: Arc<Resource>,
    /// Whether secrets in it are printed (`--show-secrets`).
    pub shows_secrets: bool,
}

impl Parsed {
    /// Returns the parsed form of the resource, which is made while it is printed.
    pub fn shown(&self) -> ParsedValue<'_> {
        let shown = parsed::of(&self.resource);
        if self.shows_secrets { shown } else { shown.redacted() }
    }
}

impl fmt::Display for Parsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parsed::write(self.shown(), f)
    }
}

impl Serialize for Parsed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ParsedJson(&self.shown()).serialize(serializer)
    }
}

/// JSON that is made while it is being written.
struct ParsedJson<'p, 'r>(&'p ParsedValue<'r>);

impl Serialize for ParsedJson<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ParsedValue::Plain(value) => value.serialize(serializer),
            ParsedValue::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, part) in fields {
                    map.serialize_entry(name, &ParsedJson(part))?;
                }
                map.end()
            }
            ParsedValue::List(list) => {
                let mut sequence = serializer.serialize_seq(Some(list.len()))?;
                for element in list.iter() {
                    sequence.serialize_element(&ParsedJson(&element))?;
                }
                sequence.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xdsctl_model::resource::RouteConfiguration;
    use xdsctl_model::resource::route::VirtualHost;

    #[test]
    fn what_is_written_part_by_part_is_the_whole() {
        let host = |index| VirtualHost {
            index,
            name: "api_key".to_owned(),
            ..VirtualHost::default()
        };
        let config = RouteConfiguration {
            virtual_hosts: (0..3).map(host).collect(),
            ..RouteConfiguration::default()
        };
        let parsed = Parsed {
            resource: Arc::new(Resource::RouteConfiguration(config)),
            shows_secrets: false,
        };
        let written = serde_json::to_string(&parsed).unwrap();
        assert_eq!(written, parsed.shown().to_value().to_string());
        assert!(written.contains("api_key"), "{written}");
    }
}
