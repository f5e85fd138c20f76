//! Checks that values are printed that are known to be harmless, and that a secret in the same
//! place is not.

use crate::run::run;

const SECRET: &str = "qRtZ4mWkP7xL";

const CLUSTER: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/// A document, the command that prints a part of it, and that part. `SECRET` in the document stands
/// for a secret, `C` for the type of a cluster.
struct Case {
    what: &'static str,
    command: &'static [&'static str],
    name: &'static str,
    document: &'static str,
    printed: &'static [&'static str],
}

const VALIDATE: &[&str] = &["validate", "--all", "--min-severity=note"];

const PATCH: &[&str] = &["validate", "--fix", "--diff"];

const CASES: &[Case] = &[
    Case {
        what: "a suite with a key that is there twice",
        command: &["test"],
        name: "s.yaml",
        document: "world: a.yaml # of ours\nsteps: # the SECRET\n- pick: {method: /a/B}\nsteps:\n- pick: {headers: {x-env: prod, x-api-key: SECRET}}\n",
        printed: &[
            "- pick: {method: /a/B}",
            "steps:",
            "- pick: {headers: {x-env: prod, x-api-key: ************}}",
        ],
    },
    Case {
        what: "headers in pairs",
        command: &["test"],
        name: "s.json",
        document: "{\"steps\": [\n{\"pick\": {\"headers\": [[\"x-env\", \"prod\"], [\"cookie\", \"SECRET\"]], \"cont\": 1}}]}",
        printed: &["[[\"x-env\", \"prod\"], [\"cookie\", \"************\"]]"],
    },
    Case {
        what: "a key that no suite has",
        command: &["test"],
        name: "s.yaml",
        document: "steps:\n- pick: {method: /a/B}\n- {inline_string: SECRET}\n",
        printed: &["- pick: {method: /a/B}", "- {inline_string: ************}"],
    },
    Case {
        what: "a suite that cannot be read to its end",
        command: &["test"],
        name: "s.yaml",
        document: "world:\n- \"@type\": C\n  name: a\n  metadata: {filter_metadata: {m: {name: SECRET}}}\n - steps\n",
        printed: &["metadata: {filter_metadata: {m: {name: ************}}}"],
    },
    Case {
        what: "a ConfigMap",
        command: VALIDATE,
        name: "c.yaml",
        document: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop, namespace: prod, annotations: {name: SECRET}}\ndata: {x.yaml: \"{\\\"static_resources\\\": SECRET\"}\n",
        printed: &["metadata: {name: shop, namespace: prod, ***********: {name: ************}}"],
    },
    Case {
        what: "a comment in the text of a ConfigMap",
        command: VALIDATE,
        name: "c.yaml",
        document: "apiVersion: v1\nkind: ConfigMap\ndata:\n  x.yaml: |\n    resources:\n    # the first, not SECRET\n    - \"@type\": C\n      name: a\n      type: EDS\n",
        printed: &["# the first, not ************"],
    },
    Case {
        what: "a template",
        command: VALIDATE,
        name: "t.yaml",
        document: "resources:\n{{- range $.Values.clusters | default \"SECRET\" }}\n- \"@type\": C\n  type: EDS\n",
        printed: &["{{- range $.Values.clusters | default \"************\" }}"],
    },
    Case {
        what: "comments outside of resources",
        command: PATCH,
        name: "p.yaml",
        document: "# Clusters of docs/shop.md, not of SECRET\nresources:\n- \"@type\": C\n  lb_policy: round_robin\n",
        printed: &["# Clusters of docs/shop.md, not of ************"],
    },
    Case {
        what: "neighbours that say their type",
        command: &["validate", "--all"],
        name: "n.jsonl",
        document: "{\"@type\":\"C\",\"name\":\"aa\",\"metadata\":{\"filter_metadata\":{\"m\":{\"k\":\"SECRET\"}}},\"type\":\"EDS\",\"eds_cluster_config\":{\"eds_config\":{\"ads\":{}}}}\n{\"@type\":\"C\",\"name\":\"b\",\"bogus\":1}\n",
        printed: &["\"name\":\"aa\",\"metadata\":{\"filter_metadata\":{\"m\":{\"*\":\"************\"}}}"],
    },
    Case {
        what: "neighbours that do not",
        command: &["validate", "--all", "--as=cds"],
        name: "n.yaml",
        document: "- {name: b, bogus: 1}\n- {name: aa, metadata: {filter_metadata: {m: {k: SECRET}}}, type: EDS, eds_cluster_config: {eds_config: {ads: {}}}}\n",
        printed: &["- {name: aa, metadata: {filter_metadata: {m: {*: ************}}}, type: EDS"],
    },
    Case {
        what: "what stands around a resource in a dump",
        command: VALIDATE,
        name: "d.json",
        document: "{\"configs\": [{\"@type\": \"type.googleapis.com/envoy.admin.v3.ClustersConfigDump\", \"dynamic_active_clusters\": [{\n\"version_info\": \"2026-01-01/3\", \"error_state\": {\"details\": \"SECRET\"}, \"note\": \"SECRET\",\n\"cluster\": {\"@type\": \"C\", \"name\": \"a\"}}]}]}",
        printed: &["\"version_info\": \"2026-01-01/3\""],
    },
];

