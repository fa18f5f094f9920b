//! Access tokens with scopes and expiry (section 5), and the admin token.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::error::{Error, Kind, Result};

/// Prefix of every token, so that one found in a file is recognized.
const PREFIX: &str = "sbx_";

/// Prefix of a random admin token.
const ADMIN_PREFIX: &str = "sbx_admin_";

/// The valid tokens.
#[derive(Default)]
pub(super) struct Tokens(Mutex<HashMap<String, Token>>);

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
        tokens.insert(token.clone(), Token { scopes: Some(scopes.to_vec()), expires_at });
        Ok(token)
    }

    /// Adds a given token, with every scope and without expiry.
    pub(super) fn add(&self, token: &str) {
        self.lock().insert(token.to_owned(), Token { scopes: None, expires_at: None });
    }

    /// Revokes a token. Returns whether it was known.
    pub(super) fn revoke(&self, token: &str) -> bool {
        self.lock().remove(token).is_some()
    }

    /// The grant of a valid token.
    pub(super) fn grant(&self, token: &str, now: SystemTime) -> Option<Grant> {
        let tokens = self.lock();
        tokens.get(token).filter(|token| token.is_valid(now)).map(|token| Grant(token.scopes.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Token>> {
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

/// The token of the control routes.
pub(super) struct AdminToken(pub(super) String);

impl AdminToken {
    /// The given token, or a random one.
    pub(super) fn new(given: Option<String>) -> Result<Self> {
        given.map_or_else(|| random(ADMIN_PREFIX), Ok).map(Self)
    }

    /// Whether it is this one. The comparison takes the same time wherever they differ.
    pub(super) fn is(&self, token: &str) -> bool {
        let differences = self.0.bytes().zip(token.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
        self.0.len() == token.len() && differences == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_unique_and_an_expired_one_is_dropped() {
        let tokens = Tokens::default();
        let issue = |now: u64| {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
            tokens.issue(&["item".to_owned()], now, Some(Duration::from_secs(60))).unwrap()
        };
        let (first, second) = (issue(0), issue(0));
        assert_ne!(first, second);
        assert!(first.starts_with("sbx_") && first.len() == 68);
        issue(60);
        assert_eq!(tokens.lock().len(), 1);
    }

    #[test]
    fn the_admin_token_is_compared_whole() {
        let admin = AdminToken::new(None).unwrap();
        assert!(admin.0.starts_with("sbx_admin_") && admin.is(&admin.0.clone()));
        assert!(!admin.is(&admin.0[1..]) && !admin.is("") && !admin.is(&format!("{}x", admin.0)));
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
