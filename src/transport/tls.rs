//! Which CA certificates TLS trusts, and why a handshake failed. Verification cannot be turned off.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fs;
use std::io;
use std::time::SystemTime;

use reqwest::ClientBuilder;
use reqwest::tls::Certificate;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{AlertDescription, CertificateError, Error as Refusal, InvalidMessage, PeerIncompatible, RootCertStore};

use super::failure;
use crate::config::{CaSource, Connection, Trust};
use crate::error::{Error, Kind, Phase, Result, excerpt};
use crate::regular_file;

/// Most characters of a certificate's names in an error message.
const SHOWN: usize = 100;
/// Most bytes of a file of CA certificates.
const MOST_BYTES: u64 = 16 << 20;
/// The beginning of a section of PEM.
const BEGIN: &str = "-----BEGIN ";

/// Sets the CA certificates of the settings, else the system's. Plain HTTP needs none.
pub(super) fn configure(builder: ClientBuilder, settings: &Connection) -> Result<ClientBuilder> {
    let uses_tls = settings.uses_tls();
    match &settings.trust {
        // A variable that all programs share is read only if it is needed.
        Trust::Only(all) if uses_tls || settings.trust.is_ours() => Ok(builder.tls_certs_only(read(all)?)),
        Trust::System if uses_tls => Ok(builder),
        // Reading the system's store takes milliseconds.
        _ => Ok(builder.tls_certs_only([])),
    }
}

/// Checks that the CA certificates can be read.
pub(super) fn check(trust: &Trust) -> Result<()> {
    match trust {
        Trust::System => Ok(()),
        Trust::Only(all) => read(all).map(drop),
    }
}

/// Reads the CA certificates: at least one of each file, and of all folders together.
fn read(all: &[CaSource]) -> Result<Vec<Certificate>> {
    let (mut found, mut empty) = (Vec::new(), None);
    for source in all {
        let is_folder = source.path.is_dir();
        // The content of a file may be a private key: it is never quoted.
        let refused = |problem: String| {
            let kind = if is_folder { "folder" } else { "file" };
            let (path, from) = (source.path.display(), source.origin.source());
            Error::new(Kind::Config, format!("ca_bundle: the {kind} {path} {problem}{from}"))
        };
        let unreadable = |cause: io::Error| refused(format!("cannot be read: {cause}"));
        let before = found.len();
        if is_folder {
            for entry in fs::read_dir(&source.path).map_err(unreadable)? {
                // A folder may hold other files, and files of other users.
                let content = entry.and_then(|entry| regular_file::read(&entry.path(), MOST_BYTES));
                found.extend(certificates(&content.unwrap_or_default()).into_iter().flatten());
            }
        } else {
            for certificate in certificates(&regular_file::read(&source.path, MOST_BYTES).map_err(unreadable)?) {
                found.push(certificate.map_err(|line| {
                    refused(format!("has a certificate from line {line} on that cannot be used"))
                        .with_hint("each certificate is written in PEM, with line breaks; leave out what is no CA")
                })?);
            }
        }
        if found.len() == before {
            let problem = refused("contains no usable PEM certificate".to_owned());
            empty = if is_folder { Some(problem) } else { return Err(problem) };
        }
    }
    match empty {
        Some(empty) if found.is_empty() => Err(empty),
        _ => Ok(found),
    }
}

/// The certificates of a PEM file; of one that cannot be used, the line where it begins. Other sections are not read.
fn certificates(content: &[u8]) -> Vec<std::result::Result<Certificate, usize>> {
    let text = String::from_utf8_lossy(content);
    let (mut line, mut found) = (1, Vec::new());
    // A section need not begin on a new line: a byte order mark or the end of another may be before it.
    for (number, section) in text.split(BEGIN).enumerate() {
        let label = section.split(['-', '\r', '\n']).next().unwrap_or_default();
        if number > 0 && label.trim_end().ends_with("CERTIFICATE") {
            let certificate = CertificateDer::from_pem_slice(format!("{BEGIN}{section}").as_bytes()).ok();
            // One invalid certificate would make all others fail.
            let usable = certificate.filter(|certificate| RootCertStore::empty().add(certificate.clone()).is_ok());
            found.push(usable.and_then(|usable| Certificate::from_der(&usable).ok()).ok_or(line));
        }
        line += section.matches('\n').count();
    }
    found
}

