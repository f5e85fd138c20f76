//! Tests which requests are let in, and what is never served.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::{PageFile, Shelf, Showing, show};

const PAGES: &[PageFile] = &[
    PageFile {
        path: "index.html",
        bytes: b"<meta nonce=\"%NONCE%\" content=\"%SERVED%\">",
        is_gzip: false,
    },
    PageFile {
        path: "assets/a.js",
        bytes: b"zipped",
        is_gzip: true,
    },
];

/// Returns the port, the token and the open files of a server that runs until the tests end.
fn server() -> (u16, &'static str, &'static Shelf) {
    static SERVER: OnceLock<(u16, String, Arc<Shelf>)> = OnceLock::new();
    let (port, token, shelf) = SERVER.get_or_init(|| {
        let shelf = Arc::new(Shelf::default());
        shelf.put("xds/a.yaml", b"a: 1".to_vec());
        let (tell, told) = channel();
        let own = Arc::clone(&shelf);
        std::thread::spawn(move || {
            let shown = show(Showing {
                port: 0,
                pages: PAGES,
                shelf: own,
                fetch: Arc::new(|address| match address {
                    "csds://here:1" => Ok(b"{}".to_vec()),
                    other => Err(format!("`{other}` is not there")),
                }),
                listening: &mut |address| tell.send(address.to_owned()).unwrap(),
            });
            drop(shown);
        });
        let address = told.recv_timeout(Duration::from_secs(10)).unwrap();
        let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.trim_end_matches('/').split_once('/').unwrap();
        (port.parse().unwrap(), token.to_owned(), shelf)
    });
    (*port, token, shelf)
}

