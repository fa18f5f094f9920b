//! A bearer token that cannot print itself.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Kind, Result};

/// The scheme of the header, which is not part of the token.
const BEARER: &str = "Bearer ";

/// A token that a header can hold.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Checks a token; the error does not quote it.
    ///
    /// # Errors
    /// `Config`, when it is empty or contains anything but visible ASCII.
    pub fn try_new(text: String) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::new(Kind::Config, "token is empty"));
        }
        if text.get(..BEARER.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(BEARER)) {
            return Err(Error::new(Kind::Config, "token begins with the word Bearer")
                .with_hint("give the token alone: the client adds the word Bearer to each request"));
        }
        if let Some(position) = text.bytes().position(|byte| !byte.is_ascii_graphic()) {
            return Err(Error::new(
                Kind::Config,
                format!("token has a character that a header cannot hold, at position {position} of {}", text.len()),
            )
            .with_hint(
                "a line break at the end often comes from a file: strip it, or use dataaccess.token_file(path)",
            ));
        }
        Ok(Self(text.into()))
    }

    /// The token itself, for the header.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_does_not_print_itself() {
        let secret = Secret::try_new("tok-visible".to_owned()).expect("a valid token");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }

    #[test]
    fn the_word_bearer_is_not_part_of_a_token() {
        for given in ["Bearer tok-visible", "bearer  tok-visible"] {
            let error = Secret::try_new(given.to_owned()).expect_err("an invalid token");
            assert!(error.hint().is_some_and(|hint| hint.contains("Bearer")), "{error:?}");
            assert!(!format!("{error:?}").contains("visible"));
        }
        assert!(Secret::try_new("Bearer".to_owned()).is_ok());
    }

    #[test]
    fn a_token_that_a_header_cannot_hold_is_refused_unquoted() {
        for bad in ["", "abc\n", "a b", "tok\r\nX-Evil: 1", "tök", "a\0b"] {
            let error = Secret::try_new(bad.to_owned()).expect_err("an invalid token");
            assert_eq!(error.kind(), Kind::Config);
            assert!(bad.is_empty() || !error.message().contains(bad.trim()));
        }
    }
}
