//! Members beside those that a shape reads. They are not read; if they hold resources, a finding
//! says so.

use xdsctl_proto::tables;

use super::walker::{MAX_NESTING, Walker};
use super::{Clue, DUMPS, Result, SHAPES, UNKNOWN_SHAPE, csds, snapshot};
use crate::source::Span;
use xdsctl_model::resource::ResourceType;

impl Walker<'_, '_> {
    /// Skips the value of a member that the current shape does not read, and reports the value if
    /// it holds resources.
    pub fn beside(&mut self, key: &str) -> Result<()> {
        let value = self.tc.scan.peek();
        let start = self.pos();
        let may_hold = match snapshot::listed(key).and_then(|listed| tables::message(listed.type_name())) {
            Some(message) => value == b'[' && self.may_hold(message)?,
            None => false,
        };
        if key == ORIGIN && self.origin()? {
            return Ok(());
        }
        self.tc.scan.set_pos(start);
        self.skip()?;
        let span = Span::new(start, self.pos());
        let clue = Clue::Key {
            written: key,
            name: key,
            value,
        };
        let is_dump = || {
            let mut shapes = SHAPES.iter().copied();
            let claimant = shapes.find(|shape| (shape.claims)(&clue));
            let mut dumps = DUMPS.iter().copied().chain([&csds::RESPONSE, &csds::CLIENT]);
            claimant.is_some_and(|claimant| dumps.any(|dump| std::ptr::eq(dump, claimant)))
        };
        if may_hold
            || matches!(value, b'{' | b'[') && (is_dump() || names_resources(self.tc.scan.slice(start, span.end)))
        {
            let what = format!("the resources in `{key}` are not checked: what stands beside it is read");
            self.unchecked(span, what);
        }
        Ok(())
    }

    /// Skips the value of [`ORIGIN`]. Returns false if it has any unexpected member, which could
    /// hold a resource.
    fn origin(&mut self) -> Result<bool> {
        let mut is_one = self.tc.scan.peek() == b'{';
        self.fields(&mut |walker, key| {
            let value = walker.tc.scan.peek();
            if key != "responses" {
                is_one &= matches!(key, "source" | "fetched") && is_scalar(value);
                return walker.skip();
            }
            is_one &= value == b'[';
            walker.elements(&mut |walker, _| {
                is_one &= walker.tc.scan.peek() == b'{';
                walker.fields(&mut |walker, key| {
                    let is_known = matches!(key, "type_url" | "version_info" | "nonce");
                    is_one &= is_known && is_scalar(walker.tc.scan.peek());
                    walker.skip()
                })
            })
        })?;
        Ok(is_one)
    }

    /// Skips a value that is nested too deeply, and reports it if it holds resources.
    pub fn beyond(&mut self) -> Result<()> {
        let start = self.pos();
        self.skip()?;
        let span = Span::new(start, self.pos());
        if names_resources(self.tc.scan.slice(start, span.end)) {
            let what = format!("the resources inside more than {MAX_NESTING} objects are not checked");
            self.unchecked(span, what);
        }
        Ok(())
    }

    /// Reports resources that are not checked.
    pub fn unchecked(&mut self, span: Span, what: String) {
        self.is_told = true;
        let help = "give them a document of their own".to_owned();
        self.report(&UNKNOWN_SHAPE, span, what).help(help);
    }
}

/// The member in which a dump that `xdsctl fetch` wrote says where it is from, with the types and
/// versions of the responses.
const ORIGIN: &str = "xdsctl";

/// Says whether a value whose first byte is `first` is neither an object nor a list.
const fn is_scalar(first: u8) -> bool {
    !matches!(first, b'{' | b'[')
}

/// Says whether a text holds a string that ends in `/` and the type name of a resource.
fn names_resources(text: &[u8]) -> bool {
    // Most texts do not mention xDS at all.
    memchr::memmem::find(text, b"/envoy.config.").is_some()
        && ResourceType::ALL.iter().any(|kind| {
            let string = format!("/{}\"", kind.type_name());
            memchr::memmem::find(text, string.as_bytes()).is_some()
        })
}
