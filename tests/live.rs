//! Tests of running systems: what a binary without the network answers, and with it a dump that
//! goes out by `serve` and comes back by `fetch`. `tests/real.sh` tests with other programs.

use std::process::Command;

use crate::support::root;

/// Runs `xdsctl ARGS` at the root of the project. Returns both streams and the exit code.
fn run(args: &[&str]) -> (Vec<u8>, Vec<u8>, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xdsctl"));
    for name in [
        "NO_COLOR",
        "FORCE_COLOR",
        "COLUMNS",
        "GRPC_XDS_BOOTSTRAP",
        "GRPC_XDS_BOOTSTRAP_CONFIG",
    ] {
        command.env_remove(name);
    }
    let output = command.args(args).current_dir(root()).output().unwrap();
    (output.stdout, output.stderr, output.status.code().unwrap())
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Returns standard error of a command that ends with 2 and prints nothing.
#[track_caller]
fn refused(args: &[&str]) -> String {
    let (out, err, code) = run(args);
    assert_eq!((text(out), code), (String::new(), 2), "{args:?}");
    text(err)
}

#[test]
#[cfg(not(feature = "net"))]
fn what_is_missing_is_said() {
    for args in [
        &["fetch", "csds://127.0.0.1:1"][..],
        &["validate", "csds://127.0.0.1:1"],
        &["validate", "--watch", "ads://127.0.0.1:1"],
        &["tree", "envoy://127.0.0.1:1"],
        &["diff", "ads://127.0.0.1:1", "ads://127.0.0.1:2"],
        &["serve", "fixtures/examples/shop.yaml"],
        &["ui", "fixtures/examples/shop.yaml"],
    ] {
        let err = refused(args);
        assert!(
            err.contains("needs the network, and this xdsctl was built without it: `cargo install"),
            "{err}"
        );
    }
}

/// Makes a dump with a valid cluster `c`, and an update of it that was rejected for this reason.
fn rejected_update(why: &str) -> String {
    let cluster = |policy: &str| {
        format!(
            r#"{{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS", "lb_policy": "{policy}",
            "eds_cluster_config": {{"eds_config": {{"ads": {{}}}}, "service_name": "e"}}}}"#
        )
    };
    let (good, bad) = (cluster("ROUND_ROBIN"), cluster("MAGLEV"));
    format!(
        r#"{{"config": [{{"generic_xds_configs": [{{"type_url": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c",
        "version_info": "1", "xds_config": {good}, "client_status": "NACKED",
        "error_state": {{"failed_configuration": {bad}, "details": "{why}", "version_info": "2"}}}}]}}]}}"#
    )
}

