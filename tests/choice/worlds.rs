//! Tests of which files one client sees, and of what `--complete` means for them.

use super::{Project, cluster, routes};

/// Makes a project with one resource in each file, for two environments.
fn two_environments(name: &str) -> Project {
    Project::new(
        name,
        &[
            ("dev/cart.yaml", &cluster("cart")),
            ("dev/routes.yaml", &routes("shop", &["cart", "stock"])),
            ("prod/cart.yaml", &cluster("cart")),
            ("prod/stock.yaml", &cluster("stock")),
            ("prod/routes.yaml", &routes("shop", &["cart", "stock"])),
        ],
    )
}

/// Returns the number of worlds.
fn count(run: &super::Run) -> u64 {
    run.json()["summary"]["worlds"].as_u64().unwrap()
}

#[test]
fn files_with_a_resource_each_are_a_world_by_directory() {
    let project = two_environments("environments");
    let run = project.validate(&["."]);
    // A cluster is missing in dev. prod has it, but is another world.
    assert_eq!(run.named_findings(), ["rds-cluster-missing shop"]);
    assert_eq!(count(&run), 2);
    let human = project.run(&["validate", "dev", "prod"]).out;
    assert!(human.contains("5 resources in 2 worlds: 5 accepted"), "{human}");
}

#[test]
fn the_rule_can_be_overridden() {
    let project = two_environments("overridden");
    let file = project.validate(&["--world=file", "."]);
    assert_eq!((file.named_findings(), count(&file)), (vec![], 5));
    let all = project.validate(&["--world=all", "."]);
    let twice = "dump-duplicate-resource";
    assert_eq!(all.named_findings(), [format!("{twice} cart"), format!("{twice} shop")]);
    assert_eq!(count(&all), 1);
    assert_eq!(project.validate(&["--merge", "."]).out, all.out);
    // Files that are named one by one belong to the same world as in their directory.
    let named = project.validate(&["dev/cart.yaml", "dev/routes.yaml"]);
    let missing = vec!["rds-cluster-missing shop".to_owned()];
    assert_eq!((named.named_findings(), count(&named)), (missing.clone(), 1));
    let dir = project.validate(&["--world=dir", "dev/cart.yaml", "dev/routes.yaml"]);
    assert_eq!((dir.named_findings(), count(&dir)), (missing, 1));
    project.write("xdsctl.toml", "worlds = 'file'\n");
    assert_eq!(count(&project.validate(&["."])), 5);
}

#[test]
fn copies_in_one_directory_are_one_resource() {
    let two = format!("{}---\n{}", cluster("a"), routes("r", &["a"]));
    let project = Project::new(
        "several",
        &[("one.yaml", &two), ("two.yaml", &two), ("c.yaml", &cluster("c"))],
    );
    let run = project.validate(&["."]);
    assert_eq!(
        (run.named_findings(), count(&run)),
        (vec!["cds-cluster-unused c".to_owned()], 1)
    );
    assert_eq!(run.err, "");
    assert_eq!(count(&project.validate(&["--world=file", "."])), 3);
}

#[test]
fn directories_named_for_a_type_are_one_world() {
    let files = [
        ("prod/clusters/a.yaml", cluster("a")),
        ("prod/clusters/b.yaml", cluster("b")),
        ("prod/rds/r.yaml", routes("r", &["a", "c"])),
        ("stage/clusters/a.yaml", cluster("a")),
        ("stage/rds/r.yaml", routes("r", &["a", "c"])),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let project = Project::new("types", &files);
    let run = project.validate(&["."]);
    assert_eq!(count(&run), 2);
    assert_eq!(
        run.named_findings(),
        ["cds-cluster-unused b", "rds-cluster-missing r", "rds-cluster-missing r"]
    );
}

#[test]
fn a_name_that_comes_twice_keeps_the_files_of_a_directory_apart() {
    let project = Project::new(
        "twice",
        &[
            ("dev-cart.yaml", &cluster("cart")),
            (
                "prod-cart.yaml",
                &format!(
                    "{}circuit_breakers: {{thresholds: [{{max_requests: 7}}]}}\n",
                    cluster("cart")
                ),
            ),
        ],
    );
    let run = project.validate(&["."]);
    assert_eq!(
        (run.named_findings(), count(&run)),
        (vec!["dump-duplicate-resource -".to_owned()], 2)
    );
    assert_eq!(project.validate(&["--world=file", "."]).named_findings(), [""; 0]);
}

#[test]
fn a_resource_that_comes_twice_names_the_other_place() {
    let project = Project::new(
        "places",
        &[("a.yaml", &cluster("c")), ("b.yaml", &format!("\n{}", cluster("c")))],
    );
    let run = project.run(&["validate", "--world=all", "a.yaml", "b.yaml"]);
    assert!(run.out.contains("the last one wins: `b.yaml:2:1`"), "{}", run.out);
    assert!(run.out.contains("[a.yaml:1:1]"), "{}", run.out);
}

#[test]
fn complete_makes_a_reference_to_nothing_an_error() {
    let project = Project::new("complete", &[("r.yaml", &routes("r", &["gone"]))]);
    assert_eq!(project.validate(&["r.yaml"]).named_findings(), [""; 0]);
    let run = project.validate(&["--complete", "r.yaml"]);
    assert_eq!(
        (run.named_findings(), run.code),
        (vec!["reference-to-nothing r".to_owned()], Some(1))
    );
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_are_not_followed() {
    let project = Project::new("loops", &[("a/c.yaml", &cluster("c"))]);
    std::os::unix::fs::symlink("..", project.0.join("a/up")).unwrap();
    std::os::unix::fs::symlink("self", project.0.join("a/self")).unwrap();
    let run = project.validate(&["."]);
    assert_eq!(
        (run.code, run.json()["resources"].as_array().unwrap().len()),
        (Some(0), 1)
    );
}