/// Returns the answer to a request with these lines.
fn ask(request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", server().0)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
    let request = request.trim_start().replace('\n', "\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Returns the answer to a GET of a path below the token, with these header lines.
fn get(path: &str, headers: &str) -> String {
    let (port, token, _) = server();
    let host = if headers.to_lowercase().contains("host:") {
        String::new()
    } else {
        format!("Host: 127.0.0.1:{port}\n")
    };
    ask(&format!(
        "GET /{token}/{path} HTTP/1.1\n{host}{headers}Connection: close\n\n"
    ))
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn the_page_may_load_nothing_from_elsewhere() {
    let page = get("", "");
    assert_eq!(status(&page), 200, "{page}");
    let nonce = page.split("nonce=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(nonce.len(), 32, "{page}");
    for line in [
        &format!("style-src 'self' 'nonce-{nonce}'; base-uri 'none'")[..],
        "content-security-policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; ",
        "frame-ancestors 'none'",
        "content=\"yes\"",
        "referrer-policy: no-referrer",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    assert!(!page.contains("access-control"), "{page}");
    assert!(!get("", "").contains(nonce), "a nonce is used twice");
    let script = get("assets/a.js", "");
    assert!(
        script.contains("content-encoding: gzip") && script.ends_with("zipped"),
        "{script}"
    );
}

#[test]
fn a_page_of_another_site_gets_nothing() {
    let (port, ..) = server();
    for headers in [
        "Origin: http://evil.example\n",
        "Origin: null\n",
        "Origin: http://127.0.0.1:1\n",
        "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: cors\nSec-Fetch-Dest: empty\n",
        "Sec-Fetch-Site: same-site\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: script\n",
        "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe\n",
    ] {
        for path in ["", "opened", "opened/0", "assets/a.js"] {
            let answer = get(path, headers);
            assert_eq!(status(&answer), 403, "{path} {headers}");
            assert!(answer.ends_with("\r\n\r\n"), "{answer}");
        }
    }
    // A link that the user follows, and a request of the page itself.
    for headers in [
        "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\n".to_owned(),
        format!("Origin: http://127.0.0.1:{port}\nSec-Fetch-Site: same-origin\n"),
    ] {
        assert_eq!(status(&get("", &headers)), 200, "{headers}");
    }
}

#[test]
fn another_host_is_refused() {
    let (port, token, _) = server();
    let other = port ^ 1;
    for host in [
        format!("Host: evil.example:{port}\n"),
        "Host: 127.0.0.1\n".to_owned(),
        format!("Host: 127.0.0.1:{other}\n"),
        format!("Host: 127.0.0.1:{port}.evil.example\n"),
        format!("Host: 127.0.0.1:{port}\nHost: evil.example\n"),
        "Host:\n".to_owned(),
    ] {
        assert!([400, 403].contains(&status(&get("opened", &host))), "{host}");
    }
    assert_eq!(status(&ask(&format!("GET /{token}/ HTTP/1.0\n\n"))), 403);
    let absolute = format!("GET http://evil.example/{token}/ HTTP/1.1\nHost: 127.0.0.1:{port}\nConnection: close\n\n");
    assert_eq!(status(&ask(&absolute)), 403);
    assert_eq!(status(&get("", &format!("Host: localhost:{port}\n"))), 200);
}

#[test]
fn a_wrong_token_finds_nothing() {
    let (port, token, _) = server();
    let turned: String = token.chars().rev().collect();
    for path in [
        "",
        "/",
        "/opened",
        "//opened",
        &format!("/{turned}/"),
        &format!("/{}/", &token[1..]),
        &format!("/{token}"),
        &format!("/{token}0/"),
    ] {
        let path = if path.is_empty() { "*" } else { path };
        let answer = ask(&format!(
            "GET {path} HTTP/1.1\nHost: 127.0.0.1:{port}\nConnection: close\n\n"
        ));
        assert!([400, 403, 404].contains(&status(&answer)), "{path}: {answer}");
        assert!(!answer.contains(token), "{answer}");
    }
}

#[test]
fn no_path_leads_to_a_file() {
    for path in [
        "../../etc/passwd",
        "..%2f..%2fetc/passwd",
        "/etc/passwd",
        "assets/../../Cargo.toml",
        "opened/../index.html",
        "opened/-1",
        "opened/18446744073709551616",
        "opened/999",
        "assets/a.js/",
        "index.html%00",
        "%69ndex.html",
    ] {
        assert_eq!(status(&get(path, "")), 404, "{path}");
    }
}

#[test]
fn only_asked_for_methods_are_answered() {
    let (port, token, _) = server();
    for (method, path) in [
        ("PUT", "opened/0"),
        ("DELETE", "opened/0"),
        ("OPTIONS", ""),
        ("POST", ""),
        ("POST", "opened"),
        ("GET", "fetch"),
    ] {
        let answer = ask(&format!(
            "{method} /{token}/{path} HTTP/1.1\nHost: 127.0.0.1:{port}\nConnection: close\n\n"
        ));
        assert!([404, 405].contains(&status(&answer)), "{method} {path}: {answer}");
        assert!(!answer.contains("access-control"), "{answer}");
    }
}

#[test]
fn what_is_open_is_listed_and_pushed() {
    let (port, token, shelf) = server();
    assert!(get("opened", "").contains(r#"{"name":"xds/a.yaml","number":0,"size":4}"#));
    assert!(get("opened/0", "").ends_with("a: 1"));
    assert_eq!(status(&get("opened?after=x", "")), 400);
    let post = |address: &str| {
        ask(&format!(
            "POST /{token}/fetch HTTP/1.1\nHost: 127.0.0.1:{port}\nContent-Length: {}\nConnection: close\n\n{address}",
            address.len()
        ))
    };
    assert!(post("csds://there:1").ends_with(r#"{"error":"`csds://there:1` is not there"}"#));
    assert!(post("csds://here:1").ends_with(r#"{"error":null}"#));
    assert!(get("opened", "").contains("csds://here:1"));
    assert_eq!(status(&post(&"x".repeat(5000))), 413);
    // A request for the next version waits until there is one.
    let list = get("opened", "");
    let version = list.split("\"version\":").nth(1).unwrap();
    let version = version.split(|c: char| !c.is_ascii_digit()).next().unwrap().to_owned();
    let waiting = std::thread::spawn(move || get(&format!("opened?after={version}"), ""));
    std::thread::sleep(Duration::from_millis(200));
    assert!(!waiting.is_finished(), "it does not wait");
    shelf.put("later.yaml", b"b".to_vec());
    assert!(waiting.join().unwrap().contains("later.yaml"));
    shelf.remove("later.yaml");
    assert!(!get("opened", "").contains("later.yaml"));
}
