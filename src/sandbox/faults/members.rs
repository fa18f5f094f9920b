//! The members of a JSON object, read one by one: an error names the member.

use std::time::Duration;

use serde_json::{Map, Value};

use super::fault::invalid;
use crate::contract::envelope::CODE_SUCCESS;
use crate::error::{Error, Kind, Result, excerpt};

/// The members of an object that are not read yet.
#[derive(Clone)]
pub(super) struct Members {
    left: Map<String, Value>,
    /// What a message writes before a member.
    prefix: &'static str,
    /// The required members that were absent.
    missing: Vec<&'static str>,
}

impl Members {
    /// The members that are not null.
    pub(super) fn new(members: Map<String, Value>, prefix: &'static str) -> Self {
        let left = members.into_iter().filter(|(_, value)| !value.is_null()).collect();
        Self { left, prefix, missing: Vec::new() }
    }

    /// Rejects members with other names.
    pub(super) fn check_names(&self, about: &str, options: &[&str], common: &[&str]) -> Result<()> {
        let known: Vec<&str> = options.iter().chain(common).copied().collect();
        let unknown = |name: &&String| !known.contains(&name.as_str());
        let unknown: Vec<String> = self.left.keys().filter(unknown).map(|name| excerpt(name, 60)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        Err(Error::new(Kind::Config, format!("{about} takes {}, not {}", known.join(", "), unknown.join(", "))))
    }

    /// The name of a member in a message.
    pub(super) fn name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.left.shift_remove(name)
    }

    /// A member that must be present; its absence is remembered for [`missing`](Self::missing).
    pub(super) fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Self, &str) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let value = read(self, name)?;
        if value.is_none() {
            self.missing.push(name);
        }
        Ok(value)
    }

    /// The error for the required members that were absent.
    pub(super) fn missing(&self, about: &str) -> Error {
        Error::new(Kind::Config, format!("{about} needs {}", self.missing.join(", ")))
    }

    /// One of a few words, which is required.
    pub(super) fn word(&mut self, name: &str, words: &[&'static str]) -> Result<&'static str> {
        let value = self.take(name).unwrap_or_default();
        let found = words.iter().find(|word| value.as_str() == Some(word));
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        found.copied().ok_or_else(|| invalid(&self.name(name), &format!("one of {}", quoted.join(", ")), &value))
    }

    /// A value that `read` accepts.
    fn read<T>(&mut self, name: &str, expected: &str, read: impl FnOnce(&Value) -> Option<T>) -> Result<Option<T>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        read(&value).map(Some).ok_or_else(|| invalid(&self.name(name), expected, &value))
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>> {
        self.read(name, "a string", |value| value.as_str().map(str::to_owned))
    }

    pub(super) fn integer(&mut self, name: &str) -> Result<Option<i64>> {
        self.read(name, "an integer", Value::as_i64)
    }

    /// The code of an envelope that is no success.
    pub(super) fn failure_code(&mut self, name: &str) -> Result<Option<i64>> {
        let expected = "an integer other than 200, which is a success";
        self.read(name, expected, |value| value.as_i64().filter(|code| *code != CODE_SUCCESS))
    }

    pub(super) fn unsigned(&mut self, name: &str) -> Result<Option<u64>> {
        self.read(name, "an integer from 0 on", Value::as_u64)
    }

    pub(super) fn positive(&mut self, name: &str) -> Result<Option<u64>> {
        self.read(name, "an integer from 1 on", |value| value.as_u64().filter(|number| *number > 0))
    }

    pub(super) fn size(&mut self, name: &str, least: usize) -> Result<Option<usize>> {
        let read = |value: &Value| usize::try_from(value.as_u64()?).ok().filter(|size| *size >= least);
        self.read(name, &format!("an integer from {least} on"), read)
    }

    pub(super) fn status(&mut self, name: &str) -> Result<Option<u16>> {
        self.read(name, "an integer from 200 to 599", |value| value.as_u64()?.try_into().ok())
    }

    pub(super) fn number(&mut self, name: &str, expected: &str) -> Result<Option<f64>> {
        self.read(name, expected, Value::as_f64)
    }

    /// Seconds. What no duration can hold never ends.
    pub(super) fn seconds(&mut self, name: &str) -> Result<Option<Duration>> {
        let read = |value: &Value| {
            let seconds = value.as_f64().filter(|seconds| *seconds >= 0.0)?;
            Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
        };
        self.read(name, "a number of seconds of at least 0", read)
    }

    pub(super) fn whole_seconds(&mut self, name: &str) -> Result<Option<u64>> {
        self.read(name, "in whole seconds", |value| {
            let whole = |seconds: f64| Duration::try_from_secs_f64(seconds).ok().filter(|_| seconds.fract() == 0.0);
            value.as_u64().or_else(|| value.as_f64().and_then(whole).map(|time| time.as_secs()))
        })
    }

    pub(super) fn object(&mut self, name: &str) -> Result<Option<Map<String, Value>>> {
        self.read(name, "an object with members", |value| value.as_object().cloned())
    }

    /// Names with strings.
    pub(super) fn headers(&mut self, name: &str) -> Result<Vec<(String, String)>> {
        let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        let read = |value: &Value| value.as_object()?.iter().map(text).collect();
        Ok(self.read(name, "a map of names and strings", read)?.unwrap_or_default())
    }
}
