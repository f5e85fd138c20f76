//! Certificates from PEM: the names and the time of validity that a server looks at.
//!
//! Only blocks that are marked as certificates are read; a key beside them is skipped. No signature
//! is checked.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use x509_cert::Certificate;
use x509_cert::der::oid::db::rfc5280::{ANY_EXTENDED_KEY_USAGE, ID_KP_CLIENT_AUTH};
use x509_cert::der::{DateTime, DecodePem};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{ExtendedKeyUsage, SubjectAltName};
use x509_cert::time::Time;

use crate::connection::PeerCertificate;

/// The lines with which a certificate begins and ends.
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The most certificates of one file.
const MAX_CERTIFICATES: usize = 1000;

/// The most bytes of a certificate's block.
const MAX_BYTES: usize = 1 << 20;

/// Why a text has no certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateError {
    /// No block is marked as a certificate.
    None,
    /// A block has no end, or is larger than 1 MiB.
    Unbounded,
    /// A block cannot be read as a certificate.
    Broken,
    /// There are more than 1000 certificates.
    TooMany,
}

impl std::fmt::Display for CertificateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CertificateError::None => "no block in it begins with BEGIN CERTIFICATE",
            CertificateError::Unbounded => "a certificate in it has no end, or is larger than 1 MiB",
            CertificateError::Broken => "a certificate in it cannot be read",
            CertificateError::TooMany => "there are more than 1000 certificates in it",
        })
    }
}

/// Reads the certificates in a PEM text, in order; the first is that of the peer itself.
///
/// # Errors
/// Fails if there is no certificate, there are too many, or one cannot be read.
pub fn read_pem(text: &str) -> Result<Vec<PeerCertificate>, CertificateError> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(BEGIN) {
        let (body, behind) = after.split_once(END).ok_or(CertificateError::Unbounded)?;
        if body.len() > MAX_BYTES {
            return Err(CertificateError::Unbounded);
        }
        if found.len() == MAX_CERTIFICATES {
            return Err(CertificateError::TooMany);
        }
        found.push(certificate(body)?);
        rest = behind;
    }
    if found.is_empty() {
        return Err(CertificateError::None);
    }
    Ok(found)
}

fn certificate(body: &str) -> Result<PeerCertificate, CertificateError> {
    // The programs that read such files accept lines of any length and ending.
    let plain: Vec<u8> = body.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let mut text = format!("{BEGIN}\n");
    for line in plain.chunks(64) {
        text.push_str(std::str::from_utf8(line).map_err(|_| CertificateError::Broken)?);
        text.push('\n');
    }
    text.push_str(END);
    text.push('\n');
    let read = Certificate::from_pem(text).map_err(|_| CertificateError::Broken)?;
    let tbs = read.tbs_certificate();
    let mut certificate = PeerCertificate {
        subject: name(tbs.subject()),
        issuer: name(tbs.issuer()),
        not_before: seconds(&tbs.validity().not_before),
        not_after: seconds(&tbs.validity().not_after),
        ..PeerCertificate::default()
    };
    let usage: Option<(bool, ExtendedKeyUsage)> = tbs.get_extension().map_err(|_| CertificateError::Broken)?;
    let for_clients = [ID_KP_CLIENT_AUTH, ANY_EXTENDED_KEY_USAGE];
    certificate.is_for_others = usage.is_some_and(|(_, usage)| !usage.0.iter().any(|one| for_clients.contains(one)));
    let names: Option<(bool, SubjectAltName)> = tbs.get_extension().map_err(|_| CertificateError::Broken)?;
    for name in names.map(|(_, names)| names.0).unwrap_or_default() {
        match name {
            GeneralName::UniformResourceIdentifier(uri) => certificate.uris.push(uri.to_string()),
            GeneralName::DnsName(name) => certificate.dns_names.push(name.to_string()),
            GeneralName::Rfc822Name(email) => certificate.emails.push(email.to_string()),
            GeneralName::IpAddress(bytes) => certificate.ips.extend(ip(bytes.as_bytes())),
            _ => {}
        }
    }
    Ok(certificate)
}

/// Writes a name as text. The text is empty if a value in the name cannot be encoded.
fn name(name: &x509_cert::name::Name) -> String {
    let mut text = String::new();
    match write!(text, "{name}") {
        Ok(()) => text,
        Err(_) => String::new(),
    }
}

/// Reads a time such as `2026-11-24T18:00:00Z` as seconds since 1970. Returns `None` for any other
/// text.
pub fn read_time(text: &str) -> Option<i64> {
    let time: DateTime = text.parse().ok()?;
    i64::try_from(time.unix_duration().as_secs()).ok()
}

/// Writes seconds since 1970 as a time such as `2026-11-24T18:00:00Z`, or as a number if there is
/// no such time.
pub fn time_text(seconds: i64) -> String {
    let since = u64::try_from(seconds).map(Duration::from_secs);
    let time = since.ok().and_then(|since| DateTime::from_unix_duration(since).ok());
    time.map_or_else(|| seconds.to_string(), |time| time.to_string())
}

fn seconds(time: &Time) -> Option<i64> {
    i64::try_from(time.to_unix_duration().as_secs()).ok()
}

fn ip(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(|octets| IpAddr::from(Ipv4Addr::from(octets)));
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(|octets| IpAddr::from(Ipv6Addr::from(octets))))
        .ok()
}
