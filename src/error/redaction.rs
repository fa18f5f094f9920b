//! Finds a secret in what a service sends back, and replaces it.

use std::ops::Range;

use super::text::CUT;

/// Shorter secrets are not redacted in errors: they occur in plain words.
const MIN_SECRET: usize = 8;
/// Replacement of a secret in errors.
const REDACTED: &str = "<redacted>";
/// Most bytes that JSON takes for one of a secret: `\u002F`.
pub const MAX_ESCAPED: usize = 6;

/// Where a secret occurs, as it is or as JSON may write it: `/` as `\/`, and any character by its number.
pub fn occurrences<'a>(text: &'a [u8], secret: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let first = *secret.first()?;
        loop {
            let start = from + memchr::memchr2(first, b'\\', text.get(from..)?)?;
            let rest = text.get(start..)?;
            let length = if rest.starts_with(secret) { Some(secret.len()) } else { common(rest, secret).complete() };
            from = start + length.unwrap_or(1);
            if length.is_some() {
                return Some(start..from);
            }
        }
    })
}

/// Replaces a secret wherever it occurs, also where an excerpt ends within it.
#[must_use]
pub fn redact(text: &str, secret: &str) -> String {
    if secret.len() < MIN_SECRET {
        return text.to_owned();
    }
    let mut redacted = String::with_capacity(text.len());
    let mut from = 0;
    for found in occurrences(text.as_bytes(), secret.as_bytes()) {
        redacted.push_str(text.get(from..found.start).unwrap_or_default());
        redacted.push_str(REDACTED);
        from = found.end;
    }
    redacted.push_str(text.get(from..).unwrap_or_default());
    for (cut, _) in redacted.clone().rmatch_indices(CUT) {
        let Some(before) = redacted.get(..cut).map(str::as_bytes) else { continue };
        let is_cut = |start: &usize| {
            let rest = before.get(*start..).unwrap_or_default();
            let common = common(rest, secret.as_bytes());
            // The excerpt may end within an escape.
            let end = rest.get(common.bytes..).unwrap_or_default();
            common.matched >= MIN_SECRET && (end.is_empty() || end.starts_with(b"\\") && end.len() < MAX_ESCAPED)
        };
        let most = (secret.len() * MAX_ESCAPED).min(before.len());
        if let Some(start) = (before.len() - most..before.len()).find(is_cut) {
            redacted.replace_range(start..cut + CUT.len_utf8(), REDACTED);
        }
    }
    redacted
}

/// How much of a secret a text begins with.
struct Common {
    /// Bytes of the secret.
    matched: usize,
    /// Bytes of the text.
    bytes: usize,
    is_complete: bool,
}

impl Common {
    /// The bytes of the text, if it begins with all of the secret.
    fn complete(&self) -> Option<usize> {
        self.is_complete.then_some(self.bytes)
    }
}

/// Compares a text with a secret, reading the escapes of JSON.
fn common(text: &[u8], secret: &[u8]) -> Common {
    let mut bytes = 0;
    for (matched, expected) in secret.iter().enumerate() {
        match text.get(bytes..).and_then(character) {
            Some((found, length)) if found == *expected => bytes += length,
            _ => return Common { matched, bytes, is_complete: false },
        }
    }
    Common { matched: secret.len(), bytes, is_complete: true }
}

/// The ASCII character that a text of JSON begins with, and its length.
fn character(text: &[u8]) -> Option<(u8, usize)> {
    match text {
        [b'\\', b'u', digits @ ..] => {
            let digits = str::from_utf8(digits.get(..4)?).ok()?;
            Some((u8::try_from(u32::from_str_radix(digits, 16).ok()?).ok()?, MAX_ESCAPED))
        }
        [b'\\', escaped, ..] => Some((*escaped, 2)),
        [plain, ..] => Some((*plain, 1)),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::excerpt;

    #[test]
    fn a_secret_is_redacted_whole_or_cut() {
        for secret in ["tok-0123456789", "tok/0123+56789=="] {
            assert_eq!(redact(&format!("Bearer {secret}, {secret}"), secret), "Bearer <redacted>, <redacted>");
            for end in MIN_SECRET..secret.len() {
                let cut = excerpt(&format!("you sent {secret}"), "you sent ".len() + end);
                assert_eq!(redact(&cut, secret), "you sent <redacted>", "{cut}");
            }
        }
        assert_eq!(redact("the token is no more", "tok"), "the token is no more");
        assert_eq!(redact("a text … of two … excerpts", "tok-0123456789"), "a text … of two … excerpts");
    }

    #[test]
    fn a_secret_that_is_escaped_and_cut_is_redacted() {
        for end in ["", r"\", r"\u00", r"\u002f"] {
            let cut = format!(r#"{{"token": "ab\/cd\/ef\/gh{end}…"#);
            assert_eq!(redact(&cut, "ab/cd/ef/gh/ij"), r#"{"token": "<redacted>"#, "{end}");
        }
    }

    /// Ways in which JSON may write a character.
    fn written(character: char) -> BoxedStrategy<String> {
        let number = u32::from(character);
        let mut ways = vec![format!("\\u{number:04x}"), format!("\\u{number:04X}")];
        match character {
            '/' => ways.extend([character.to_string(), format!("\\{character}")]),
            '"' | '\\' => ways.push(format!("\\{character}")),
            _ => ways.push(character.to_string()),
        }
        prop::sample::select(ways).boxed()
    }

    proptest! {
        #[test]
        fn a_secret_is_redacted_however_json_writes_it(
            (secret, written) in "[!-~]{8,20}".prop_flat_map(|secret| {
                let ways: Vec<_> = secret.chars().map(written).collect();
                (Just(secret), ways)
            }),
            before in "[ a-z]{0,9}",
            after in "[ a-z]{0,9}",
        ) {
            let text = format!("{before}{}{after}", written.concat());
            // What is before may be the beginning of the secret too.
            prop_assume!(!secret.starts_with(|first: char| before.contains(first)));
            prop_assert_eq!(redact(&text, &secret), format!("{before}{REDACTED}{after}"));
        }
    }
}
