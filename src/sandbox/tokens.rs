//! Access tokens with scopes and expiry (section 5), and the admin token.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use crate::error::{Error, Kind, Result};

#[derive(Clone, Default)]
pub(super) struct Tokens(HashMap<String, Grant>);

/// What a token allows, and until when.
#[derive(Clone)]
pub(super) struct Grant {
    /// None is every scope, also one that a switch names later.
    scopes: Option<Vec<String>>,
    expires_at: Option<SystemTime>,
}

impl Grant {
    pub(super) fn allows(&self, scope: &str) -> bool {
        self.scopes.as_ref().is_none_or(|granted| granted.iter().any(|granted| granted == scope))
    }

    fn is_valid(&self, now: SystemTime) -> bool {
        self.expires_at.is_none_or(|expiry| now < expiry)
    }
}

/// Scheme and token of an `Authorization` header; none for another scheme than Bearer.
pub(super) fn bearer_token(value: &str) -> Option<(&str, &str)> {
    value.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"))
}

impl Tokens {
    pub(super) fn issue(
        &mut self,
        scopes: Vec<String>,
        now: SystemTime,
        expires_in: Option<Duration>,
    ) -> Result<String> {
        let token = random("sbx_")?;
        // A lifetime beyond the range of the clock is no expiry.
        let expires_at = expires_in.and_then(|lifetime| now.checked_add(lifetime));
        self.0.retain(|_, grant| grant.is_valid(now));
        self.0.insert(token.clone(), Grant { scopes: Some(scopes), expires_at });
        Ok(token)
    }

    /// Adds a given token, with every scope and without expiry.
    pub(super) fn add(&mut self, token: &str) {
        self.0.insert(token.to_owned(), Grant { scopes: None, expires_at: None });
    }

    /// Revokes a token. Returns whether it was known.
    pub(super) fn revoke(&mut self, token: &str) -> bool {
        self.0.remove(token).is_some()
    }

    pub(super) fn grant(&self, token: &str, now: SystemTime) -> Option<Grant> {
        self.0.get(token).filter(|grant| grant.is_valid(now)).cloned()
    }
}

/// A token of 256 random bits, with a prefix by which one that is found in a file is recognized.
pub(super) fn random(prefix: &str) -> Result<String> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|cause| {
        let problem = format!("cannot generate a token: the random number generator of the system failed: {cause}");
        Error::new(Kind::Sandbox, problem)
    })?;
    Ok(format!("{prefix}{}", random.map(|byte| format!("{byte:02x}")).concat()))
}

/// Whether two tokens are the same. It takes the same time wherever they differ.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_unique_and_an_expired_one_is_dropped() {
        let mut tokens = Tokens::default();
        let mut issue = |now: u64| {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
            tokens.issue(vec!["item".to_owned()], now, Some(Duration::from_secs(60))).unwrap()
        };
        let (first, second) = (issue(0), issue(0));
        assert_ne!(first, second);
        assert!(first.starts_with("sbx_") && first.len() == 68);
        issue(60);
        assert_eq!(tokens.0.len(), 1);
    }

    #[test]
    fn the_admin_token_is_compared_whole() {
        let admin = random("sbx_admin_").unwrap();
        assert!(admin.starts_with("sbx_admin_") && is_same(&admin, &admin.clone()));
        for other in ["", &admin[1..], &admin[..admin.len() - 1], &format!("{admin}x"), &admin.to_uppercase()] {
            assert!(!is_same(&admin, other), "{other}");
        }
    }

    #[test]
    fn a_token_ends_exactly_at_its_expiry() {
        let mut tokens = Tokens::default();
        let token = tokens.issue(Vec::new(), SystemTime::UNIX_EPOCH, Some(Duration::from_secs(60))).unwrap();
        let at = |seconds: f64| tokens.grant(&token, SystemTime::UNIX_EPOCH + Duration::from_secs_f64(seconds));
        assert!(at(59.999).is_some());
        assert!(at(60.0).is_none());
    }
}
