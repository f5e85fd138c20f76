//! Attacks by control planes that send nothing, too much, or something else.

use std::time::{Duration, Instant};

use bytes::Bytes;
use prost::Message as _;
use xdsctl_model::resource::ResourceType;

use super::plane::{cluster, listener, response, start};
use super::{attack, fetched};
use crate::ads::subscriber::Subscriber;
use crate::messages::{Any, DeltaResponse, DiscoveryResponse, Resource};
use crate::{Address, FetchOptions};

fn within(seconds: u64) -> FetchOptions {
    FetchOptions {
        timeout: Duration::from_secs(seconds),
        ..FetchOptions::default()
    }
}

/// Starts a snapshot cache as go-control-plane has it in ADS mode: it sends all resources of a
/// type, if the request names all of them or none.
fn ads_mode(snapshot: Vec<(ResourceType, &'static str, Any)>) -> u16 {
    start(move |request| {
        let of_type = snapshot.iter().filter(|(of, ..)| of.type_url() == request.type_url);
        let is_all = request.resource_names.is_empty()
            || of_type
                .clone()
                .all(|(_, name, _)| request.resource_names.iter().any(|asked| asked == name));
        let Some((of, ..)) = of_type
            .clone()
            .next()
            .filter(|_| is_all && request.response_nonce.is_empty())
        else {
            return Box::new(std::iter::empty());
        };
        let resources = of_type.map(|(.., any)| any.clone()).collect();
        Box::new(std::iter::once(response(*of, "1", resources)))
    })
}

#[test]
fn a_cache_that_answers_only_who_asks_for_all_is_named() {
    let (of_listener, of_cluster) = (ResourceType::Listener, ResourceType::Cluster);
    let port = ads_mode(vec![
        (of_listener, "a", listener("a", &["x"])),
        (of_listener, "b", listener("b", &["y"])),
    ]);
    let target = |options: FetchOptions| FetchOptions {
        targets: vec!["xds:///a".to_owned()],
        ..options
    };
    let cause = "A known cause is a snapshot cache of go-control-plane in ADS mode, `NewSnapshotCache(true, ...)`: it answers only a request \
                 that names all its resources of the type, and a gRPC client names only those that it needs; `false` turns that off";
    let error = fetched(&format!("ads://127.0.0.1:{port}"), target(within(2)))
        .0
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "`ads://127.0.0.1:{port}` has not said everything within 2 s: asked for Listener `a`, not answered. A gRPC client waits like this \
             too, and then takes it for not existing. {cause}"
        )
    );
    // It answers a request for everything.
    let (result, dump) = fetched(&format!("ads://127.0.0.1:{port}"), within(2));
    assert!(
        result
            .unwrap()
            .failure
            .unwrap()
            .to_string()
            .ends_with("within 2 s: Cluster"),
        "{dump}"
    );
    // The Listener is sent, but one of its two clusters is not.
    let port = ads_mode(vec![
        (of_listener, "a", listener("a", &["x"])),
        (of_cluster, "x", cluster("x")),
        (of_cluster, "y", cluster("y")),
    ]);
    let (result, dump) = fetched(&format!("ads://127.0.0.1:{port}"), target(within(2)));
    assert_eq!(
        result.unwrap().notes,
        [format!(
            "asked for Cluster `x`, not answered within 2 s: a gRPC client waits 15 s, and then takes it for not existing. {cause}"
        )]
    );
    assert!(dump.contains("DOES_NOT_EXIST"), "{dump}");
}

#[test]
fn a_server_that_says_nothing_is_no_such_cache() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let error = fetched(&format!("ads://127.0.0.1:{port}"), within(1)).0.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "`ads://127.0.0.1:{port}` has not said everything within 1 s: asked for Listener, Cluster, nothing was answered"
        )
    );
}

/// Starts a server that sends endless responses, each with more clusters than the one before.
fn growing(names: &'static str) -> u16 {
    start(move |request| {
        if request.type_url != ResourceType::Listener.type_url() || !request.response_nonce.is_empty() {
            return Box::new(std::iter::empty());
        }
        let mut resources = Vec::new();
        Box::new((0_u64..).map(move |number| {
            for index in 0..20 {
                let name = format!("{names}{number}-{index}");
                resources.push(listener(&name, &["x"]));
            }
            response(ResourceType::Listener, &number.to_string(), resources.clone())
        }))
    })
}

