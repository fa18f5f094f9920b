//! Whom TLS trusts. There is no way to trust everyone.

use reqwest::ClientBuilder;
use reqwest::tls::Certificate;

use super::failure;
use crate::config::Settings;
use crate::error::{Error, Kind, Result};

/// The authorities of `ca_bundle=`, else the system's; plain HTTP to this machine needs none.
pub(super) fn configure(builder: ClientBuilder, settings: &Settings) -> Result<ClientBuilder> {
    let Some((path, origin)) = &settings.ca_bundle else {
        // Without TLS there is nothing to verify, and the system's store costs milliseconds to read.
        let plain = settings.base_url.scheme() == "http" && settings.proxy.is_none();
        return Ok(if plain { builder.tls_certs_only([]) } else { builder });
    };
    let place = format!("the CA file {} ({origin})", path.display());
    let pem = std::fs::read(path)
        .map_err(|error| Error::new(Kind::Config, format!("{place} cannot be read: {error}")).with_source(error))?;
    let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| failure::setup(error, &place))?;
    if certificates.is_empty() {
        return Err(Error::new(Kind::Config, format!("{place} holds no certificate in PEM")));
    }
    Ok(builder.tls_certs_only(certificates))
}
