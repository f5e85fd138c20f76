//! What a document yields: resources as wire bytes, with the places where they were found.

use bytes::Bytes;

use crate::proto::transcode::Note;
use crate::source::{SourceId, Span};
use xdsctl_model::diag::{BytesKnowledge, Diagnostic};
use xdsctl_model::resource::ResourceType;

/// The id of a world: a set of resources that one client sees together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorldId(pub u32);

/// Where a world comes from: a document, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorldName {
    /// The document of the world.
    pub source: SourceId,
    /// The part, such as a client scope, or a namespace and pod. `None` means the whole document.
    pub scope: Option<String>,
}

/// The kind of list in which a dump has a resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// The resource is not in such a list: it is bare, or comes from a response or CSDS.
    #[default]
    None,
    /// The resource comes from the proxy's own bootstrap.
    Static,
    /// The resource comes from a control plane.
    Dynamic,
}

/// The state of a resource in a dump.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The resource is in use, or the document does not say.
    #[default]
    Active,
    /// The resource waits for others that it depends on.
    Warming,
    /// The resource is being removed.
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
    /// `version_info`: the version of the resource.
    pub version: Option<String>,
}

/// The place of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The document with the resource.
    pub source: SourceId,
    /// The range of the resource itself: the object with its `@type` or its fields.
    pub span: Span,
    /// The offset at which it starts in the document's [`View`](crate::source::View), if it was
    /// read from a view.
    pub view_at: Option<u32>,
}

/// A resource as it was found in a document.
#[derive(Debug, Clone)]
pub struct RawResource {
    /// The `@type`, or the type that the place of the resource implies. May be empty.
    pub type_url: String,
    /// The type, if a gRPC client asks for it. Others are counted as not checked and have no bytes.
    pub resource_type: Option<ResourceType>,
    /// A name that is given outside of the resource.
    pub wrapper_name: Option<String>,
    /// The world to which the resource belongs.
    pub world: WorldId,
    /// The kind of list in which the resource was found.
    pub label: Label,
    /// The state of the resource.
    pub stage: Stage,
    /// What the dump says about the resource.
    pub status: Option<Box<LiveStatus>>,
    /// The document, and the range of bytes from which the resource was read.
    pub origin: Origin,
    /// The wire bytes of the message. `None` if the dump only names the resource, if gRPC does not
    /// ask for resources of this type, or if the resource could not be read.
    pub bytes: Option<Bytes>,
    /// What is known about the bytes without decoding them.
    pub known: BytesKnowledge,
    /// The findings from reading the resource, in the order of the text.
    pub notes: Vec<Note>,
}

/// A finding on a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The document that the finding is about.
    pub source: SourceId,
    /// The range of bytes that the finding is about.
    pub span: Span,
    /// What is wrong; the path is empty.
    pub diagnostic: Diagnostic,
}

/// A file from which an Envoy bootstrap takes resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathSource {
    /// The document that names the file.
    pub source: SourceId,
    /// The range of bytes of the path in the document.
    pub span: Span,
    /// The path as it is written, relative to the bootstrap that is the document of the world.
    pub path: String,
    /// The world of the bootstrap, to which the file's resources belong.
    pub world: WorldId,
}

/// A gRPC bootstrap among the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BootstrapPlace {
    /// The document with the bootstrap.
    pub source: SourceId,
    /// The range of bytes of the bootstrap in the document.
    pub span: Span,
}

/// A response in a document: everything that it says besides its resources, which are emitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawResponse {
    /// The document with the response.
    pub source: SourceId,
    /// The range of bytes of the response. Its resources are within it.
    pub span: Span,
    /// The world of its resources, or of the resources before it. `None` if there are none yet.
    pub world: Option<WorldId>,
    /// `type_url`, if there is one.
    pub type_url: Option<String>,
    /// Whether the response holds all resources of its type. It does if it has a version, which a
    /// Delta response does not have.
    pub has_all: bool,
    /// `nonce`; may be empty.
    pub nonce: String,
    /// Whether the response was found in the log of a client.
    pub is_logged: bool,
    /// `resource_errors`.
    pub errors: Vec<ResourceError>,
}

/// An entry of `resource_errors`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceError {
    /// The range of bytes of the entry in the document.
    pub span: Span,
    /// `resource_name.name`; may be empty.
    pub name: String,
    /// Whether there is an `error_detail` with a code other than 0.
    pub has_error: bool,
    /// The `error_detail` as text: `CODE: message`.
    pub detail: String,
}
