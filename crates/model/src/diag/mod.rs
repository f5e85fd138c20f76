//! Findings as plain data: the place ([`Path`], [`FieldPath`]), the kind of fault ([`Rule`]) and
//! the words ([`Diagnostic`]), collected in a [`Validation`].
//!
//! Nothing here renders, colours or prints, and nothing knows protobuf messages or files. A place
//! is a field path in the client's own notation; byte spans are looked up by `report` only for what
//! is printed.

mod budget;
mod diagnostic;
mod fingerprint;
mod packed;
mod path;
mod quota;
mod rule;
mod validation;

pub use crate::rules;
pub use budget::{Allowance, Budget, MIN_FINDINGS_TOGETHER, cut};
pub use diagnostic::{Diagnostic, Related};
pub use fingerprint::{About, Fingerprint, Fingerprints};
pub use packed::{FieldWords, Packed, PackedPattern, PackedText};
pub use path::{FieldPath, Path, Seg, Segs};
pub use quota::MAX_FINDINGS_PER_RULE;
pub use quota::Quota;
pub use rule::{Effect, Rule, Severity, SharedBy, Subject};
pub use validation::{BytesKnowledge, READERS_BESIDE, RejectionMark, Reported, Validation};
