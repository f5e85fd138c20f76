//! What is said about a whole dump.
//!
//! [`lint`] states what is about several resources, [`decide`] decides which findings are shown, by
//! the reader's [`choice`] too, [`fix`] mends documents, [`diff`] compares two versions,
//! [`recognise`] finds the cause of a line of a log. [`catalogue`] lists all rules.

pub mod lint;

pub mod choice;

pub mod decide;

pub mod catalogue;

pub mod fix;
pub mod recognise;

pub mod diff;
