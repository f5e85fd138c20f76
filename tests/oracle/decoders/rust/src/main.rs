//! Asks the decoders of tonic-xds what they make of single resources: no network. See installs.py.
//!
//! A line in: {"id", "kind": "lds|rds|cds|eds", "any_b64"}. A line out: {"id", "verdict", "message"}.

use base64::Engine as _;

fn judge(row: &serde_json::Value) -> (&'static str, String) {
    let kind = row["kind"].as_str().expect("a kind");
    let any = base64::engine::general_purpose::STANDARD.decode(row["any_b64"].as_str().expect("bytes"));
    let any = any.expect("base64");
    match std::panic::catch_unwind(|| tonic_xds::decoder::decode(kind, &any)) {
        Ok(Ok(())) => ("ACK", String::new()),
        Ok(Err(message)) => ("NACK", message),
        Err(_) => ("CRASH", String::new()),
    }
}

fn main() {
    for line in std::io::stdin().lines() {
        let row: serde_json::Value = serde_json::from_str(&line.expect("text")).expect("JSON");
        let (verdict, message) = judge(&row);
        println!("{}", serde_json::json!({"id": row["id"], "verdict": verdict, "message": message}));
    }
}
