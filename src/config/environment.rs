//! All environment variables that the package reads.

/// Base URL of the service, when `base_url=` is not given.
pub const BASE_URL: &str = "DATAACCESS_BASE_URL";

/// The bearer token, when `token=` is not given.
pub const TOKEN: &str = "DATAACCESS_TOKEN";

/// The file of the bearer token, when neither `token=` nor [`TOKEN`] is given.
pub const TOKEN_FILE: &str = "DATAACCESS_TOKEN_FILE";

/// The zone of days, when `timezone=` is not given.
pub const TIMEZONE: &str = "DATAACCESS_TIMEZONE";

/// The `value_type` of promotion codes, when `code_value_type=` is not given.
pub const CODE_VALUE_TYPE: &str = "DATAACCESS_CODE_VALUE_TYPE";

/// PEM file of trusted CA certificates, when `ca_bundle=` is not given.
pub const CA_BUNDLE: &str = "DATAACCESS_CA_BUNDLE";

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

/// Every variable whose change may change a client.
pub const ALL: [&str; 18] = [
    BASE_URL,
    TOKEN,
    TOKEN_FILE,
    TIMEZONE,
    CODE_VALUE_TYPE,
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
