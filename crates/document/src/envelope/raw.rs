//! What a document yields: resources as wire bytes, with where they come from.

use bytes::Bytes;

use crate::proto::transcode::Note;
use crate::source::{SourceId, Span};
use xdsctl_model::diag::{BytesKnowledge, Diagnostic};
use xdsctl_model::resource::ResourceType;

/// A set of resources that one client would see together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorldId(pub u32);

/// Which set of resources it is: a document, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorldName {
    /// The document that it comes from.
    pub source: SourceId,
    /// The part: a client scope, a namespace and pod; `None` for the document itself.
    pub scope: Option<String>,
}

/// The list of a dump in which a resource stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// No list: a response, a bare resource, CSDS.
    #[default]
    None,
    /// From the proxy's own bootstrap.
    Static,
    /// From a control plane.
    Dynamic,
}

/// How far a dumped resource has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The resource is in use, or the document does not say.
    #[default]
    Active,
    /// Waiting for what it depends on.
    Warming,
    /// On its way out.
    Draining,
    /// The last update, which the client rejected (`error_state.failed_configuration`).
    Failed,
}

/// What the client or the control plane said about a resource in a dump.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveStatus {
    /// `client_status`: `ACKED`, `NACKED`, `REQUESTED`, `DOES_NOT_EXIST`, ...
    pub client: Option<String>,
    /// `config_status` of a control plane: `SYNCED`, `NOT_SENT`, `STALE`, `ERROR`.
    pub server: Option<String>,
    /// `error_state.details`: why the last update was rejected.
    pub error: Option<String>,
    /// `error_state.version_info`: the version that was rejected.
    pub rejected_version: Option<String>,
    /// `version_info`.
    pub version: Option<String>,
}

/// Where a resource stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The document that it comes from.
    pub source: SourceId,
    /// The text of the resource itself: the object with its `@type` or its fields.
    pub span: Span,
    /// Where it starts in the document's [`View`](crate::source::View), if it was read through
    /// that.
    pub view_at: Option<u32>,
}

/// A resource as it was found.
#[derive(Debug, Clone)]
pub struct RawResource {
    /// The `@type`, or what its place says; may be empty.
    pub type_url: String,
    /// The type, if a gRPC client asks for it. Others are counted as not checked and have no bytes.
    pub resource_type: Option<ResourceType>,
    /// The name that stands outside of the resource.
    pub wrapper_name: Option<String>,
    /// Which set it belongs to.
    pub world: WorldId,
    /// The list it stands in.
    pub label: Label,
    /// How far it has come.
    pub stage: Stage,
    /// What was said about it.
    pub status: Option<Box<LiveStatus>>,
    /// The document, and the bytes of it, from which it was read.
    pub origin: Origin,
    /// Wire bytes of the message; `None` if the dump names a resource and does not hold it, if the
    /// type is not one that gRPC asks for, or if it could not be read.
    pub bytes: Option<Bytes>,
    /// What is known of the bytes.
    pub known: BytesKnowledge,
    /// What was noticed while reading it, in the order of the text.
    pub notes: Vec<Note>,
}

/// A finding on a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The document that it comes from.
    pub source: SourceId,
    /// The range of bytes that it takes up in the document.
    pub span: Span,
    /// What is wrong; the path is empty.
    pub diagnostic: Diagnostic,
}

/// A file that an Envoy bootstrap takes resources from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathSource {
    /// The document that names it.
    pub source: SourceId,
    /// The range of bytes that it takes up in the document.
    pub span: Span,
    /// The path as written; relative to the bootstrap, which is the document of the world.
    pub path: String,
    /// The world of the bootstrap, to which the file's resources belong.
    pub world: WorldId,
}

/// A gRPC bootstrap among the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BootstrapPlace {
    /// The document that it comes from.
    pub source: SourceId,
    /// The range of bytes that it takes up in the document.
    pub span: Span,
}

/// A response among the documents: what it says besides its resources, which were emitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawResponse {
    /// The document that it comes from.
    pub source: SourceId,
    /// Its text; its resources stand in it.
    pub span: Span,
    /// The world of its resources, if there are any, or of what came before it.
    pub world: Option<WorldId>,
    /// `type_url`, if there is one.
    pub type_url: Option<String>,
    /// It says all that there is of its type: it has a version, as no Delta response has.
    pub has_all: bool,
    /// `nonce`; may be empty.
    pub nonce: String,
    /// It stands in the log of a client.
    pub is_logged: bool,
    /// `resource_errors`.
    pub errors: Vec<ResourceError>,
}

/// An entry of `resource_errors`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceError {
    /// The range of bytes that it takes up in the document.
    pub span: Span,
    /// `resource_name.name`; may be empty.
    pub name: String,
    /// `error_detail` is there and has a code other than 0.
    pub has_error: bool,
    /// `error_detail` in words: `CODE: message`.
    pub detail: String,
}
