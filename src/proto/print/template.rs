//! Elements that are printed like their neighbours: what stands between the values is copied.
//!
//! Of the thousands of endpoints of a cluster all have the same names, brackets and lines. The first one of a [shape](crate::proto::wire::Shapes)
//! is printed field by field, and its text kept without the values; of the others only the values are printed.

use std::ops::Range;

use xdsctl_proto::tables::{Field, Kind, MESSAGES, Message, WellKnown};

use super::mask::needs_a_look;
use super::scalar::{unpack, zero};
use super::{Printer, Result, is_nothing};
use crate::proto::wire::{MAX_DEPTH, Place, Shapes, value_of};
use crate::source::wire::{Fields, Value};

/// The templates of the last elements.
pub(super) type Templates = Shapes<Template>;

/// The text of an element without its values.
#[derive(Debug)]
pub(super) struct Template {
    text: Vec<u8>,
    values: Vec<Slot>,
}

/// A value, and the text before it.
#[derive(Debug)]
struct Slot {
    /// In the text of the template.
    text: Range<usize>,
    /// In the bytes of the element.
    value: Range<usize>,
    kind: Kind,
    /// Of this field; `None` for the value of a wrapper, which is printed whatever it is.
    field: Option<&'static Field>,
}

/// Where scalars begin and end in what is printed.
pub(super) type Log = Vec<Range<usize>>;

impl Template {
    /// The template of a message whose text was `printed`, with its scalars where the log says.
    fn of(bytes: &[u8], message: &'static Message, printed: &[u8], log: &Log) -> Option<Template> {
        let mut values = Vec::new();
        slots(bytes, message, 0, &mut values)?;
        if values.len() != log.len() {
            return None;
        }
        let mut text = Vec::with_capacity(printed.len());
        let mut from = 0;
        for (slot, scalar) in values.iter_mut().zip(log) {
            let begin = text.len();
            text.extend_from_slice(printed.get(from..scalar.start)?);
            slot.text = begin..text.len();
            from = scalar.end;
        }
        text.extend_from_slice(printed.get(from..)?);
        Some(Template { text, values })
    }

    /// Prints a message of the same shape; false, with nothing printed, if one of its fields is left out.
    fn print(&self, bytes: &[u8], printer: &mut Printer) -> std::result::Result<bool, super::Inexact> {
        let value = |slot: &Slot| value(slot.kind, bytes.get(slot.value.clone()).unwrap_or_default());
        let is_left_out = |slot: &Slot| slot.field.is_some_and(|field| is_nothing(field, value(slot)));
        if self.values.iter().any(is_left_out) {
            return Ok(false);
        }
        let mut from = 0;
        for slot in &self.values {
            printer
                .out
                .extend_from_slice(self.text.get(slot.text.clone()).unwrap_or_default());
            from = slot.text.end;
            printer.scalar(slot.kind, value(slot), false)?;
        }
        printer.out.extend_from_slice(self.text.get(from..).unwrap_or_default());
        Ok(true)
    }
}

fn value(kind: Kind, bytes: &[u8]) -> Value<'_> {
    match kind {
        Kind::String | Kind::Bytes | Kind::Message(_) => Value::Bytes(bytes),
        kind => unpack(kind, bytes).map_or_else(|| zero(kind), |(value, _)| value),
    }
}

/// Lists the values of a message in their order; `None` where it is printed in another order, without one of them, or masked.
fn slots(bytes: &[u8], message: &'static Message, at: usize, out: &mut Vec<Slot>) -> Option<()> {
    let (mut last, count) = (0, out.len());
    for item in Fields::new(bytes) {
        let item = item.ok()?;
        let field = message.field(item.number)?;
        let range = value_of(bytes, &item);
        let range = at + range.start..at + range.end;
        if item.number < last || !field.shown || needs_a_look(field) {
            return None;
        }
        last = item.number;
        match (field.kind, item.value) {
            (Kind::Message(sub), Value::Bytes(inner)) => {
                slots(inner, MESSAGES.get(usize::from(sub))?, range.start, out)?
            }
            (Kind::Message(_), _) => return None,
            (_, value) if is_nothing(field, value) => return None,
            (kind, _) => out.push(Slot {
                text: 0..0,
                value: range,
                kind,
                field: matches!(message.well_known, WellKnown::None).then_some(field),
            }),
        }
    }
    match message.well_known {
        WellKnown::None => Some(()),
        WellKnown::Wrapper(_) if out.len() == count + 1 => Some(()),
        _ => None,
    }
}

