//! The value of a switch as given by the caller, and its conversions.

use std::fmt;
use std::time::Duration;

use jiff::tz::TimeZone;

use super::choices::Choice;

/// A value for a switch.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// `None`.
    None,
    /// A bool, for a switch that is on or off.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A float.
    Number(f64),
    /// A string.
    Text(String),
    /// The representation of anything else, which is never valid.
    Other(String),
}

impl fmt::Display for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("none"),
            Self::Boolean(flag) => write!(formatter, "{flag}"),
            Self::Integer(number) => write!(formatter, "{number}"),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => write!(formatter, "`{text}`"),
            Self::Other(shown) => formatter.write_str(shown),
        }
    }
}

impl Setting {
    pub(super) fn choice<C: Choice>(&self) -> Option<C> {
        let given = match self {
            Self::Boolean(true) => "on",
            Self::Boolean(false) => "off",
            Self::Text(word) => word,
            _ => return None,
        };
        C::WORDS.iter().find(|(word, _)| *word == given).map(|(_, choice)| *choice)
    }

    /// A string that is not empty.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text.clone()),
            _ => None,
        }
    }

    /// The name of a time zone.
    pub(super) fn zone(&self) -> Option<String> {
        self.text().filter(|name| TimeZone::get(name).is_ok())
    }

    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// An integer from 1 on, or none for no limit.
    #[expect(clippy::option_option, reason = "no limit is a value; the outer none is an invalid one")]
    pub(super) fn count(&self) -> Option<Option<u64>> {
        match self {
            Self::None => Some(None),
            Self::Integer(number) => u64::try_from(*number).ok().filter(|count| *count > 0).map(Some),
            _ => None,
        }
    }

    /// A number of seconds from 0 on.
    pub(super) fn seconds(&self) -> Option<Duration> {
        match self {
            Self::Integer(seconds) => u64::try_from(*seconds).ok().map(Duration::from_secs),
            Self::Number(seconds) => Duration::try_from_secs_f64(*seconds).ok(),
            _ => None,
        }
    }
}