#[test]
fn what_is_harmless_is_printed_beside_a_secret() {
    let mut wrong = Vec::new();
    for Case {
        what,
        command,
        name,
        document,
        printed,
    } in CASES
    {
        let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("harmless");
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join(name);
        let of = |text: &str| {
            text.replace("\"C\"", &format!("\"{CLUSTER}\""))
                .replace(" C\n", &format!(" {CLUSTER}\n"))
        };
        std::fs::write(&path, of(document).replace("SECRET", SECRET)).unwrap();
        let text = |options: &[&str]| {
            let args = [*command, options, &[path.to_str().unwrap()]].concat();
            let (out, err) = run(args, b"");
            String::from_utf8(out).unwrap() + &String::from_utf8(err).unwrap()
        };
        let told = text(&[]);
        wrong.extend(told.contains(SECRET).then(|| format!("{what} leaks:\n{told}")));
        let missing = printed
            .iter()
            .map(|line| of(line))
            .find(|line| !told.contains(line.trim_end()));
        wrong.extend(missing.map(|line| format!("{what}: no {line} in\n{told}")));
        let all = text(&["--show-secrets"]);
        wrong.extend((!all.contains(SECRET)).then(|| format!("{what}: nothing would be shown anyway\n{all}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Collects the names of members in a schema.
fn members(schema: &serde_json::Value, found: &mut std::collections::BTreeSet<String>) {
    if let Some(properties) = schema.get("properties").and_then(serde_json::Value::as_object) {
        found.extend(properties.keys().cloned());
    }
    let below: Vec<&serde_json::Value> = match schema {
        serde_json::Value::Object(map) => map.values().collect(),
        serde_json::Value::Array(list) => list.iter().collect(),
        _ => Vec::new(),
    };
    below.into_iter().for_each(|below| members(below, found));
}

#[test]
fn every_member_of_a_suite_is_known() {
    let schema = serde_json::from_str(xdsctl_suite::SCHEMA).unwrap();
    let mut names = std::collections::BTreeSet::new();
    members(&schema, &mut names);
    assert!(names.len() > 60, "{names:?}");
    names.remove("@type");
    names.retain(|name| {
        let text = format!("{{\"{name}\": 1}}");
        let marks = xdsctl_document::source::secrets::marks(
            text.as_bytes(),
            0,
            xdsctl_document::source::secrets::SecretPlace::SUITE,
        );
        !marks.hidden.is_empty()
    });
    assert_eq!(names.into_iter().collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn nothing_of_our_own_suites_is_masked() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/suites");
    let mut masked = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_file() {
            continue;
        }
        let mut sources = xdsctl_document::source::SourceMap::new();
        let id = sources.add(path.display().to_string(), std::fs::read(&path).unwrap());
        let source = sources.get(id).unwrap();
        xdsctl_document::source::node::view(source);
        for marks in source.marks_of_all(xdsctl_document::source::secrets::SecretPlace::SUITE) {
            count += 1;
            let texts = marks
                .hidden
                .iter()
                .map(|span| String::from_utf8_lossy(&source.bytes()[span.range()]).into_owned());
            masked.extend(texts.map(|text| format!("{}: {text}", path.display())));
        }
    }
    assert!(count > 5, "{count}");
    assert_eq!(masked, [""; 0]);
}
