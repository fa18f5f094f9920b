//! The environment variables the package reads: all of them.

/// Address of the service, when `base_url=` is not given.
pub const BASE_URL: &str = "DATAACCESS_BASE_URL";

/// The bearer token, when `token=` is not given.
pub const TOKEN: &str = "DATAACCESS_TOKEN";

/// PEM file of the authorities to trust, when `ca_bundle=` is not given.
pub const CA_BUNDLE: &str = "DATAACCESS_CA_BUNDLE";

/// Reads a variable; one that is set but empty counts as not set.
#[must_use]
pub fn read(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
