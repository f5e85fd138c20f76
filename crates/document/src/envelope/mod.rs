//! The shapes in which xDS resources reach a user: dumps, responses, snapshots, wrappers.
//!
//! A document is read once, from start to end. [`Walker`] looks at the keys of an object until a
//! [`Shape`] claims it and hands it the object; the shape walks its own keys and passes each
//! resource to [`Walker::slot`] or [`Walker::bare`], which transcode it on the spot and emit a
//! [`RawResource`]. Nothing of the document is kept.
//!
//! To add a shape, write one file here with a `pub(super) static SHAPE: Shape`, which says by which
//! key or `@type` it recognises an object, and how to walk it. Name the file twice in this one: in
//! its `mod` line, and in [`SHAPES`] at the right place, because earlier shapes claim first. No
//! other module knows the shapes; `tests/tidy.rs` finds a forgotten one.

mod beside;
mod clusters_status;
mod config_dump;
mod csds;
mod discovery;
pub mod document;
mod entries;
mod envoy_bootstrap;
mod grpc_bootstrap;
mod keyed;
mod kubernetes;
mod legacy;
mod loader;
mod raw;
mod slot;
mod snapshot;
mod template;
mod untyped;
mod values;
mod walker;
mod wrapper;

pub use discovery::REMOVED;
pub use document::{EMPTY, again};
pub use loader::{Emit, LoadOptions, Loader, MovedWorlds};
pub use raw::{
    BootstrapPlace, Finding, Label, LiveStatus, Origin, PathSource, RawResource, RawResponse, ResourceError, Stage,
    WorldId, WorldName,
};
pub use slot::{BATCH_BYTES, BATCH_RESOURCES};

use crate::proto::transcode::TranscodeStop;
use walker::Walker;
use xdsctl_model::diag::rules;

rules! {
    /// A document has the shape of configuration, and no resource in it.
    NO_RESOURCE = "dump-without-resource", Dump, Advice, "the shapes in which xDS tools print configuration";
    /// A response says that there is no resource of its type.
    EMPTY_RESPONSE = "dump-empty-response", Dump, Advice, "gRFC A53; C-core XdsClient::XdsChannel::AdsCall";
    /// A document, or an entry of a dump, holds no xDS configuration in a shape that xdsctl knows.
    UNKNOWN_SHAPE = "dump-unknown-shape", Dump, Advice, "the shapes in which xDS tools print configuration";
    /// A Resource wrapper in a response holds no resource.
    WRAPPER_EMPTY = "response-wrapper-empty", Dump, Nack, "C-core xds_client.cc DecodeAdsResponse";
    /// A resource is of a type that no xDS client is known to ask for.
    UNKNOWN_TYPE = "dump-unknown-resource-type", Dump, Advice, "C-core xds_api.cc knows its resource types by name only";
    /// A config dump has a section, or a list in one, that xdsctl does not know.
    UNKNOWN_SECTION = "dump-unknown-section", Dump, Advice as Note, "envoy.admin.v3, config_dump.proto";
    /// A Kubernetes object beside xDS configuration has none, and is passed over.
    MANIFEST_SKIPPED = "dump-manifest-skipped", Dump, Advice as Note, "Kubernetes API conventions: kind, items, data of a ConfigMap";
    /// A document is xDS v2, which gRPC clients no longer speak.
    V2 = "dump-v2", Dump, Advice, "C-core xds_api.cc knows v3 type URLs only";
    /// A document is Envoy's list of cluster states, which holds no configuration.
    CLUSTERS_STATUS = "dump-clusters-status", Dump, Advice as Note, "Envoy admin interface, /clusters?format=json";
    /// A file from which an Envoy bootstrap takes resources cannot be read.
    PATH_SOURCE_UNREADABLE = "dump-path-source-unreadable", Dump, Fails, "envoy.config.core.v3.ConfigSource, path_config_source and path";
    /// A resource has no @type where there should be one; its place says what it is.
    MISSING_TYPE = "dump-missing-type", Dump, Advice as Note, "protobuf JSON mapping of Any";
}

type Result<T> = std::result::Result<T, TranscodeStop>;

/// Something in an object by which a shape can recognise it.
#[derive(Debug, Clone, Copy)]
enum Clue<'a> {
    /// A key, as written and in snake_case, with the first byte of its value.
    Key { written: &'a str, name: &'a str, value: u8 },
    /// The message type that `@type` names.
    Type(&'a str),
}

impl Clue<'_> {
    /// Says whether this is the key `wanted` with a value that starts with the byte `first`.
    fn is(&self, wanted: &str, first: u8) -> bool {
        matches!(self, Clue::Key { name, value, .. } if *name == wanted && *value == first)
    }
}

/// A kind of document, or of object in a document.
struct Shape {
    /// Says whether this key or type alone is enough to recognise the shape.
    claims: fn(&Clue<'_>) -> bool,
    /// Reads the object at the scanner.
    walk: fn(&mut Walker<'_, '_>) -> Result<()>,
}

/// Every shape that claims objects; the first that claims one gets it.
static SHAPES: &[&Shape] = &[
    &legacy::SHAPE,
    &wrapper::PATCH,
    &config_dump::DUMP,
    &config_dump::SECTION,
    &csds::RESPONSE,
    &csds::CLIENT,
    &csds::OLD_CONFIG,
    &discovery::WRAPPED,
    &discovery::SHAPE,
    &discovery::REQUEST,
    &grpc_bootstrap::SHAPE,
    &envoy_bootstrap::SHAPE,
    &kubernetes::SHAPE,
    &kubernetes::LIST,
    &clusters_status::SHAPE,
    &keyed::SHAPE,
    &snapshot::SHAPE,
    &untyped::TYPED,
];

/// The shapes that hold everything that one client has.
static DUMPS: &[&Shape] = &[
    &config_dump::DUMP,
    &config_dump::SECTION,
    &csds::OLD_CONFIG,
    &envoy_bootstrap::SHAPE,
    &keyed::SHAPE,
];

#[cfg(test)]
mod tests;
