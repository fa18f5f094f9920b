//! The environment variables the package reads: all of them.

/// Address of the service, when `base_url=` is not given.
pub const BASE_URL: &str = "DATAACCESS_BASE_URL";

/// The bearer token, when `token=` is not given.
pub const TOKEN: &str = "DATAACCESS_TOKEN";

/// PEM file of the authorities to trust, when `ca_bundle=` is not given.
pub const CA_BUNDLE: &str = "DATAACCESS_CA_BUNDLE";

/// The same as OpenSSL has it: a file.
pub const SSL_CERT_FILE: &str = "SSL_CERT_FILE";

/// The same as OpenSSL has it: folders, separated as in `PATH`.
pub const SSL_CERT_DIR: &str = "SSL_CERT_DIR";

/// The same as `requests` has it: a file or a folder.
pub const REQUESTS_CA_BUNDLE: &str = "REQUESTS_CA_BUNDLE";

/// Proxy for `https`; what comes first wins.
pub const HTTPS_PROXY: [&str; 4] = ["https_proxy", "HTTPS_PROXY", ALL_PROXY[0], ALL_PROXY[1]];

/// Proxy for plain `http`; what comes first wins.
pub const HTTP_PROXY: [&str; 4] = ["http_proxy", "HTTP_PROXY", ALL_PROXY[0], ALL_PROXY[1]];

/// Proxy for both.
pub const ALL_PROXY: [&str; 2] = ["all_proxy", "ALL_PROXY"];

/// Hosts that need no proxy; what comes first wins.
pub const NO_PROXY: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// Set for a CGI program, whose `HTTP_PROXY` is then a header of the request it serves and no setting.
pub const REQUEST_METHOD: &str = "REQUEST_METHOD";

/// Every variable whose change may change a client.
pub const ALL: [&str; 15] = [
    BASE_URL,
    TOKEN,
    CA_BUNDLE,
    SSL_CERT_FILE,
    SSL_CERT_DIR,
    REQUESTS_CA_BUNDLE,
    HTTPS_PROXY[0],
    HTTPS_PROXY[1],
    HTTP_PROXY[0],
    HTTP_PROXY[1],
    ALL_PROXY[0],
    ALL_PROXY[1],
    NO_PROXY[0],
    NO_PROXY[1],
    REQUEST_METHOD,
];

/// Reads a variable; one that is set but empty counts as not set.
#[must_use]
pub fn read(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
