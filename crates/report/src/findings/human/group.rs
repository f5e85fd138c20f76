//! The findings that are not shown one by one: one line for each rule.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{FindingsStyle, SHOWN_PER_RULE};
use crate::plural;
use xdsctl_model::diag::Severity;

/// Most names that are listed in a line about many findings.
const NAMED_IN_GROUP: usize = 6;

/// The findings of one rule and severity: their number, and the fields and resources of those that
/// are not shown one by one.
#[derive(Default)]
pub(super) struct Group {
    shown: usize,
    /// How many places are being looked up.
    wanted: usize,
    pub(super) hidden: usize,
    fields: BTreeMap<String, usize>,
    /// How many resources before the current one have hidden findings.
    resources: usize,
    /// Index of the current resource, and the number of its hidden findings.
    current: Option<(usize, usize)>,
}

impl Group {
    /// Returns how many more findings may be shown.
    pub(super) fn room(&self, style: FindingsStyle) -> usize {
        match style.is_capped {
            true => SHOWN_PER_RULE.saturating_sub(self.shown),
            false => usize::MAX,
        }
    }

    /// Returns how many of `count` findings should be looked up, so that [`room`](Self::room) is
    /// used.
    pub(super) fn want(&mut self, count: usize, style: FindingsStyle) -> usize {
        let wanted = self.room(style).saturating_sub(self.wanted).min(count);
        self.wanted += wanted;
        wanted
    }

    /// Counts `more` findings as not shown.
    pub(super) fn hide(&mut self, resource: Option<usize>, field: Option<&str>, more: usize) {
        self.hidden += more;
        if let Some(field) = field {
            *self.fields.entry(field.to_owned()).or_default() += more;
        }
        if let Some(number) = resource {
            match &mut self.current {
                Some((current, count)) if *current == number => *count += more,
                _ => {
                    self.leave();
                    self.current = Some((number, more));
                }
            }
        }
    }

    /// Undoes [`hide`](Self::hide) for one finding that is shown after all.
    pub(super) fn show(&mut self, field: Option<&str>) {
        self.shown += 1;
        self.hidden = self.hidden.saturating_sub(1);
        if let Some(count) = field.and_then(|field| self.fields.get_mut(field)) {
            *count = count.saturating_sub(1);
        }
        if let Some((_, count)) = &mut self.current {
            *count = count.saturating_sub(1);
        }
    }

    /// Ends the lookup of places: all that were wanted have been found.
    pub(super) fn placed(&mut self) {
        self.wanted = 0;
    }

    /// Counts the current resource.
    fn leave(&mut self) {
        if self.current.take().is_some_and(|(_, hidden)| hidden > 0) {
            self.resources += 1;
        }
    }
}

/// Groups by severity and the id of the rule.
pub(super) type Groups = BTreeMap<(Reverse<Severity>, &'static str), Group>;

pub(super) fn write_groups(groups: &mut Groups, out: &mut dyn Write) -> io::Result<()> {
    groups.values_mut().for_each(Group::leave);
    for ((Reverse(severity), id), group) in groups.iter().filter(|(_, group)| group.hidden > 0) {
        let mut fields: Vec<_> = group.fields.iter().filter(|(_, n)| **n > 0).collect();
        fields.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), name.as_str()));
        let named: Vec<String> = fields
            .iter()
            .take(NAMED_IN_GROUP)
            .map(|(name, n)| {
                if **n > 1 {
                    format!("{name} ({n})")
                } else {
                    (*name).clone()
                }
            })
            .collect();
        let rest = fields.len().saturating_sub(NAMED_IN_GROUP);
        let more = if group.shown > 0 { " more" } else { "" };
        write!(out, "{severity}: {}{more} {id}", group.hidden)?;
        if group.resources > 0 {
            write!(out, " in {}", plural(group.resources, "resource"))?;
        }
        if !named.is_empty() {
            write!(out, ": {}", named.join(", "))?;
        }
        if rest > 0 {
            write!(out, " and {}", plural(rest, "other"))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
