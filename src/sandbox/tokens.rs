//! Access tokens with scopes and expiry (section 5). Only their digests are kept.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::error::{Error, Kind, Result};

/// Prefix of every token, so that one found in a file is recognized.
const PREFIX: &str = "sbx_";

/// Most valid tokens.
const MAX_TOKENS: usize = 10_000;

/// The SHA-256 digest of a token.
pub(super) type Fingerprint = [u8; 32];

/// The valid tokens.
#[derive(Default)]
pub(super) struct Tokens(Mutex<HashMap<Fingerprint, Token>>);

struct Token {
    /// None has every scope, also one that a switch names later.
    scopes: Option<Vec<String>>,
    expires_at: Option<SystemTime>,
}

/// The scopes of a valid token, or every scope.
pub(super) struct Grant(Option<Vec<String>>);

impl Grant {
    /// Whether the token has a scope.
    pub(super) fn allows(&self, scope: &str) -> bool {
        self.0.as_ref().is_none_or(|granted| granted.iter().any(|granted| granted == scope))
    }
}

/// Scheme and token of an `Authorization` header; none for another scheme than Bearer.
pub(super) fn bearer_token(value: &str) -> Option<(&str, &str)> {
    value.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"))
}

impl Tokens {
    /// Issues a token of 256 random bits.
    pub(super) fn issue(&self, scopes: &[String], now: SystemTime, expires_in: Option<Duration>) -> Result<String> {
        let token = random(PREFIX)?;
        // A lifetime beyond the range of the clock is no expiry.
        let expires_at = expires_in.and_then(|lifetime| now.checked_add(lifetime));
        let mut tokens = self.lock();
        tokens.retain(|_, token| token.is_valid(now));
        if tokens.len() >= MAX_TOKENS {
            let problem = format!("this sandbox has {MAX_TOKENS} valid tokens, which is the limit");
            return Err(Error::new(Kind::Sandbox, problem)
                .with_hint("revoke those that are not needed, or issue them with expires_in"));
        }
        tokens.insert(fingerprint(&token), Token { scopes: Some(scopes.to_vec()), expires_at });
        Ok(token)
    }

    /// Adds a given token, with every scope and without expiry.
    pub(super) fn add(&self, token: &str) {
        self.lock().insert(fingerprint(token), Token { scopes: None, expires_at: None });
    }

    /// Revokes a token. Returns whether it was known.
    pub(super) fn revoke(&self, token: &str) -> bool {
        self.lock().remove(&fingerprint(token)).is_some()
    }

    /// The grant of a valid token.
    pub(super) fn grant(&self, token: &str, now: SystemTime) -> Option<Grant> {
        let tokens = self.lock();
        tokens.get(&fingerprint(token)).filter(|token| token.is_valid(now)).map(|token| Grant(token.scopes.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Fingerprint, Token>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Token {
    fn is_valid(&self, now: SystemTime) -> bool {
        self.expires_at.is_none_or(|expiry| now < expiry)
    }
}

/// A token of 256 random bits.
pub(super) fn random(prefix: &str) -> Result<String> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|cause| {
        let problem = format!("cannot generate a token: the random number generator of the system failed: {cause}");
        Error::new(Kind::Sandbox, problem)
    })?;
    Ok(format!("{prefix}{}", random.map(|byte| format!("{byte:02x}")).concat()))
}

/// The digest of a token.
pub(super) fn fingerprint(token: &str) -> Fingerprint {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_unique_and_is_not_kept() {
        let tokens = Tokens::default();
        let issue = || tokens.issue(&["item".to_owned()], SystemTime::UNIX_EPOCH, None).unwrap();
        let (first, second) = (issue(), issue());
        assert_ne!(first, second);
        assert!(first.starts_with("sbx_") && first.len() == 68);
        assert!(tokens.lock().keys().all(|fingerprint| fingerprint[..] != first.as_bytes()[4..36]));
    }

    #[test]
    fn the_number_of_tokens_is_limited() {
        let tokens = Tokens::default();
        let issue = |seconds| {
            tokens.issue(&[], SystemTime::UNIX_EPOCH + Duration::from_secs(seconds), Some(Duration::from_secs(60)))
        };
        let first = issue(0).unwrap();
        for _ in 1..MAX_TOKENS {
            issue(0).unwrap();
        }
        assert_eq!(issue(59).unwrap_err().kind(), Kind::Sandbox);
        assert!(tokens.revoke(&first));
        issue(59).unwrap();
        issue(60).unwrap();
        assert_eq!(tokens.lock().len(), 2);
    }

    #[test]
    fn a_token_ends_exactly_at_its_expiry() {
        let tokens = Tokens::default();
        let token = tokens.issue(&[], SystemTime::UNIX_EPOCH, Some(Duration::from_secs(60))).unwrap();
        let at = |seconds: f64| tokens.grant(&token, SystemTime::UNIX_EPOCH + Duration::from_secs_f64(seconds));
        assert!(at(59.999).is_some());
        assert!(at(60.0).is_none());
    }
}
