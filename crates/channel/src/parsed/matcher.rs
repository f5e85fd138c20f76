//! String and header matchers as the client keeps them.

use super::fields::{Fields, Form};
use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, StringMatch, StringMatcher};

impl Fields for StringMatcher {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        match &self.kind {
            StringMatch::Exact(text) => form.put("exact", text),
            StringMatch::Prefix(text) => form.put("prefix", text),
            StringMatch::Suffix(text) => form.put("suffix", text),
            StringMatch::Contains(text) => form.put("contains", text),
            StringMatch::Regex(regex) => {
                form.put("safe_regex", regex.as_str());
                return;
            }
        }
        .set("ignore_case", self.ignore_case, false);
    }
}

impl Fields for HeaderMatcher {
    fn fields<'a>(&'a self, form: &mut Form<'a, '_>) {
        form.put("name", &self.name);
        match &self.kind {
            HeaderMatch::String(text) => form.put("string_match", text),
            HeaderMatch::Range { start, end } => form.object("range_match", |form| {
                form.put("start", *start).put("end", *end);
            }),
            HeaderMatch::Present(present) => form.put("present_match", *present),
        }
        .set("invert_match", self.invert_match, false);
    }
}
