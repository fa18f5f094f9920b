//! The environment variables that many programs read. Those of this package are read in Python.

/// The variable of OpenSSL for a file of trusted CA certificates.
pub const SSL_CERT_FILE: &str = "SSL_CERT_FILE";

/// The variable of OpenSSL for folders of trusted CA certificates, separated as in `PATH`.
pub const SSL_CERT_DIR: &str = "SSL_CERT_DIR";

/// The variable of Python's `requests` for a file or folder of trusted CA certificates.
pub const REQUESTS_CA_BUNDLE: &str = "REQUESTS_CA_BUNDLE";

/// Proxy for `https`; the first that is set wins.
pub const HTTPS_PROXY: [&str; 4] = ["https_proxy", "HTTPS_PROXY", ALL_PROXY[0], ALL_PROXY[1]];

/// Proxy for plain `http`; the first that is set wins.
pub const HTTP_PROXY: [&str; 4] = ["http_proxy", "HTTP_PROXY", ALL_PROXY[0], ALL_PROXY[1]];

/// Proxy for both schemes.
pub const ALL_PROXY: [&str; 2] = ["all_proxy", "ALL_PROXY"];

/// Hosts that are connected to directly; the first that is set wins.
pub const NO_PROXY: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// Set in a CGI program, where `HTTP_PROXY` comes from a request header ("httpoxy") and is no setting.
pub const REQUEST_METHOD: &str = "REQUEST_METHOD";

/// Every variable that the core reads.
pub const ALL: [&str; 12] = [
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
pub fn read(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
