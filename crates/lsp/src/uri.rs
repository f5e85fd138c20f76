//! Converts names of files to URIs, and back.

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// The ASCII characters that are escaped in the path of a URI (RFC 3986, pchar); other characters
/// are always escaped.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Returns the path of a `file:` URI; `None` for other URIs, such as that of a text without a file.
///
/// ```
/// use xdsctl_lsp::uri;
/// assert_eq!(uri::path("file:///a%20b/c.yaml").unwrap().to_str(), Some("/a b/c.yaml"));
/// assert!(uri::path("untitled:Untitled-1").is_none());
/// ```
pub fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let text = percent_decode_str(path).decode_utf8().ok()?;
    // `/c:/a` is a Windows path.
    let bare = text
        .strip_prefix('/')
        .filter(|bare| bare.as_bytes().get(1) == Some(&b':'));
    match bare {
        Some(bare) if cfg!(windows) => Some(PathBuf::from(bare.replace('/', "\\"))),
        _ => text.starts_with('/').then(|| PathBuf::from(&*text)),
    }
}

/// Returns the URI of a file with an absolute path.
///
/// ```
/// use std::path::Path;
/// use xdsctl_lsp::uri;
/// assert_eq!(uri::of(Path::new("/a b/ü#.yaml")), "file:///a%20b/%C3%BC%23.yaml");
/// ```
pub fn of(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if cfg!(windows) {
        format!("/{}", text.replace('\\', "/"))
    } else {
        text.into_owned()
    };
    format!("file://{}", utf8_percent_encode(&text, ESCAPED))
}
