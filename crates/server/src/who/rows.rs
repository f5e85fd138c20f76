//! What policies match, as rows. All cells of a row must hold, and one row is enough.

use super::condition::{Column, Condition};

/// The most rows that one policy is split into. What would be more stays together in one cell.
const MAX_SPLIT: usize = 16;

/// A policy by its filter and its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PolicyName {
    /// The filter's name.
    pub filter: String,
    /// The policy's name in it.
    pub policy: String,
}

/// A row. It matches if all of its conditions hold; without conditions it matches everyone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The conditions of the row.
    pub conditions: Vec<Condition>,
    /// The policies that match, one of each filter.
    pub by: Vec<PolicyName>,
}

impl Row {
    /// Says whether it asks nothing about who the client is: neither its names nor its address.
    pub fn is_of_everyone(&self) -> bool {
        !self.conditions.iter().any(Condition::asks_who)
    }

    /// Returns the conditions of a column.
    pub fn cell(&self, column: Column) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(move |own| own.column() == column)
    }
}

/// Splits what a condition asks into rows, each with the conditions that must all hold.
pub(super) fn split(condition: &Condition) -> Vec<Vec<Condition>> {
    if condition.is_false() {
        return Vec::new();
    }
    let whole = |condition: &Condition| vec![vec![condition.clone()]];
    match condition {
        Condition::Is { .. } => whole(condition),
        Condition::All(list) => {
            let mut rows = vec![Vec::new()];
            for part in list {
                let mut parts = split(part);
                if parts.len() * rows.len() > MAX_SPLIT {
                    parts = whole(part);
                }
                rows = product(&rows, &parts);
            }
            rows
        }
        Condition::OneOf(_) if condition.column() != Column::Other => whole(condition),
        Condition::OneOf(list) => {
            let mut alike: Vec<(Column, Vec<Condition>)> = Vec::new();
            let mut rows = Vec::new();
            for part in list {
                match part.column() {
                    Column::Other => rows.extend(split(part)),
                    column => match alike.iter_mut().find(|(own, _)| *own == column) {
                        Some((_, parts)) => parts.push(part.clone()),
                        None => alike.push((column, vec![part.clone()])),
                    },
                }
                if rows.len() > MAX_SPLIT {
                    return whole(condition);
                }
            }
            let alike = alike.into_iter().map(|(_, parts)| vec![Condition::one_of(parts)]);
            alike.chain(rows).collect()
        }
    }
}

fn product(rows: &[Vec<Condition>], parts: &[Vec<Condition>]) -> Vec<Vec<Condition>> {
    let pairs = rows.iter().flat_map(|row| parts.iter().map(move |part| (row, part)));
    pairs
        .map(|(row, part)| row.iter().chain(part).cloned().collect())
        .collect()
}

/// Joins the rows of two filters, both of which must let a client in. Returns `None` if there would
/// be more than `most` rows.
pub(super) fn both(rows: &[Row], others: &[Row], most: usize) -> Option<Vec<Row>> {
    if rows.len().checked_mul(others.len())? > most {
        return None;
    }
    let pairs = rows.iter().flat_map(|row| others.iter().map(move |other| (row, other)));
    let joined = pairs.map(|(row, other)| Row {
        conditions: row.conditions.iter().chain(&other.conditions).cloned().collect(),
        by: row.by.iter().chain(&other.by).cloned().collect(),
    });
    Some(joined.collect())
}
