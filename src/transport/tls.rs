//! Which CA certificates TLS trusts, and why a handshake failed. Verification cannot be turned off.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::time::SystemTime;

use reqwest::ClientBuilder;
use reqwest::tls::Certificate;
use rustls::{AlertDescription, CertificateError, Error as Refusal, InvalidMessage, PeerIncompatible, RootCertStore};
use rustls_native_certs::load_certs_from_paths;

use super::failure;
use crate::config::{CaSource, Settings, Trust};
use crate::error::{Error, Kind, Phase, Result, argument, excerpt};

/// Most characters of a certificate's names in an error message.
const SHOWN: usize = 100;

/// Sets the CA certificates of the settings, else the system's. Plain HTTP needs none.
pub(super) fn configure(builder: ClientBuilder, settings: &Settings) -> Result<ClientBuilder> {
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

/// Reads the CA certificates. Each file must hold one.
fn read(all: &[CaSource]) -> Result<Vec<Certificate>> {
    let mut certificates = Vec::new();
    let mut empty = None;
    for source in all {
        let is_folder = source.path.is_dir();
        let kind = if is_folder { "folder" } else { "file" };
        let place = format!("the {kind} of CA certificates, {source},");
        let path = Some(source.path.as_path());
        let loaded = if is_folder { load_certs_from_paths(None, path) } else { load_certs_from_paths(path, None) };
        // A folder may hold other files, and files of other users.
        if let Some(error) = loaded.errors.into_iter().next().filter(|_| !is_folder) {
            let cause = failure::innermost(&error);
            return Err(Error::new(Kind::Config, format!("{place} cannot be read: {cause}")).with_source(error));
        }
        let usable = loaded.certs.into_iter().filter(|certificate| {
            // One invalid certificate would make all others fail.
            RootCertStore::empty().add(certificate.clone()).is_ok()
        });
        let before = certificates.len();
        for certificate in usable {
            certificates.push(Certificate::from_der(&certificate).map_err(|error| failure::setup(error, &place))?);
        }
        if certificates.len() == before {
            empty = Some(Error::new(Kind::Config, format!("{place} contains no usable PEM certificate")));
            if !is_folder {
                break;
            }
        }
    }
    // One folder may be empty beside another.
    match empty.filter(|_| certificates.is_empty()) {
        Some(empty) => Err(empty),
        None => Ok(certificates),
    }
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
            let bundle = argument("ca_bundle");
            error.with_hint(format!("trusted: {trust}; trust a private CA with {bundle} or DATAACCESS_CA_BUNDLE"))
        }
        "bad certificate" if message == AUTHORITY => error.with_hint(format!(
            "make one for the server that is no authority: openssl req -x509 … -addext basicConstraints=critical,CA:FALSE; \
             trusted: {trust}"
        )),
        "wrong name" | "bad certificate" => error.with_hint(format!("trusted: {trust}")),
        "not TLS" => error.with_hint(format!("check the scheme and port of {}", argument("base_url"))),
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
            ("wrong name", format!("certificate is for {}", excerpt(&presented.join(", "), SHOWN)).into())
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
