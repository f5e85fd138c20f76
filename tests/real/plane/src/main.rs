//! `plane FILE` serves the snapshots of a file, prints its port as a line of JSON, and ends with
//! its input.
//!
//! Each line of the file is a resource: the id of the node that gets it, the version of its type,
//! type URL, name, and bytes in base64.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use xds_cache::{Cache as _, ShardedCache, Snapshot};
use xds_core::{BoxResource, NodeHash, Resource, ResourceRegistry, TypeUrl};
use xds_server::services::AdsService;

/// Resources by node, then by type URL and version.
type Snapshots = BTreeMap<String, BTreeMap<(String, String), Vec<BoxResource>>>;

/// A resource that stays encoded.
#[derive(Debug)]
struct Bytes {
    name: String,
    any: prost_types::Any,
}

impl Resource for Bytes {
    fn type_url(&self) -> &str {
        &self.any.type_url
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn encode(&self) -> Result<prost_types::Any, Box<dyn Error + Send + Sync>> {
        Ok(self.any.clone())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

fn read(text: &str) -> Result<Snapshots, Box<dyn Error>> {
    let mut snapshots = Snapshots::new();
    for line in text.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let [node, version, type_url, name, value] = parts[..] else {
            return Err(format!("a line has {} parts: {line}", parts.len()).into());
        };
        let any = prost_types::Any {
            type_url: type_url.to_owned(),
            value: STANDARD.decode(value)?,
        };
        let name = name.to_owned();
        let of_node = snapshots.entry(node.to_owned()).or_default();
        let key = (type_url.to_owned(), version.to_owned());
        of_node.entry(key).or_default().push(Arc::new(Bytes { name, any }));
    }
    Ok(snapshots)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("which file?")?;
    let cache = Arc::new(ShardedCache::new());
    for (node, types) in read(&std::fs::read_to_string(path)?)? {
        let mut snapshot = Snapshot::builder();
        for ((type_url, version), resources) in types {
            snapshot = snapshot.resources_with_version(TypeUrl::new(type_url), version, resources);
        }
        cache.set_snapshot(NodeHash::from_id(&node), snapshot.build());
    }
    let service = AdsService::new(cache, Arc::new(ResourceRegistry::with_envoy_types()));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{{\"port\": {}}}", listener.local_addr()?.port());
    let served = Server::builder()
        .add_service(service.into_service())
        .serve_with_incoming(TcpListenerStream::new(listener));
    let mut input = tokio::io::stdin();
    let mut rest = Vec::new();
    tokio::select! {
        served = served => Ok(served?),
        _ = input.read_to_end(&mut rest) => Ok(()),
    }
}
