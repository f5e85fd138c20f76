//! How an RPC ended.

use crate::lb::picker::Step;
use crate::lb::runtime::Time;
use crate::status::Code;

/// What the last pick came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// An endpoint was chosen.
    Complete,
    /// The RPC waited until its deadline.
    Queue,
    /// The RPC failed before or in a pick.
    Fail,
    /// The RPC was dropped on purpose.
    Drop,
}

impl Class {
    /// The word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Complete => "complete",
            Class::Queue => "queue",
            Class::Fail => "fail",
            Class::Drop => "drop",
        }
    }
}

/// What became of an RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What the last pick came to.
    pub class: Class,
    /// The code.
    pub code: Code,
    /// The message; empty with OK.
    pub details: String,
    /// The address that answered OK.
    pub backend: Option<String>,
    /// `set-cookie` headers of the answer.
    pub set_cookie: Vec<String>,
    /// The cookies came with the trailers, as the answer had no headers.
    pub cookie_in_trailers: bool,
    /// The address of each attempt that reached one.
    pub attempts: Vec<String>,
    /// When the RPC began.
    pub began: Time,
    /// When it ended.
    pub ended: Time,
    /// The way through the layers.
    pub trace: Vec<Step>,
}
