//! Checks that a token is only sent where nobody else can read it, and only to a server with the
//! expected name.

use std::io::Read as _;
use std::net::TcpListener;
use std::time::Duration;

use super::{attack, fetched};
use crate::{Address, Error, FetchOptions, Tls, connect};

/// Opens a port. Returns it and the first bytes that somebody sends to it within two seconds, if
/// any.
fn overheard() -> (u16, std::sync::mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (say, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut bytes = vec![0; 4096];
            let mut connection = connection.unwrap();
            connection.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
            let length = connection.read(&mut bytes).unwrap_or(0);
            bytes.truncate(length);
            if say.send(bytes).is_err() {
                return;
            }
        }
    });
    (port, heard)
}

fn of_bootstrap(uri: &str) -> Option<Vec<u8>> {
    let text = format!(r#"{{"xds_servers": [{{"server_uri": "{uri}", "channel_creds": [{{"type": "insecure"}}]}}]}}"#);
    Some(text.into_bytes())
}

#[test]
fn a_token_stays_on_this_machine_or_is_encrypted() {
    let (port, heard) = overheard();
    // A connection to this address ends on this machine, but the address does not say so.
    for scheme in ["envoy", "csds", "ads"] {
        let options = FetchOptions {
            token: Some("planted".to_owned()),
            timeout: Duration::from_secs(2),
            ..FetchOptions::default()
        };
        let (result, _) = fetched(&format!("{scheme}://0.0.0.0:{port}"), options);
        assert_eq!(
            result.unwrap_err().to_string(),
            format!(
                "`{scheme}://0.0.0.0:{port}`: a token is sent over TLS or to this machine only: add --tls, or --ca FILE"
            )
        );
    }
    // An address in a bootstrap may look like this machine.
    for (uri, words) in [
        (format!("127.0.0.1:1@0.0.0.0:{port}"), "is none of HOST:PORT"),
        (format!("dns:///0.0.0.0:{port}"), "a token is sent over TLS"),
    ] {
        let options = FetchOptions {
            token: Some("planted".to_owned()),
            bootstrap: of_bootstrap(&uri),
            timeout: Duration::from_secs(2),
            ..FetchOptions::default()
        };
        let error = fetched("ads://", options).0.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert!(
        heard.recv_timeout(Duration::from_millis(100)).is_err(),
        "somebody was asked"
    );
}

#[test]
fn the_name_of_the_server_is_asked_for_by_every_scheme() {
    for scheme in ["envoy", "csds", "ads"] {
        let (port, heard) = overheard();
        let options = FetchOptions {
            tls: Some(Tls {
                server_name: Some("Planted.example".to_owned()),
                ..Tls::default()
            }),
            timeout: Duration::from_secs(5),
            ..FetchOptions::default()
        };
        assert!(fetched(&format!("{scheme}://127.0.0.1:{port}"), options).0.is_err());
        let hello = heard.recv_timeout(Duration::from_secs(5)).unwrap();
        let hello = String::from_utf8_lossy(&hello).to_ascii_lowercase();
        assert!(hello.contains("planted.example"), "{scheme} does not ask for the name");
    }
    let options = FetchOptions {
        tls: Some(Tls {
            server_name: Some("0x7f000001".to_owned()),
            ..Tls::default()
        }),
        ..FetchOptions::default()
    };
    assert_eq!(
        fetched("envoy://127.0.0.1:1", options).0.unwrap_err().to_string(),
        "`envoy://127.0.0.1:1`: --server-name must be a DNS name here, and `0x7f000001` is none"
    );
}

#[test]
fn whoever_takes_an_address_apart_finds_the_same_host() {
    const PARTS: [&str; 30] = [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "evil.example",
        "a",
        ":",
        ":80",
        ":1",
        "@",
        "\\",
        "/",
        "//",
        "\t",
        " ",
        "\n",
        "\u{0}",
        "#",
        "?",
        "%",
        "%2f",
        "%40",
        "[",
        "]",
        "::1",
        "0x7f.1",
        "\u{ff0f}",
        "\u{3002}",
        "\u{202e}",
        "+80",
        ":99999",
    ];
    let token = FetchOptions {
        token: Some("planted".to_owned()),
        ..FetchOptions::default()
    };
    attack("whoever_takes_an_address_apart", |chance| {
        let scheme = chance.one(&["ads://", "csds://", "envoy://"]);
        let mut text = scheme.to_owned();
        for _ in 0..chance.between(1, 5) {
            text.push_str(chance.one(&PARTS));
        }
        if chance.percent(70) {
            text.push_str(":80");
        }
        let address = match Address::parse(&text) {
            Ok(address) => address,
            Err(error) => {
                assert!(!error.to_string().contains(char::is_control), "{text:?}");
                return;
            }
        };
        let crate::ServerPlace::Tcp(authority) = &address.place else {
            return;
        };
        let (host, port) = authority.rsplit_once(':').unwrap();
        let uri: http::Uri = format!("http://{authority}/").parse().unwrap();
        assert_eq!(
            (uri.host(), uri.port_u16()),
            (Some(host), port.parse().ok()),
            "{text:?}"
        );
        assert!(!authority.contains('@'), "{text:?}");
        let is_sent = match connect::way(&address, &token) {
            Ok(_) => true,
            Err(Error::Usage(_)) => false,
            Err(error) => panic!("{text:?}: {error}"),
        };
        // The client for the admin port rejects some of these; then no request is sent.
        if let Ok(url) = reqwest::Url::parse(&format!("http://{authority}/")) {
            let is_here = matches!(url.host_str(), Some("localhost" | "[::1]"))
                || url.host_str().is_some_and(|host| host.starts_with("127."));
            assert!(is_here || !is_sent, "{text:?} leads to {url}");
            assert_eq!(
                (url.username(), url.port_or_known_default()),
                ("", uri.port_u16()),
                "{text:?}"
            );
        }
    });
}
