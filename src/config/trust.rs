//! Which CA certificates TLS trusts, and which setting says so. Reads no file.

use std::env;
use std::fmt;
use std::path::PathBuf;

use super::{Origin, environment};

/// The CA certificates that TLS trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Those of the system.
    System,
    /// Only the CAs of files and folders.
    Only(Vec<CaSource>),
}

/// A file, or a folder of files, with certificates in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaSource {
    /// Path of the file or folder.
    pub path: PathBuf,
    /// Where the path came from.
    pub origin: Origin,
}

impl Trust {
    /// The setting; else the environment; else the system.
    #[must_use]
    pub(super) fn resolve(setting: Option<PathBuf>, lookup: impl Fn(&str) -> Option<String>) -> Self {
        let one = |path: PathBuf, origin| vec![CaSource { path, origin }];
        let named = |name| lookup(name).map(|path| one(PathBuf::from(path), Origin::Environment(name)));
        let openssl = || {
            let file = named(environment::SSL_CERT_FILE).unwrap_or_default();
            let folders = lookup(environment::SSL_CERT_DIR).unwrap_or_default();
            let folders = env::split_paths(&folders).filter(|path| !path.as_os_str().is_empty());
            let folders = folders.map(|path| CaSource { path, origin: Origin::Environment(environment::SSL_CERT_DIR) });
            let all: Vec<_> = file.into_iter().chain(folders).collect();
            (!all.is_empty()).then_some(all)
        };
        setting
            .map(|path| one(path, Origin::Setting("ca_bundle")))
            .or_else(openssl)
            .or_else(|| named(environment::REQUESTS_CA_BUNDLE))
            .map_or(Self::System, Self::Only)
    }

    /// Whether the setting names them, and not a variable that many programs share.
    pub fn is_ours(&self) -> bool {
        matches!(self, Self::Only(all) if all.iter().any(|source| matches!(source.origin, Origin::Setting(_))))
    }
}

/// As `ca_bundle=/etc/ssl/ca.pem` or `SSL_CERT_FILE=/etc/ssl/ca.pem`.
impl fmt::Display for CaSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.origin, self.path.display())
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => formatter.write_str("the system's CA certificates"),
            Self::Only(all) => formatter.write_str(&all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        }
    }
}
