//! Tests of xDS configuration in Kubernetes manifests: ConfigMaps, lists of them, and the output of
//! `helm template`.

use super::{Project, cluster, maglev, routes};
use crate::run::{Run, in_process};

fn validate(words: &[&str], text: &str) -> Run {
    in_process(&[&["validate", "--format=json"], words, &["-"]].concat(), text, |_| {})
}

fn indented(text: &str, by: usize) -> String {
    let spaces = " ".repeat(by);
    text.lines().map(|line| format!("{spaces}{line}\n")).collect()
}

/// Returns `RULE NAME LINE:COLUMN` for each finding on a resource.
fn places(run: &Run) -> Vec<String> {
    let report = run.json();
    let resources = report["resources"].as_array().unwrap();
    let findings = resources
        .iter()
        .flat_map(|resource| resource["findings"].as_array().unwrap());
    let place = |finding: &serde_json::Value| {
        let text = |key: &str| finding[key].as_str().unwrap().to_owned();
        format!(
            "{} {} {}:{}",
            text("rule"),
            text("name"),
            finding["line"],
            finding["column"]
        )
    };
    findings.map(place).collect()
}

const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: cart}\n";

fn config_map() -> String {
    let several = format!("{}---\n{}", cluster("a"), maglev("b"));
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: xds\ndata:\n  nginx.conf: |\n    server {{ listen 80; }}\n  cds.yaml: |\n{}  rds.yaml: |-\n{}",
        indented(&several, 4),
        indented(&routes("r", &["a", "c"]), 4)
    )
}

#[test]
fn texts_of_a_config_map_are_read_where_they_stand() {
    let text = config_map();
    let run = validate(&[], &text);
    let line_of = |words: &str| text.lines().position(|line| line.contains(words)).unwrap() + 1;
    let policy = format!("cds-lb-policy-unsupported b {}:16", line_of("MAGLEV"));
    let missing = format!("rds-cluster-missing r {}:48", line_of("cluster: c}"));
    let expected = [policy, missing];
    assert_eq!(places(&run), expected, "{}", run.out);
    assert_eq!(run.json()["summary"]["worlds"], 1);
    assert_eq!(run.code, Some(1));
    assert_eq!(run.json()["findings"].as_array().unwrap().len(), 0, "{}", run.out);
    let human = in_process(&["validate", "-"], &text, |_| {});
    assert!(human.out.contains("    lb_policy: MAGLEV"), "{}", human.out);
}

#[test]
fn a_list_of_config_maps_is_read_too() {
    let item = |name: &str, text: &str| {
        let inside = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n  xds.yaml: |\n{}",
            indented(text, 4)
        );
        let item = indented(&inside, 2);
        format!("- {}", item.trim_start())
    };
    let service = indented(SERVICE, 2);
    let text = format!(
        "apiVersion: v1\nkind: List\nitems:\n{}- {}{}",
        item("one", &maglev("a")),
        service.trim_start(),
        item("two", &routes("r", &["a"]))
    );
    let run = validate(&[], &text);
    let line = text.lines().position(|line| line.contains("MAGLEV")).unwrap() + 1;
    assert_eq!(
        places(&run)[0],
        format!("cds-lb-policy-unsupported a {line}:18"),
        "{}",
        run.out
    );
    assert_eq!(
        run.named_findings(),
        [
            "cds-lb-policy-unsupported a",
            "dump-manifest-skipped -",
            "reference-to-rejected r"
        ]
    );
    assert!(
        run.out
            .contains("a Kubernetes object without xDS configuration is passed over: Service"),
        "{}",
        run.out
    );
}

#[test]
fn json_of_a_config_map_is_read_in_its_quotes() {
    let inner = serde_json::json!({"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}, "lb_policy": "MAGLEV"});
    let inner = serde_json::to_string_pretty(&inner).unwrap();
    let outer = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"cds.json": inner}});
    let text = outer.to_string();
    let run = validate(&[], &text);
    let column = text.find("\\\"MAGLEV").unwrap() + 1;
    assert_eq!(
        places(&run),
        [format!("cds-lb-policy-unsupported a 1:{column}")],
        "{}",
        run.out
    );
    let single = format!(
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  cds.json: '{}'\n",
        inner.replace('\n', " ")
    );
    assert_eq!(validate(&[], &single).named_findings(), ["cds-lb-policy-unsupported a"]);
    // A text in a folded scalar cannot be located.
    let folded = format!(
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  cds.json: >\n{}",
        indented(&cluster("a"), 4)
    );
    let run = validate(&[], &folded);
    assert!(
        run.out
            .contains("the text of `data.cds.json` cannot be read where it stands"),
        "{}",
        run.out
    );
    assert_eq!(run.code, Some(2));
}

#[test]
fn what_helm_prints_is_read_from_a_pipe() {
    let text = format!(
        "---\n# Source: shop/templates/service.yaml\n{SERVICE}---\n# Source: shop/templates/empty.yaml\n---\n\n---\n# Source: shop/templates/xds.yaml\n{}---\n# Source: shop/templates/deployment.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: cart}}\n",
        config_map()
    );
    let run = validate(&[], &text);
    let line = text.lines().position(|line| line.contains("MAGLEV")).unwrap() + 1;
    assert_eq!(
        places(&run)[0],
        format!("cds-lb-policy-unsupported b {line}:16"),
        "{}",
        run.out
    );
    assert!(
        run.out
            .contains("2 Kubernetes objects without xDS configuration are passed over: Deployment, Service"),
        "{}",
        run.out
    );
    assert_eq!(run.json()["summary"]["resources"]["rejected"], 1);
    // If the input has only other objects, nothing can be checked.
    assert_eq!(validate(&[], SERVICE).code, Some(2));
}

#[test]
fn nothing_is_fixed_inside_of_a_text() {
    let text = config_map().replace("MAGLEV", "RING_HSH");
    let project = Project::new("config-map", &[("xds.yaml", &text)]);
    project.run(&["validate", "--fix", "xds.yaml"]);
    assert_eq!(project.read("xds.yaml"), text);
}

#[test]
fn a_channel_starts_in_a_config_map() {
    let run = in_process(
        &["route", "--route-config=r", "--method=/a/M", "-"],
        config_map(),
        |_| {},
    );
    assert!(run.out.contains("cluster       a"), "{}{}", run.out, run.err);
}
