//! The findings that are not shown one by one: a line a rule.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{SHOWN_IN_ALL, SHOWN_PER_RULE, Style};
use xdsctl::diag::Severity;

/// Names listed in a line that stands for many findings.
const NAMED_IN_GROUP: usize = 6;

/// The findings of one rule: how many, and in which fields and resources those are that are not shown one by one.
#[derive(Default)]
pub(super) struct Group {
    shown: usize,
    pub(super) hidden: usize,
    pub(super) severity: Option<Severity>,
    fields: BTreeMap<String, usize>,
    /// Resources before the current one that have hidden findings.
    resources: usize,
    /// The current resource, and its hidden findings.
    current: Option<(usize, usize)>,
}

impl Group {
    /// Says whether one more of the findings is to be shown; `in_all` are shown so far, of every rule.
    pub(super) fn wants(&self, severity: Severity, style: Style, in_all: usize) -> bool {
        severity >= style.min_severity && (!style.is_capped || (self.shown < SHOWN_PER_RULE && in_all < SHOWN_IN_ALL))
    }

    /// Counts so many findings as not shown.
    pub(super) fn hide(&mut self, resource: Option<usize>, severity: Severity, field: Option<&str>, more: usize) {
        self.hidden += more;
        self.severity = Some(severity);
        if let Some(field) = field {
            match self.fields.get_mut(field) {
                Some(count) => *count += more,
                None => _ = self.fields.insert(field.to_owned(), more),
            }
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

    /// Takes back what [`hide`](Self::hide) did: the finding is shown after all.
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

    /// Counts the current resource.
    fn leave(&mut self) {
        if self.current.take().is_some_and(|(_, hidden)| hidden > 0) {
            self.resources += 1;
        }
    }
}

pub(super) fn write_groups(groups: &mut BTreeMap<&'static str, Group>, out: &mut dyn Write) -> io::Result<()> {
    groups.values_mut().for_each(Group::leave);
    let mut order: Vec<_> = groups.iter().filter(|(_, g)| g.hidden > 0).collect();
    order.sort_by_key(|(id, g)| (std::cmp::Reverse(g.severity), **id));
    for (id, group) in order {
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
        let severity = group.severity.unwrap_or(Severity::Note);
        write!(out, "{severity}: {}{more} {id}", group.hidden)?;
        if group.resources > 0 {
            let n = group.resources;
            write!(out, " in {n} {}", if n == 1 { "resource" } else { "resources" })?;
        }
        if !named.is_empty() {
            write!(out, ": {}", named.join(", "))?;
        }
        if rest > 0 {
            write!(out, " and {rest} other{}", if rest == 1 { "" } else { "s" })?;
        }
        writeln!(out)?;
    }
    Ok(())
}
