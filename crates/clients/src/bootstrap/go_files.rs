//! The files that grpc-go's file_watcher and `tls` credentials name (pemfile/builder.go,
//! tlscreds/bundle.go).

use super::client_json::ClientJson;
use super::creds::half_pair;
use super::{go_values, load, providers};
use xdsctl_model::diag::{Path, Validation};
use xdsctl_model::profile::Feature;

/// The files and the interval of a config.
#[derive(Default)]
struct Files<'j> {
    certificate: &'j str,
    key: &'j str,
    ca: &'j str,
    spiffe: &'j str,
    interval: Option<&'j ClientJson>,
}

impl<'j> Files<'j> {
    /// Reads a config; `None` if it has a fault.
    fn read(json: &'j ClientJson, at: &Path<'_>, cx: &mut Validation<'_>) -> Option<Files<'j>> {
        let (mark, mut files) = (cx.mark(), Files::default());
        let members = match json {
            ClientJson::Null => None,
            other => load::object(other, at, cx),
        };
        for (key, json) in members.into_iter().flat_map(|object| object.pairs()) {
            let at = at.field(key);
            let into = match key.to_ascii_lowercase().as_str() {
                "certificate_file" => &mut files.certificate,
                "private_key_file" => &mut files.key,
                "ca_certificate_file" => &mut files.ca,
                "spiffe_trust_bundle_map_file" => &mut files.spiffe,
                "refresh_interval" => {
                    files.interval = Some(json);
                    continue;
                }
                _ => continue,
            };
            if *json != ClientJson::Null {
                *into = load::text(json, &at, cx).unwrap_or_default();
            }
        }
        if !cx.has(Feature::MtlsSpiffe) {
            files.spiffe = "";
        }
        (!cx.nacked_since(mark)).then_some(files)
    }

    fn has_none(&self) -> bool {
        [self.certificate, self.key, self.ca, self.spiffe]
            .iter()
            .all(|file| file.is_empty())
    }

    fn check(&self, at: &Path<'_>, cx: &mut Validation<'_>) {
        if let Some(interval) = self.interval {
            go_values::duration(interval, &at.field("refresh_interval"), cx);
        }
        if self.has_none() {
            return providers::without_files(at, cx);
        }
        half_pair(!self.certificate.is_empty(), !self.key.is_empty(), at, cx);
        if !self.certificate.is_empty() && !self.key.is_empty() && directory(self.certificate) != directory(self.key) {
            let why = format_args!("certificate_file and private_key_file must be in the same directory");
            cx.report(&super::creds::BOOTSTRAP_HALF_KEY_PAIR, at, why);
        }
    }
}

/// Checks the config of a file_watcher provider.
pub(super) fn provider(config: Option<&ClientJson>, at: &Path<'_>, cx: &mut Validation<'_>) {
    match config {
        None => load::missing(at, cx),
        Some(json) => {
            if let Some(files) = Files::read(json, at, cx) {
                files.check(at, cx);
            }
        }
    }
}

/// Checks the config of `tls` credentials. A config that names no file is not checked further.
pub(super) fn tls(config: Option<&ClientJson>, at: &Path<'_>, cx: &mut Validation<'_>) {
    let files = config.and_then(|json| Files::read(json, at, cx));
    if let Some(files) = files.filter(|files| !files.has_none()) {
        files.check(at, cx);
    }
}

/// Returns the directory of a file, with `.` and `..` resolved (`filepath.Dir`).
fn directory(file: &str) -> String {
    let before = file
        .rfind('/')
        .map_or("", |slash| file.get(..=slash).unwrap_or_default());
    let is_rooted = before.starts_with('/');
    let mut steps: Vec<&str> = Vec::new();
    for step in before.split('/').filter(|step| !step.is_empty() && *step != ".") {
        match (step, steps.last()) {
            ("..", Some(last)) if *last != ".." => _ = steps.pop(),
            ("..", None) if is_rooted => {}
            _ => steps.push(step),
        }
    }
    format!("{}{}", if is_rooted { "/" } else { "" }, steps.join("/"))
}