impl Printer {
    /// Prints an element of a list of messages.
    pub(super) fn like_neighbours(&mut self, bytes: &[u8], index: u16, message: &'static Message) -> Result {
        // An element in an element is printed with it.
        let depth = u32::try_from(self.level)
            .ok()
            .and_then(|level| MAX_DEPTH.checked_sub(level));
        let (None, Some(depth)) = (&self.log, depth) else {
            return self.value_of(bytes, message);
        };
        let place = Place {
            message: index,
            depth,
            notes: false,
        };
        // It is put back; a printer of few elements never has it.
        let mut templates = self.templates.take().unwrap_or_else(|| Box::new(Shapes::new()));
        let printed = match templates.find(bytes, place) {
            Some(template) => template.print(bytes, self),
            None => {
                let from = self.out.len();
                self.log = Some(Log::new());
                let result = self.value_of(bytes, message);
                let log = self.log.take().unwrap_or_default();
                let text = self.out.get(from..).unwrap_or_default();
                let log = log
                    .iter()
                    .map(|range| range.start.saturating_sub(from)..range.end.saturating_sub(from));
                if result.is_ok() {
                    templates.remember(bytes, place, || Template::of(bytes, message, text, &log.collect()));
                }
                result.map(|()| true)
            }
        };
        self.templates = Some(templates);
        match printed {
            Ok(true) => Ok(()),
            Ok(false) => self.value_of(bytes, message),
            Err(inexact) => Err(inexact),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::quoted;
    use super::*;
    use xdsctl_proto::tables;

    fn field(number: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).unwrap();
        assert!(length < 0x80);
        [&[number << 3 | 2, length], payload].concat()
    }

    /// A list of elements, field 2 of a LocalityLbEndpoints or field 4 of a RouteConfiguration.
    fn list(number: u8, elements: &[&[u8]]) -> Vec<u8> {
        elements.iter().flat_map(|bytes| field(number, bytes)).collect()
    }

    fn printed(bytes: &[u8], name: &str, redacts: bool, has_lines: bool) -> String {
        let mut printer = Printer::new(redacts);
        if has_lines {
            printer = printer.with_lines();
        }
        printer.message(bytes, tables::message(name).unwrap());
        String::from_utf8(printer.out).unwrap()
    }

    /// Prints elements in one list, and each in a list of its own, where it has no neighbours.
    fn compare(number: u8, name: &str, elements: &[&[u8]]) {
        for (redacts, has_lines) in [(false, false), (true, true)] {
            let together = printed(&list(number, elements), name, redacts, has_lines);
            let alone = elements
                .iter()
                .map(|bytes| printed(&list(number, &[bytes]), name, redacts, has_lines));
            let alone: Vec<String> = alone.collect();
            let (head, _) = alone[0].split_once('[').unwrap();
            let inner = |text: &String| {
                let (_, tail) = text.split_once('[').unwrap();
                let end = tail.rfind(']').unwrap();
                (tail[..end].trim_end().to_owned(), tail[end..].to_owned())
            };
            let elements: Vec<String> = alone.iter().map(|text| inner(text).0).collect();
            let line = if has_lines { "\n " } else { "" };
            let expected = format!("{head}[{}{line}{}", elements.join(","), inner(&alone[0]).1);
            assert_eq!(together, expected);
        }
    }

    #[test]
    fn a_neighbour_changes_nothing() {
        let socket = [field(2, b"10.0.0.1"), vec![0x18, 0x90, 0x4e]].concat();
        let address = field(1, &field(1, &field(1, &socket)));
        let endpoint = [address, vec![0x10, 0x01], field(4, &[0x08, 0x07])].concat();
        // HeaderValueOption: a header with a value that looks like a secret, and append.
        let header = [field(1, b"auth"), field(2, b"Bearer abcdefghijklmnop")].concat();
        let option = [field(1, &header), field(2, &[0x08, 0x01])].concat();
        let locality = "envoy.config.endpoint.v3.LocalityLbEndpoints";
        let routes = "envoy.config.route.v3.RouteConfiguration";
        for (number, name, sound) in [(2, locality, endpoint), (4, routes, option)] {
            for at in 0..sound.len() {
                for byte in 0..=u8::MAX {
                    let mut other = sound.clone();
                    other[at] = byte;
                    compare(number, name, &[&sound, &sound, &sound, &other, &other]);
                }
            }
        }
    }

    #[test]
    fn only_the_values_of_a_neighbour_are_printed() {
        let socket = |host: &str, port: u8| [field(2, host.as_bytes()), vec![0x18, port]].concat();
        let endpoint = |host: &str, port: u8| field(1, &field(1, &field(1, &socket(host, port))));
        let message = tables::message("envoy.config.endpoint.v3.LbEndpoint").unwrap();
        let first = endpoint("10.0.0.1", 80);
        let mut printer = Printer::new(false);
        printer.log = Some(Log::new());
        assert!(printer.value_of(&first, message).is_ok());
        let log = printer.log.take().unwrap();
        let template = Template::of(&first, message, &printer.out, &log).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&template.text),
            r#"{"endpoint":{"address":{"socket_address":{"address":,"port_value":}}}}"#
        );
        let mut host = Vec::new();
        quoted(&mut host, "10.9.8.7");
        printer.out.clear();
        assert!(matches!(
            template.print(&endpoint("10.9.8.7", 81), &mut printer),
            Ok(true)
        ));
        let expected = r#"{"endpoint":{"address":{"socket_address":{"address":"10.9.8.7","port_value":81}}}}"#;
        assert_eq!(String::from_utf8_lossy(&printer.out), expected);
        // No host and an address that is none are different.
        printer.out.clear();
        assert!(matches!(
            template.print(&endpoint("\0\0\0\0\0\0\0\0", 0), &mut printer),
            Ok(true)
        ));
        assert!(
            String::from_utf8_lossy(&printer.out).ends_with(r#""port_value":0}}}}"#),
            "a oneof says that it is set"
        );
    }

    #[test]
    fn a_field_that_is_left_out_is_left_out_beside_neighbours() {
        let endpoint = |health: u8| vec![0x10, health];
        let all = [endpoint(1), endpoint(2), endpoint(0), endpoint(3)];
        let all: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
        let text = printed(
            &list(2, &all),
            "envoy.config.endpoint.v3.LocalityLbEndpoints",
            false,
            false,
        );
        let expected = r#"{"lb_endpoints":[{"health_status":"HEALTHY"},{"health_status":"UNHEALTHY"},{},{"health_status":"DRAINING"}]}"#;
        assert_eq!(text, expected);
    }
}
