//! Checks that only the client's own words appear in the client's form,
//! `errors validating ...: [field:path error:words]`.

use serde_json::Value;

use crate::cli::xdsctl;
use crate::support::{recorded, root};

/// The words of xdsctl differ from those of the client, so they never appear in the client's form.
#[test]
fn only_the_clients_own_words_wear_the_clients_form() {
    // These are the client's exact words about a retry policy (`Unusable::error`).
    let verbatim = [
        "must be greater than 0",
        "seconds must be in the range [0, 315576000000]",
        "failed to parse number",
        "must be at least 2",
    ];
    let mut printed = 0;
    let files = [
        "tree/rejected-listener.yaml",
        "tree/missing-child.yaml",
        "tree/hosts.yaml",
        "examples/checkout.yaml",
        "examples/shop.yaml",
    ];
    for file in files {
        let path = root().join("fixtures").join(file).display().to_string();
        for command in ["validate", "tree", "route", "pick", "retry"] {
            let method: &[&str] = if matches!(command, "route" | "pick") {
                &["--method=/shop.Cart/Get"]
            } else {
                &[]
            };
            for format in ["human", "json"] {
                let mut args = vec![command, &path, "--format", format];
                args.extend(method);
                let run = xdsctl(&args, "");
                let text = format!("{}{}", run.out, run.err);
                for word in [
                    "errors validating ApiListener",
                    "errors validating Cluster",
                    "errors validating Route",
                    "errors parsing",
                    "invalid resource: ",
                ] {
                    assert!(!text.contains(word), "{command} {file}: {text}");
                }
                for error in text.split(" error:").skip(1) {
                    assert!(
                        verbatim.iter().any(|words| error.starts_with(words)),
                        "{command} {file}: {error}"
                    );
                }
                printed += usize::from(text.contains("rejected"));
            }
        }
    }
    assert!(printed > 10, "{printed} of the outputs tell of a rejection");
}

/// Where the sources use the client's form, the words are the client's, as the recordings show.
#[test]
fn the_clients_form_is_written_at_one_place_in_its_own_words() {
    let mut told = 0;
    for row in recorded("runtime").lines().chain(recorded("worlds").lines()) {
        let row: Value = serde_json::from_str(row).unwrap();
        let picks = row["answer"]["picks"].to_string();
        let Some((_, words)) = picks.split_once("could not create ConfigSelector: ") else {
            continue;
        };
        let words = words.split(")\"").next().unwrap();
        if told == 12 || !row["authority"].is_null() {
            continue;
        }
        let dump: String = row["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| format!("{r}\n"))
            .collect();
        let target = format!("xds:///{}", row["target"].as_str().unwrap());
        let run = xdsctl(&["tree", "--target", &target, "-"], dump);
        assert!(run.out.contains(words), "{}: {words}\n{}", row["id"], run.out);
        told += 1;
    }
    assert_eq!(told, 12);
}
