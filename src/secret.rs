//! A bearer token that cannot print itself and is wiped when dropped.

use std::fmt;

use zeroize::Zeroizing;

use crate::error::{Error, Kind, Result};

/// A token that was checked to be fit for a header.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a token; one that cannot be a header's value is refused without being quoted.
    ///
    /// # Errors
    /// `Config` when it is empty or holds anything but visible ASCII.
    pub fn try_new(text: String) -> Result<Self> {
        let text = Zeroizing::new(text);
        if text.is_empty() {
            return Err(Error::new(Kind::Config, "the token is empty"));
        }
        if let Some(place) = text.bytes().position(|byte| !byte.is_ascii_graphic()) {
            return Err(Error::new(
                Kind::Config,
                format!("the token holds a character that no header may carry, at position {place} of {}", text.len()),
            )
            .with_hint(
                "a line break at the end often comes from a file: strip it, or use dataaccess.token_file(path)",
            ));
        }
        Ok(Self(text))
    }

    /// The text itself, for the one place that writes the header.
    #[must_use]
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
    fn a_token_prints_nothing_of_itself() {
        let secret = Secret::try_new("tok-visible".to_owned()).expect("a fit token");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }

    #[test]
    fn a_token_that_would_break_the_header_is_refused_unquoted() {
        for bad in ["", "abc\n", "a b", "tok\r\nX-Evil: 1", "tök", "a\0b"] {
            let error = Secret::try_new(bad.to_owned()).expect_err("an unfit token");
            assert_eq!(error.kind(), Kind::Config);
            assert!(bad.is_empty() || !error.message().contains(bad.trim()));
        }
    }
}
