//! What is said about a whole dump.
//!
//! [`lint`] states facts about several resources, and [`decide`] decides which findings are shown,
//! also by the user's [`choice`]. [`fix`] repairs documents, [`diff`] compares two versions, and
//! [`recognise`] finds the cause of a line of a log. [`catalogue`] lists all rules.

pub mod lint;

pub mod choice;

pub mod decide;

pub mod catalogue;

pub mod fix;
pub mod recognise;

pub mod diff;
