//! Whom TLS trusts, and why a handshake was refused. There is no way to trust everyone.

use std::error::Error as StdError;
use std::time::SystemTime;

use reqwest::ClientBuilder;
use reqwest::tls::Certificate;
use rustls::{AlertDescription, CertificateError, Error as Refusal, InvalidMessage, PeerIncompatible, RootCertStore};
use rustls_native_certs::load_certs_from_paths;

use super::failure;
use crate::config::{CaSource, Settings, Trust};
use crate::error::{Error, Kind, Phase, Result, excerpt};

/// Characters of the names in a certificate that a message shows.
const SHOWN: usize = 100;

/// The authorities that the settings name, else the system's; plain HTTP to this machine needs none.
pub(super) fn configure(builder: ClientBuilder, settings: &Settings) -> Result<ClientBuilder> {
    let uses_tls = settings.uses_tls();
    match &settings.trust {
        // What all programs are told matters only where it is used.
        Trust::Only(all) if uses_tls || settings.trust.is_ours() => Ok(builder.tls_certs_only(read(all)?)),
        Trust::System if uses_tls => Ok(builder),
        // Without TLS there is nothing to verify, and the system's store costs milliseconds to read.
        _ => Ok(builder.tls_certs_only([])),
    }
}

/// Reads what is trusted, each file of which must hold a certificate.
///
/// # Errors
/// `Config`, naming the file and who named it.
fn read(all: &[CaSource]) -> Result<Vec<Certificate>> {
    let mut certificates = Vec::new();
    let mut empty = None;
    for authorities in all {
        let is_folder = authorities.path.is_dir();
        let kind = if is_folder { "folder" } else { "file" };
        let place = format!("the {kind} of certificates to trust, {authorities},");
        let path = Some(authorities.path.as_path());
        let loaded = if is_folder { load_certs_from_paths(None, path) } else { load_certs_from_paths(path, None) };
        // A folder may hold other files too, and those of others.
        if let Some(error) = loaded.errors.into_iter().next().filter(|_| !is_folder) {
            let cause = failure::innermost(&error);
            return Err(Error::new(Kind::Config, format!("{place} cannot be read: {cause}")).with_source(error));
        }
        let usable = loaded.certs.into_iter().filter(|certificate| {
            // One that TLS cannot read would spoil all others.
            RootCertStore::empty().add(certificate.clone()).is_ok()
        });
        let before = certificates.len();
        for certificate in usable {
            certificates.push(Certificate::from_der(&certificate).map_err(|error| failure::setup(error, &place))?);
        }
        if certificates.len() == before {
            empty = Some(Error::new(Kind::Config, format!("{place} holds no certificate in PEM")));
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

/// A refusal that comes instead of an answer: what TLS 1.3 wants of us it says after the handshake.
pub(super) fn late_refusal<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Refusal> {
    let is_late = |refusal: &&Refusal| matches!(refusal, Refusal::AlertReceived(AlertDescription::CertificateRequired));
    failure::find::<Refusal>(error).filter(is_late)
}

/// A handshake that was refused, on either side.
pub(super) fn refused(refusal: &Refusal, whom: &str, trust: &Trust) -> Error {
    let (reason, told) = reason(refusal);
    let error = Error::new(Kind::Tls, format!("no trusted connection to {whom}: {told}"));
    let error = error.with(|details| (details.phase, details.reason) = (Some(Phase::Tls), Some(reason)));
    match reason {
        "expired" | "not yet valid" => {
            error.with_hint(format!("this machine's clock says {}", httpdate::fmt_http_date(SystemTime::now())))
        }
        "unknown issuer" => error.with_hint(format!(
            "trusted: {trust}; a private authority is trusted with ca_bundle= or DATAACCESS_CA_BUNDLE"
        )),
        "wrong name" | "bad certificate" => error.with_hint(format!("trusted: {trust}")),
        "not TLS" => error.with_hint("check scheme and port of the address"),
        _ => error,
    }
}

/// One of a few words, and a sentence.
fn reason(refusal: &Refusal) -> (&'static str, String) {
    let (reason, told) = match refusal {
        Refusal::InvalidCertificate(certificate) => return of_certificate(certificate),
        Refusal::InvalidMessage(
            InvalidMessage::InvalidContentType
            | InvalidMessage::UnknownProtocolVersion
            | InvalidMessage::MessageTooLarge,
        ) => ("not TLS", "it does not speak TLS"),
        Refusal::AlertReceived(AlertDescription::ProtocolVersion)
        | Refusal::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13) => {
            ("version", "it speaks neither TLS 1.2 nor 1.3")
        }
        Refusal::AlertReceived(AlertDescription::CertificateRequired) => {
            ("client certificate", "it wants a certificate of ours, and there is none")
        }
        Refusal::AlertReceived(AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity)
        | Refusal::PeerIncompatible(_) => {
            ("refused", "it knows no encryption that is safe, or wants a certificate of ours")
        }
        _ => return ("handshake", refusal.to_string()),
    };
    (reason, told.to_owned())
}

fn of_certificate(error: &CertificateError) -> (&'static str, String) {
    let (reason, told) = match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            ("expired", "its certificate has expired".to_owned())
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            ("not yet valid", "its certificate is not valid yet".to_owned())
        }
        CertificateError::NotValidForName => ("wrong name", "its certificate is for another name".to_owned()),
        CertificateError::NotValidForNameContext { presented, .. } => {
            ("wrong name", format!("its certificate is for {}", excerpt(&presented.join(", "), SHOWN)))
        }
        CertificateError::UnknownIssuer => {
            ("unknown issuer", "its certificate is of an authority that is not trusted".to_owned())
        }
        other => ("bad certificate", format!("its certificate cannot be used: {other}")),
    };
    (reason, told)
}