#[test]
fn responses_that_grow_without_end_end_with_the_time() {
    let port = growing("l");
    let began = Instant::now();
    let error = fetched(&format!("ads://127.0.0.1:{port}"), within(1))
        .0
        .unwrap()
        .failure
        .unwrap();
    assert!(
        error
            .to_string()
            .contains("has not said everything within 1 s: Cluster"),
        "{error}"
    );
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[test]
fn responses_that_grow_without_end_end_with_the_size() {
    let port = growing("l");
    let options = FetchOptions {
        max_message_bytes: 100_000,
        ..within(15)
    };
    let error = fetched(&format!("ads://127.0.0.1:{port}"), options)
        .0
        .unwrap()
        .failure
        .unwrap();
    let words = error.to_string();
    assert!(words.contains("--max-size raises that"), "{words}");
}

fn subscriber(max_message_bytes: usize, address: &str) -> Subscriber {
    let options = FetchOptions {
        max_message_bytes,
        ..FetchOptions::default()
    };
    let mut subscriber = Subscriber::new(&Address::parse(address).unwrap(), &options).unwrap();
    subscriber.start(&Bytes::new());
    subscriber
}

#[test]
fn names_and_versions_count() {
    const LIMIT: usize = 1 << 20;
    // The response has one version for many small resources.
    let mut one = subscriber(LIMIT, "ads://h:1");
    let version = "v".repeat(100_000);
    let resources = (0..1000).map(|number| cluster(&format!("c{number}"))).collect();
    one.take(&response(ResourceType::Cluster, &version, resources), 0)
        .unwrap();
    assert!(
        one.held_bytes() > LIMIT && one.held_bytes() < 2 * LIMIT,
        "{}",
        one.held_bytes()
    );
    // These are names of resources that do not exist.
    let mut delta = subscriber(LIMIT, "ads://h:1?delta");
    let response = DeltaResponse {
        type_url: ResourceType::Cluster.type_url(),
        removed_resources: (0..1000).map(|number| format!("{number}-{version}")).collect(),
        ..DeltaResponse::default()
    };
    delta.take(&response.encode_to_vec().into(), 0).unwrap();
    assert!(delta.held_bytes() > LIMIT, "{}", delta.held_bytes());
}

#[test]
fn a_message_ends_with_the_resources_that_are_kept_of_it() {
    let padded = |name: &str, bytes: usize| {
        let json = format!(
            r#"{{"name": "{name}", "type": "EDS", "alt_stat_name": "{}", "eds_cluster_config": {{"eds_config": {{"ads": {{}}}}}}}}"#,
            "x".repeat(bytes)
        );
        Resource {
            name: name.to_owned(),
            version: "1".to_owned(),
            resource: Some(super::plane::resource(ResourceType::Cluster, &json)),
        }
    };
    let mut subscriber = subscriber(1 << 30, "ads://h:1?delta");
    let mut messages: Vec<Bytes> = Vec::new();
    for number in 0..10 {
        let response = DeltaResponse {
            type_url: ResourceType::Cluster.type_url(),
            resources: vec![padded("large", 3 << 20), padded(&format!("small{number}"), 1)],
            ..DeltaResponse::default()
        };
        messages.push(response.encode_to_vec().into());
        subscriber.take(&messages[number], 0).unwrap();
    }
    let kept = messages.iter().filter(|message| !message.is_unique()).count();
    assert!(
        kept <= 3,
        "{kept} messages of 3 MiB are kept for a resource of a few bytes each"
    );
}

#[test]
fn responses_that_are_broken_or_odd() {
    const LIMIT: usize = 20_000;
    attack("responses_that_are_broken", |chance| {
        let is_delta = chance.percent(50);
        let mut subscriber = subscriber(
            LIMIT,
            chance.one(&if is_delta {
                ["ads://h:1?delta", "ads://h:1?delta&target=xds:///a"]
            } else {
                ["ads://h:1", "ads://h:1?target=xds:///a"]
            }),
        );
        let mut largest = 0;
        for _ in 0..chance.between(1, 8) {
            let of = if chance.percent(50) {
                ResourceType::Listener
            } else {
                ResourceType::Cluster
            };
            let mut resources = Vec::new();
            for _ in 0..chance.below(6) {
                let name = "n".repeat(chance.below(5) * chance.below(300))
                    + chance.one(&["a", "b", "\\u0007", "", "xdstp://x/y"]);
                let mut any = if chance.percent(50) {
                    cluster(&name)
                } else {
                    listener(&name, &["x", "y"])
                };
                if chance.percent(10) {
                    any.value = any.value.slice(..chance.below(any.value.len()));
                }
                if chance.percent(10) {
                    any.type_url = "t".repeat(chance.below(4000));
                }
                resources.push(any);
            }
            let version = "v".repeat(chance.below(3) * chance.below(3000));
            let mut bytes = if is_delta {
                let wrap = |any: Any| Resource {
                    name: "a".to_owned(),
                    version: version.clone(),
                    resource: Some(any),
                };
                DeltaResponse {
                    system_version_info: version.clone(),
                    removed_resources: vec!["r".repeat(chance.below(3000)); chance.below(9)],
                    resources: resources.into_iter().map(wrap).collect(),
                    type_url: of.type_url(),
                    nonce: version.clone(),
                }
                .encode_to_vec()
            } else {
                DiscoveryResponse {
                    version_info: version.clone(),
                    resources,
                    type_url: of.type_url(),
                    nonce: version,
                }
                .encode_to_vec()
            };
            if chance.percent(20) && !bytes.is_empty() {
                let place = chance.below(bytes.len());
                bytes[place] = u8::try_from(chance.below(256)).unwrap();
            }
            largest = largest.max(bytes.len());
            let Ok(taken) = subscriber.take(&bytes.into(), 0) else {
                return;
            };
            for told in &taken.told {
                assert!(!told.line.contains(char::is_control), "{:?}", told.line);
            }
            subscriber.request(taken.answer);
            assert!(
                subscriber.held_bytes() <= LIMIT + 2 * largest,
                "{}",
                subscriber.held_bytes()
            );
            if subscriber.held_bytes() > LIMIT {
                return;
            }
        }
    });
}