#[test]
fn what_xdsctl_rejected_no_client_has_rejected() {
    let path = std::env::temp_dir().join(format!("xdsctl-own-{}.json", std::process::id()));
    let rules = |why: &str, client: &str| -> Vec<String> {
        std::fs::write(&path, rejected_update(why)).unwrap();
        let allowed = ["-A", "cds-endpoints-missing"];
        let args = [
            "validate", "--format", "concise", "--client", client, allowed[0], allowed[1],
        ];
        let (out, ..) = run(&[&args[..], &[path.to_str().unwrap()]].concat());
        let found = text(out);
        let rules = found
            .lines()
            .filter_map(|line| line.split(": ").nth(1)?.split(' ').nth(1));
        let rules: Vec<String> = rules.map(str::to_owned).collect();
        rules
    };
    let own = "xdsctl: at lb_policy: lb_policy 5 (MAGLEV) is not supported [cds-lb-policy-unsupported]";
    assert_eq!(rules(own, "cpp"), ["cds-lb-policy-unsupported"]);
    assert!(
        rules(own, "go").iter().all(|rule| !rule.starts_with("live-")),
        "{:?}",
        rules(own, "go")
    );
    assert!(
        rules("no", "cpp").contains(&"live-resource-rejected".to_owned()),
        "{:?}",
        rules("no", "cpp")
    );
    // The version before the update is in use.
    std::fs::write(&path, rejected_update(own)).unwrap();
    let (_, err, _) = run(&["tree", "--cluster", "c", path.to_str().unwrap()]);
    let err = text(err);
    assert!(
        err.contains("Cluster `c` is left out, its earlier version stays: rejected, at lb_policy"),
        "{err}"
    );
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn what_is_no_file_is_said() {
    let words = "is no running system, expected csds://HOST:PORT, ads://HOST:PORT or envoy://HOST:PORT";
    let err = refused(&["validate", "grpc://127.0.0.1:1"]);
    assert!(err.contains(words), "{err}");
    let err = refused(&["diff", "http://127.0.0.1:1", "fixtures/examples/shop.yaml"]);
    assert!(err.contains(words), "{err}");
    let err = refused(&["simulate", "ads://127.0.0.1:1"]);
    assert!(
        err.contains("`ads://127.0.0.1:1` is a running system, and a file is needed here"),
        "{err}"
    );
}

#[test]
fn a_watch_is_for_what_changes() {
    let err = refused(&["validate", "--watch", "dump.json"]);
    assert!(err.contains("--watch is for running systems"), "{err}");
    let err = refused(&["validate", "--watch", "csds://a:1", "csds://a:2"]);
    assert!(err.contains("--watch takes one running system"), "{err}");
}

#[cfg(feature = "net")]
mod net {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::path::PathBuf;
    use std::process::{Child, Command, Stdio};

    use super::{refused, run, text};
    use crate::support::root;

    const NOTHING: &str = "nothing changes for a client\nasked: gRPC C-core 1.85.1\n";

    /// A running `xdsctl serve`, which the test ends.
    struct Served {
        child: Child,
        address: String,
    }

    impl Drop for Served {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn serve(args: &[&str]) -> Served {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xdsctl"));
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(args)
            .current_dir(root());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let address = line.split(" on ").nth(1).and_then(|rest| rest.split(';').next());
        let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
        // Later output is read and ignored, so that it does not fill the pipe.
        std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
        Served { child, address }
    }

    fn scratch(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("xdsctl-live-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        directory
    }

    #[test]
    fn without_its_pages_the_command_that_makes_them_is_said() {
        // With pages, the command would wait for a browser: `web/test/e2e/served.test.mjs` is one.
        if option_env!("XDSCTL_PAGES").is_none() {
            let err = refused(&["ui", "fixtures/examples/shop.yaml"]);
            assert!(
                err.contains("built without the pages of `ui`: `web/build.sh` makes them"),
                "{err}"
            );
        }
    }

    #[test]
    fn a_dump_goes_out_and_comes_back() {
        let served = serve(&["fixtures/examples/checkout.yaml"]);
        let address = format!("ads://{}", served.address);
        let file = "fixtures/examples/checkout.yaml";
        let (of_file, _, _) = run(&["validate", "--format", "concise", file]);
        let rules = |out: Vec<u8>| -> Vec<String> {
            let text = text(out);
            let rules = text.lines().filter_map(|line| line.split(": ").nth(1));
            let mut rules: Vec<String> = rules.map(str::to_owned).collect();
            rules.sort();
            rules
        };
        let of_file = rules(of_file);
        assert!(of_file.len() > 1, "{of_file:?}");
        for delta in ["", "?delta"] {
            let (out, err, code) = run(&["validate", "--format", "concise", &format!("{address}{delta}")]);
            assert_eq!((rules(out), code), (of_file.clone(), 1), "{}", text(err));
        }
        let (out, _, code) = run(&["diff", "--exit-code", &address, &format!("{address}?delta")]);
        assert_eq!((text(out).as_str(), code), (NOTHING, 0));
        // Only xdsctl has rejected something, and another client decides for itself.
        let (of_file, ..) = run(&["validate", "--format", "concise", "--client", "go", file]);
        let (out, ..) = run(&["validate", "--format", "concise", "--client", "go", &address]);
        assert_eq!(rules(out), rules(of_file));
        // Options that change files do not work on a running system.
        let err = refused(&["validate", "--fix", &address]);
        assert!(
            err.contains("--fix changes files, `ads://") && err.contains("` is none: --diff prints a patch"),
            "{err}"
        );
        let (_, err, _) = run(&["validate", "--diff", &address]);
        assert!(text(err).contains("a patch of 1 fix in 1 file\n"));
        let err = refused(&["test", &address]);
        assert!(
            err.contains("` is a running system, and a file is needed here"),
            "{err}"
        );
        // The client of one target gets the same resources, without those to which the target does
        // not lead.
        let (out, err, code) = run(&["fetch", &address, "--target", "xds:///checkout"]);
        assert_eq!(code, 0, "{}", text(err));
        assert!(text(out).contains("\"client_scope\":\"xds:///checkout\""));
        let tree = |source: &str| text(run(&["tree", "--target", "xds:///checkout", source]).0);
        assert_eq!(tree(&format!("{address}?target=xds:///checkout")), tree(file));
    }

    #[test]
    fn a_target_that_the_control_plane_does_not_have_is_missing() {
        let served = serve(&["fixtures/examples/checkout.yaml"]);
        let address = format!("ads://{}", served.address);
        let targets = ["--target", "xds:///checkout", "--target", "xds:///chekout"];
        for delta in [&[][..], &["--delta"]] {
            let (out, err, code) = run(&[&["fetch", "--wait", "1", &address], &targets[..], delta].concat());
            let (out, err) = (text(out), text(err));
            assert_eq!(code, 1, "{err}");
            let said = "xdsctl: `xds:///chekout`: the control plane has no Listener for it, so every RPC of a channel to it fails\n";
            assert!(err.ends_with(said) && !err.contains("xds:///checkout"), "{err}");
            assert!(!err.contains("waits as long"), "{err}");
            assert!(
                !err.contains("not answered") || err.contains("a gRPC client waits 15 s"),
                "{err}"
            );
            assert!(
                out.contains("DOES_NOT_EXIST") || out.contains("REQUESTED") || out.contains("chekout"),
                "{out}"
            );
        }
    }

    #[test]
    fn neither_a_dump_nor_a_bootstrap_takes_the_place_of_something_else() {
        let directory = scratch("overwrite");
        let bare = r#"{"resources": [{"name": "x"}]}"#;
        for (name, text) in [
            ("notes.txt", "important\n"),
            ("world.json", bare),
            ("config.json", r#"{"config":[{"mine":1}]}"#),
            // This is a DiscoveryResponse, not a dump of a client.
            ("response.binpb", "\n\u{1}1\"\u{3}t/T"),
            ("noise.pb", "\n\u{ff}"),
        ] {
            let file = directory.join(name);
            std::fs::write(&file, text).unwrap();
            let file = file.to_str().unwrap();
            for args in [
                // The command refuses these before it asks or serves anything.
                &["fetch", "--raw", "ads://127.0.0.1:1", "-o", file][..],
                &["fetch", "--raw", "--watch", "csds://127.0.0.1:1", "-o", file],
                &[
                    "serve",
                    "--listen",
                    "127.0.0.1:0",
                    "--write-bootstrap",
                    file,
                    "fixtures/examples/checkout.yaml",
                ],
            ] {
                let err = refused(args);
                assert!(err.contains("` is not overwritten: it is no "), "{args:?}: {err}");
                assert_eq!(std::fs::read(file).unwrap(), text.as_bytes(), "{args:?}");
            }
        }
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_dump_takes_the_place_of_the_last_one() {
        let served = serve(&["fixtures/examples/checkout.yaml"]);
        let address = format!("ads://{}", served.address);
        let directory = scratch("again");
        for (name, raw) in [("dump.json", &["--redact"][..]), ("dump.binpb", &["--raw"])] {
            let file = directory.join(name);
            let file = file.to_str().unwrap();
            for _ in 0..2 {
                let (_, err, code) = run(&[&["fetch", &address, "-o", file], raw].concat());
                assert_eq!(code, 0, "{}", text(err));
            }
            let (out, _, code) = run(&["diff", "--exit-code", file, &address]);
            assert_eq!((text(out).as_str(), code), (NOTHING, 0));
        }
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_fetch_that_is_told_to_end_says_so() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("ads://{}", silent.local_addr().unwrap());
        let directory = scratch("told");
        let file = directory.join("dump.json");
        let file = file.to_str().unwrap();
        for args in [
            &["fetch", &address, "--wait", "60"][..],
            &["fetch", "--watch", &address, "-o", file, "--wait", "60"],
            &["validate", "--watch", &address, "--wait", "60"],
        ] {
            for signal in ["-INT", "-TERM"] {
                let mut command = Command::new(env!("CARGO_BIN_EXE_xdsctl"));
                command.args(args).current_dir(root());
                let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
                // Once it has connected, the command handles signals.
                let _connection = silent.accept().unwrap();
                let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
                assert!(sent.unwrap().success());
                assert_eq!(child.wait().unwrap().code(), Some(2), "{args:?} {signal}");
                let mut err = String::new();
                child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
                assert!(err.contains("interrupted"), "{args:?} {signal}: {err}");
            }
        }
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_server_that_is_told_to_end_says_what_there_was() {
        for signal in ["-INT", "-TERM"] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_xdsctl"));
            let file = "fixtures/examples/checkout.yaml";
            command
                .args(["serve", "--listen", "127.0.0.1:0", file])
                .current_dir(root());
            let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            lines.next().unwrap().unwrap();
            let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
            assert!(sent.unwrap().success());
            assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
            let last = lines.next().unwrap().unwrap();
            assert!(last.starts_with("0 resources judged, 0 rejected"), "{signal}: {last}");
        }
    }

    #[test]
    fn secrets_are_masked_unless_they_are_wanted() {
        let directory = scratch("secrets");
        let file = directory.join("listener.json");
        std::fs::write(
            &file,
            r#"{"resources": [{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
                "eds_cluster_config": {"eds_config": {"ads": {}}}, "transport_socket": {"name": "t", "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
                "common_tls_context": {"tls_certificates": [{"private_key": {"inline_string": "planted-one"},
                "password": {"inline_bytes": "cGxhbnRlZC10d28="}}]}}},
                "metadata": {"filter_metadata": {"f": {"api_key": "planted-three", "kept": "plain"}}}}]}"#,
        )
        .unwrap();
        let served = serve(&[file.to_str().unwrap()]);
        let address = format!("ads://{}", served.address);
        let planted = |text: &str| {
            let secrets = ["planted-one", "cGxhbnRlZC10d28=", "planted-two", "planted-three"];
            secrets.into_iter().filter(|secret| text.contains(secret)).count()
        };
        let (out, err, code) = run(&["fetch", &address]);
        let (out, err) = (text(out), text(err));
        assert_eq!((planted(&out), planted(&err), code), (0, 0, 0), "{out}{err}");
        assert!(out.contains("[redacted]"), "{out}");
        assert_eq!(planted(&text(run(&["fetch", "--raw", &address]).0)), 3);
        let (out, err, _) = run(&["validate", "--all", "--format", "human", &address]);
        assert_eq!((planted(&text(out)), planted(&text(err))), (0, 0));
        // Wire format cannot be masked.
        let wire = directory.join("dump.binpb");
        let wire = wire.to_str().unwrap();
        assert!(refused(&["fetch", &address, "-o", wire]).contains("say --raw"));
        assert_eq!(run(&["fetch", "--quiet", "--raw", &address, "-o", wire]).2, 0);
        let (out, _, code) = run(&["diff", "--exit-code", wire, &address]);
        assert_eq!((text(out).as_str(), code), (NOTHING, 0));
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn what_is_wrong_with_an_address_is_said() {
        for (args, words) in [
            (
                &["fetch", "dump.json"][..],
                "`dump.json` is no running system, expected csds://HOST:PORT",
            ),
            (&["fetch", "csds://host"], "`csds://host` names no port"),
            (
                &["fetch", "ads://127.0.0.1:1?nod=x"],
                "`nod` in `ads://127.0.0.1:1?nod=x` is none of node, cluster, target, delta, tls",
            ),
            (&["fetch", "csds://127.0.0.1:1", "--delta"], "--delta is about ads://"),
            (
                &["fetch", "ads://", "--bootstrap", "fixtures/nothing.json"],
                "cannot read `fixtures/nothing.json`",
            ),
            (
                &["fetch", "csds://127.0.0.1:1", "--ca", "README.md"],
                "`README.md` has no PEM part `CERTIFICATE`",
            ),
            (
                &["fetch", "csds://127.0.0.1:1"],
                "cannot reach `csds://127.0.0.1:1`: tcp connect error: Connection refused",
            ),
            (
                &["validate", "envoy://127.0.0.1:1"],
                "cannot reach `envoy://127.0.0.1:1`",
            ),
            (
                &["fetch", "--watch", "csds://127.0.0.1:1"],
                "--watch writes the dump again and again: name a file",
            ),
        ] {
            let err = refused(args);
            assert!(err.contains(words), "{args:?}: {err}");
        }
    }

    /// Makes a cluster with this lb_policy, and its endpoints.
    fn cluster_of(policy: &str) -> String {
        format!(
            r#"{{"resources": [{{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "type": "EDS",
            "lb_policy": "{policy}", "eds_cluster_config": {{"eds_config": {{"ads": {{}}}}}}}},
            {{"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "c",
            "endpoints": [{{"locality": {{"region": "r"}}, "load_balancing_weight": 1, "lb_endpoints": [{{"endpoint": {{"address":
            {{"socket_address": {{"address": "10.0.0.1", "port_value": 1}}}}}}}}]}}]}}]}}"#
        )
    }

    #[test]
    fn a_gate_closes_at_the_first_bad_version() {
        let directory = scratch("watch");
        let file = directory.join("cluster.json");
        let write = |policy: &str| std::fs::write(&file, cluster_of(policy)).unwrap();
        write("ROUND_ROBIN");
        let served = serve(&[file.to_str().unwrap()]);
        let address = format!("ads://{}", served.address);
        let mut gate = Command::new(env!("CARGO_BIN_EXE_xdsctl"));
        gate.args(["validate", "--watch", "--format", "concise", &address]);
        let mut gate = gate.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The first version is valid; its report has no errors.
        std::thread::sleep(std::time::Duration::from_millis(1500));
        assert_eq!(gate.try_wait().unwrap(), None, "the gate has closed too early");
        // With one line for each verdict, each version has a line.
        let lines = directory.join("lines.jsonl");
        let mut by_line = Command::new(env!("CARGO_BIN_EXE_xdsctl"));
        let form = format!("jsonl={}", lines.display());
        let mut by_line = by_line
            .args(["validate", "--watch", "--format", &form, &address])
            .spawn()
            .unwrap();
        while !std::fs::read_to_string(&lines).is_ok_and(|text| text.ends_with('\n')) {
            assert_eq!(by_line.try_wait().unwrap(), None, "the gate has closed too early");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        write("MAGLEV");
        let status = gate.wait().unwrap();
        let mut out = String::new();
        gate.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(status.code(), Some(1), "{out}");
        assert!(out.contains("cds-lb-policy-unsupported"), "{out}");
        assert_eq!(by_line.wait().unwrap().code(), Some(1));
        let lines = std::fs::read_to_string(&lines).unwrap();
        assert_eq!(
            verdicts(&lines),
            [(1, "pass".to_owned()), (2, "fail".to_owned())],
            "{lines}"
        );
        // Without --watch, each address is read once.
        let (out, _, code) = run(&["validate", "--format", "jsonl", &address, &address]);
        let out = text(out);
        assert_eq!((verdicts(&out), code), (vec![(1, "fail".to_owned()); 2], 1), "{out}");
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_gate_says_at_once_that_the_stream_is_lost() {
        let directory = scratch("lost");
        let file = directory.join("cluster.json");
        std::fs::write(&file, cluster_of("ROUND_ROBIN")).unwrap();
        let served = serve(&[file.to_str().unwrap()]);
        let address = format!("ads://{}", served.address);
        let mut gate = Command::new(env!("CARGO_BIN_EXE_xdsctl"));
        gate.args(["validate", "--watch", &address]);
        let gate = gate.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut gate = Served { child: gate, address };
        let mut lines = BufReader::new(gate.child.stdout.take().unwrap()).lines();
        // This is the line of the first version.
        lines.next().unwrap().unwrap();
        drop(served);
        let said = BufReader::new(gate.child.stderr.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let lost = said.into_iter().find(|line| line.contains("trying again"));
        assert!(lost.is_some_and(|line| line.contains(&gate.address)));
        std::fs::remove_dir_all(directory).unwrap();
    }

    /// Returns the number and the verdict of each line.
    fn verdicts(lines: &str) -> Vec<(u64, String)> {
        let rows = lines
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        rows.map(|row| {
            (
                row["line"].as_u64().unwrap(),
                row["verdict"].as_str().unwrap().to_owned(),
            )
        })
        .collect()
    }
}
