//! The admin token, which control routes need.

use crate::error::Result;
use crate::sandbox::tokens::{fingerprint, random};

/// Prefix of a random admin token, so that one found in a file is recognized.
const PREFIX: &str = "sbx_admin_";

/// The admin token of a sandbox, as its digest.
pub(in crate::sandbox) struct AdminToken([u8; 32]);

impl AdminToken {
    /// A random token.
    pub(in crate::sandbox) fn random() -> Result<String> {
        random(PREFIX)
    }

    pub(in crate::sandbox) fn new(token: &str) -> Self {
        Self(fingerprint(token))
    }

    /// Whether it is this one. Digests are compared, whose first bytes nobody can choose.
    pub(super) fn is(&self, token: &str) -> bool {
        self.0 == fingerprint(token)
    }
}