/// A TLS alert in place of a response: in TLS 1.3 the request for a client certificate fails after the handshake.
pub(super) fn late_refusal<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Refusal> {
    let is_late = |refusal: &&Refusal| matches!(refusal, Refusal::AlertReceived(AlertDescription::CertificateRequired));
    failure::find::<Refusal>(error).filter(is_late)
}

pub(super) fn refused(refusal: &Refusal, peer: &str, trust: &Trust) -> Error {
    let (reason, message) = reason(refusal);
    let error = Error::new(Kind::Tls, format!("TLS handshake with {peer} failed: {message}"));
    let error = error.with(|details| (details.phase, details.reason) = (Some(Phase::Tls), Some(reason)));
    match reason {
        "expired" | "not yet valid" => {
            error.with_hint(format!("this machine's clock says {}", httpdate::fmt_http_date(SystemTime::now())))
        }
        "unknown issuer" => {
            error.with_hint(format!("trusted: {trust}; trust a private CA with ca_bundle or DATAACCESS_CA_BUNDLE"))
        }
        "bad certificate" if message == AUTHORITY => error.with_hint(format!(
            "make one for the server that is no authority: openssl req -x509 … -addext basicConstraints=critical,CA:FALSE; \
             trusted: {trust}"
        )),
        "wrong name" | "bad certificate" => error.with_hint(format!("trusted: {trust}")),
        "not TLS" => error.with_hint("check the scheme and port of base_url"),
        _ => error,
    }
}

/// The server has the certificate of an authority, as `openssl req -x509` makes one.
const AUTHORITY: &str = "certificate is that of an authority, and not of a server";

/// A short reason, which is public, and a sentence.
fn reason(refusal: &Refusal) -> (&'static str, Cow<'static, str>) {
    let (reason, message) = match refusal {
        Refusal::InvalidCertificate(certificate) => return of_certificate(certificate),
        Refusal::InvalidMessage(
            InvalidMessage::InvalidContentType
            | InvalidMessage::UnknownProtocolVersion
            | InvalidMessage::MessageTooLarge,
        ) => ("not TLS", "the server does not speak TLS"),
        Refusal::AlertReceived(AlertDescription::ProtocolVersion)
        | Refusal::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13) => {
            ("version", "the server supports neither TLS 1.2 nor 1.3")
        }
        Refusal::AlertReceived(AlertDescription::CertificateRequired) => {
            ("client certificate", "the server requires a client certificate, which is not supported")
        }
        Refusal::AlertReceived(AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity)
        | Refusal::PeerIncompatible(_) => {
            ("refused", "the server supports no secure cipher suite, or requires a client certificate")
        }
        _ => return ("handshake", refusal.to_string().into()),
    };
    (reason, message.into())
}

fn of_certificate(error: &CertificateError) -> (&'static str, Cow<'static, str>) {
    use CertificateError as Cause;
    match error {
        Cause::Expired | Cause::ExpiredContext { .. } => ("expired", "certificate has expired".into()),
        Cause::NotValidYet | Cause::NotValidYetContext { .. } => {
            ("not yet valid", "certificate is not valid yet".into())
        }
        Cause::NotValidForName => ("wrong name", "certificate is for another name".into()),
        Cause::NotValidForNameContext { presented, .. } => {
            let names = presented.iter().map(|name| bare(name)).collect::<Vec<_>>().join(", ");
            let names = if names.is_empty() { "another name".to_owned() } else { excerpt(&names, SHOWN) };
            ("wrong name", format!("certificate is for {names}").into())
        }
        Cause::UnknownIssuer => ("unknown issuer", "certificate signed by an untrusted CA".into()),
        other => {
            let cause = other.to_string();
            if cause.contains("CaUsedAsEndEntity") {
                return ("bad certificate", AUTHORITY.into());
            }
            ("bad certificate", format!("certificate cannot be used: {}", in_words(&cause)).into())
        }
    }
}

/// A name of a certificate, which the library shows as Rust writes it: `DnsName("cdp.example.com")`.
fn bare(name: &str) -> &str {
    name.split_once("(\"").and_then(|(_, rest)| rest.strip_suffix("\")")).unwrap_or(name)
}

/// The innermost name of a cause that the library shows as Rust writes it, as words: `Other(OtherError(NameIsWrong))`.
fn in_words(cause: &str) -> String {
    let innermost = cause.rsplit('(').next().unwrap_or(cause).trim_end_matches(')');
    if innermost.contains(' ') {
        return cause.to_owned();
    }
    let mut words = String::new();
    for letter in innermost.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}
