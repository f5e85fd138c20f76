//! Each field of the schema is the same for a policy as in `--show parsed`, for every resource of
//! the examples.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::resource;
use crate::cel::Value;
use crate::schema::{Kind, SCHEMA};
use crate::site::Thing;
use crate::view;
use xdsctl_channel::parsed::FieldValue;
use xdsctl_clients::judge::validate;
use xdsctl_document::envelope::LoadOptions;
use xdsctl_document::source::SourceMap;
use xdsctl_model::profile::{Client, Profile, ServerFacts};
use xdsctl_model::resource::route::Action;

/// Compares a value with that of JSON, and notes the fields that exist.
fn compare<'a>(native: &Value<'a>, json: &Value<'a>, kind: &Kind, at: &str, seen: &mut BTreeSet<String>) {
    match (native, json, kind) {
        (_, _, Kind::Object(object)) if !matches!(native, Value::Null) => {
            for (name, kind) in SCHEMA.fields(object) {
                let field = |of: &Value<'a>| of.field(name).unwrap_or_else(|| panic!("{at} is {}", of.kind()));
                let (native, json) = (field(native), field(json));
                let of_object = format!("{object}.{name}");
                if is_own(&of_object) {
                    continue;
                }
                if !matches!(native, Value::Null) {
                    seen.insert(of_object);
                }
                compare(&native, &json, kind, &format!("{at}.{name}"), seen);
            }
        }
        (Value::List(a), Value::List(b), Kind::List(of)) => {
            assert_eq!(a.len(), b.len(), "{at}");
            for (number, (a, b)) in a.iter().zip(b.iter()).enumerate() {
                compare(a, b, of, &format!("{at}[{number}]"), seen);
            }
        }
        (Value::Map(a), Value::Map(b), Kind::Map(of)) => {
            assert!(a.keys().eq(b.keys()), "{at}");
            for ((key, a), b) in a.iter().zip(b.values()) {
                compare(a, b, of, &format!("{at}[{}]", &**key), seen);
            }
        }
        (Value::Record(_) | Value::Object(_), Value::Map(of), Kind::Any) => {
            // A certificate provider may stand in place of a text.
            for (name, json) in of.iter().filter(|(name, _)| &***name != "defaults") {
                let Some(native) = native.field(name) else { return };
                compare(&native, json, &Kind::Any, &format!("{at}.{}", &**name), seen);
            }
        }
        (Value::Map(a), Value::Map(b), Kind::Any) if at.ends_with("regex_rewrite") => {
            let shown = b.iter().filter(|(name, _)| &***name != "defaults");
            assert_eq!(
                a.values().map(|of| of.to_string()).collect::<Vec<_>>(),
                shown.map(|(_, of)| of.to_string()).collect::<Vec<_>>(),
                "{at}"
            );
        }
        (Value::Text(text), _, Kind::Word(words)) => {
            assert!(words.has(text), "{at} is `{}`", &**text);
            assert_eq!(native.to_string(), json.to_string(), "{at}");
        }
        _ => assert_eq!(native.to_string(), json.to_string(), "{at}"),
    }
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// Returns a thing as a policy sees it, and as `--show parsed` has it.
fn both(thing: Thing<'_>) -> (&'static str, Value<'_>, Value<'_>) {
    let kind = thing.element().name();
    let of = match thing {
        Thing::Listener(of) => FieldValue::from(of),
        Thing::Filter(_, of) => of.into(),
        Thing::RouteConfiguration(_, of) => of.into(),
        Thing::VirtualHost(of) => of.into(),
        Thing::Route(_, of) => of.into(),
        Thing::RetryPolicy(_, of) => match &of.action {
            Action::Route(action) => FieldValue::from(&**action).field("retry_policy").unwrap(),
            _ => FieldValue::Null,
        },
        Thing::Cluster(of) => of.into(),
        Thing::Endpoints(of) => of.into(),
        Thing::Locality { of, .. } => of.into(),
        Thing::Endpoint(_, _, of) => of.into(),
    };
    let shown = of.clone().unabridged().to_value();
    (kind, of.into(), view::of_json(&shown, kind))
}

/// Says whether `parsed` has a field that `--show parsed` has elsewhere, namely the name of the
/// resource.
fn is_own(field: &str) -> bool {
    const OWN: [&str; 3] = ["listener.name", "cluster.name", "endpoints.name"];
    OWN.contains(&field)
}

/// Switches without which some fields are not read.
const SWITCHES: [(&str, &str); 3] = [
    ("GRPC_EXPERIMENTAL_XDS_RBAC_AUDIT_LOGGING", "true"),
    ("GRPC_EXPERIMENTAL_XDS_HTTP_CONNECT", "true"),
    ("GRPC_XDS_ENDPOINT_HASH_KEY_BACKWARD_COMPAT", "false"),
];

#[test]
fn every_field_is_what_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for directory in [
        "fixtures/examples",
        "fixtures/suites",
        "fixtures/servers",
        "fixtures/parsed",
    ] {
        files(&root.join(directory), &mut paths);
    }
    paths.retain(|path| {
        path.extension()
            .is_some_and(|ending| ending == "yaml" || ending == "json")
    });
    assert!(paths.len() > 10);
    let mut seen = BTreeSet::new();
    let mut places = 0;
    for path in paths {
        let mut sources = SourceMap::new();
        let id = sources.add(path.display().to_string(), std::fs::read(&path).unwrap());
        let source = sources.get(id).unwrap();
        let options = LoadOptions::default();
        let loaded = xdsctl_document::load::run(Some(1), |l, emit| l.document(id, source, options, emit), |raw| raw);
        for raw in loaded.results {
            let (Some(resource_type), Some(bytes)) = (raw.resource_type, raw.bytes) else {
                continue;
            };
            // Old clients accept conditions that they do not implement.
            for family in ["cpp", "go", "java", "go@1.80.0", "cpp@1.80.0"] {
                let mut profile = Profile::of(Client::parse_one(family).unwrap());
                for (switch, value) in SWITCHES {
                    // Not every family has each switch.
                    let _ = profile.set_env(switch, value);
                }
                let validated = validate(resource_type, &bytes, &profile, &ServerFacts::default());
                let Some(value) = &validated.value else { continue };
                resource(value, &mut |thing, at| {
                    let (object, native, json) = both(thing);
                    places += 1;
                    let at = format!("{}: {}", path.display(), at.to_owned());
                    compare(&native, &json, &Kind::Object(object), &at, &mut seen);
                    true
                });
            }
        }
    }
    assert!(places > 100, "{places}");
    // Every field of every object that can be reached from `parsed` must have existed once.
    let mut wanted = BTreeSet::new();
    let mut open: Vec<&str> = crate::Element::ALL.iter().map(|element| element.name()).collect();
    let mut known: BTreeSet<&str> = open.iter().copied().collect();
    while let Some(object) = open.pop() {
        for (name, kind) in SCHEMA.fields(object) {
            wanted.insert(format!("{object}.{name}"));
            let mut kind = kind;
            while let Kind::List(of) | Kind::Map(of) = kind {
                kind = of;
            }
            if let Kind::Object(inner) = kind
                && known.insert(inner)
            {
                open.push(inner);
            }
        }
    }
    let missing: Vec<&String> = wanted.difference(&seen).filter(|field| !is_own(field)).collect();
    assert!(missing.is_empty(), "no example has {missing:?}");
}
