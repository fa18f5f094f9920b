//! Hides a secret that a service sends back.
#![expect(clippy::indexing_slicing, reason = "a wrong range is a defect, which must not pass a secret on")]

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem;

use super::text::CUT;

/// Characters of a secret that begin a run to be hidden. Shorter secrets occur in plain words: they are hidden whole,
/// and only with no letter or digit beside them.
const START: usize = 8;
/// Shorter parts of base64 are found by chance.
const LEAST_BASE64: usize = 6;
/// Replacement of a secret in errors.
const REDACTED: &str = "<redacted>";
/// Most bytes that one byte of a secret takes in JSON, in a URL or in HTML: `&#x002F;`.
const MAX_ESCAPED: usize = 8;

/// Hides a secret wherever it occurs.
pub fn redact(text: &str, secret: &str) -> String {
    String::from_utf8_lossy(&hide(text.as_bytes(), secret.as_bytes(), REDACTED)).into_owned()
}

/// Replaces each of the [`occurrences`] of a secret.
pub fn hide(text: &[u8], secret: &[u8], shown: &str) -> Vec<u8> {
    let (mut hidden, mut from) = (Vec::with_capacity(text.len()), 0);
    for found in occurrences(text, secret) {
        hidden.extend_from_slice(&text[from..found.start]);
        hidden.extend_from_slice(shown.as_bytes());
        from = found.end;
    }
    hidden.extend_from_slice(&text[from..]);
    hidden
}

/// Where a secret occurs, each time from its first characters to the end of the run of such characters: as it is, in
/// upper or lower case, escaped as in JSON (`\/`, `\u002f`), in a URL (`%2F`) or in HTML (`&#x2F;`, `&amp;`), in base64,
/// or cut off at the end of an excerpt.
fn occurrences(text: &[u8], secret: &[u8]) -> Vec<Range<usize>> {
    let in_base64 = base64_forms(secret);
    let firsts: Vec<u8> =
        in_base64.iter().map(Vec::as_slice).chain([secret]).filter_map(|form| form.first().copied()).collect();
    let begins =
        |byte: &u8| matches!(byte, b'\\' | b'%' | b'&') || firsts.iter().any(|first| first.eq_ignore_ascii_case(byte));
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(skipped) = text[at..].iter().position(begins) {
        at += skipped;
        let plain = || end_of(text, at, secret).filter(|end| secret.len() >= START || is_apart(text, at, *end));
        match plain().or_else(|| in_base64.iter().find_map(|form| end_of(text, at, form))) {
            Some(end) => {
                found.push(at..end);
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// Where the run ends that begins here with this form of a secret, if it does.
fn end_of(text: &[u8], at: usize, form: &[u8]) -> Option<usize> {
    let start = form.get(..START).unwrap_or(form);
    let least = START.min(form.len().div_ceil(2));
    let mut end = at + spelled(&text[at..], start, least).filter(|length| *length > 0)?;
    if form.len() >= START {
        let is_of_run = |byte: u8| byte.is_ascii_alphanumeric() || form.contains(&byte);
        while let Some((_, length)) = readings(&text[end..]).find(|(byte, _)| is_of_run(*byte)) {
            end += length;
        }
    }
    // An excerpt may end within an escape.
    let rest = &text[end..];
    match memmem::find(rest, CUT.as_bytes()) {
        Some(0) => Some(end + CUT.len()),
        Some(cut @ ..MAX_ESCAPED) if matches!(rest[0], b'\\' | b'%' | b'&') => Some(end + cut + CUT.len()),
        _ => Some(end),
    }
}

/// The length of the text that spells this start of a secret, or `least` of its characters at the end of an excerpt.
fn spelled(text: &[u8], start: &[u8], least: usize) -> Option<usize> {
    let Some((first, rest)) = start.split_first() else { return Some(0) };
    if least == 0 && text.starts_with(CUT.as_bytes()) {
        return Some(0);
    }
    let is_first = |(byte, _): &(u8, usize)| byte.eq_ignore_ascii_case(first);
    let spell = |(_, length): (u8, usize)| Some(length + spelled(&text[length..], rest, least.saturating_sub(1))?);
    readings(text).filter(is_first).find_map(spell)
}

/// What a text begins with and its length: the character of an escape, and the first byte.
fn readings(text: &[u8]) -> impl Iterator<Item = (u8, usize)> {
    [escaped(text), text.first().map(|plain| (*plain, 1))].into_iter().flatten()
}

/// The ASCII character whose escape a text begins with, and the length of the escape.
fn escaped(text: &[u8]) -> Option<(u8, usize)> {
    let number =
        |digits: &[u8], radix| u8::try_from(u32::from_str_radix(str::from_utf8(digits).ok()?, radix).ok()?).ok();
    match text {
        [b'\\', b'u', digits @ ..] => Some((number(digits.get(..4)?, 16)?, 6)),
        [b'\\', escaped, ..] => Some((*escaped, 2)),
        [b'%', digits @ ..] => Some((number(digits.get(..2)?, 16)?, 3)),
        [b'&', rest @ ..] => {
            let name = rest.get(..rest.iter().take(MAX_ESCAPED - 1).position(|byte| *byte == b';')?)?;
            let character = match name {
                b"amp" => b'&',
                b"lt" => b'<',
                b"gt" => b'>',
                b"quot" => b'"',
                b"apos" => b'\'',
                [b'#', b'x' | b'X', digits @ ..] => number(digits, 16)?,
                [b'#', digits @ ..] => number(digits, 10)?,
                _ => return None,
            };
            Some((character, name.len() + 2))
        }
        _ => None,
    }
}

/// Whether no letter or digit is beside a part of a text, other than that of an escape before it.
fn is_apart(text: &[u8], start: usize, end: usize) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let is_escape = |length: &usize| escaped(&text[start - length..start]).is_some_and(|(_, found)| found == *length);
    let is_after_escape = (1..=MAX_ESCAPED.min(start)).any(|length| is_escape(&length));
    (is_after_escape || !is_word(text[..start].last())) && !is_word(text.get(end))
}

/// The base64 of a secret behind any text, in both alphabets: without the first and last characters, which depend on
/// what is around it.
fn base64_forms(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let text = [&vec![0; before][..], secret].concat();
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&text).into_bytes();
            // Characters of six bits that have bits of the secret alone.
            let form = encoded[(before * 8).div_ceil(6)..text.len() * 8 / 6].to_vec();
            if form.len() >= LEAST_BASE64 && !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
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
            for end in START..secret.len() {
                let cut = excerpt(&format!("you sent {secret}"), "you sent ".len() + end);
                assert_eq!(redact(&cut, secret), "you sent <redacted>", "{cut}");
            }
        }
        assert_eq!(redact("the token is no more", "tok"), "the token is no more");
        assert_eq!(redact("you sent tok", "tok"), "you sent <redacted>");
        assert_eq!(
            redact(r#"{"token":"abc1234"}, %22abc1234%22"#, "abc1234"),
            r#"{"token":"<redacted>"}, %22<redacted>%22"#
        );
        assert_eq!(redact(r"you sent\nabc1234 or abc12…", "abc1234"), r"you sent\n<redacted> or <redacted>");
        assert_eq!(redact("a text … of two … excerpts", "tok-0123456789"), "a text … of two … excerpts");
    }

    #[test]
    fn a_secret_that_is_escaped_and_cut_is_redacted() {
        for end in ["", r"\", r"\u00", r"\u002f"] {
            let cut = format!(r#"{{"token": "ab\/cd\/ef\/gh{end}…"#);
            assert_eq!(redact(&cut, "ab/cd/ef/gh/ij"), r#"{"token": "<redacted>"#, "{end}");
        }
    }

    #[test]
    fn a_secret_is_redacted_in_a_url_in_html_and_in_base64() {
        let secret = "ab/cd+ef==gh&ij%41KLmn";
        for written in [
            "ab%2Fcd%2Bef%3D%3Dgh%26ij%2541KLmn",
            "ab%2fcd%2bef%3d%3dgh%26ij%2541KLmn",
            "ab&#x2F;cd&#43;ef==gh&amp;ij%41KLmn",
            "AB/CD+EF==GH&IJ%41KLMN",
            r"ab\/cd+ef==gh\u0026ij%41KLmn",
        ] {
            assert_eq!(redact(&format!("you sent ({written})"), secret), "you sent (<redacted>)");
            let cut = excerpt(&format!("you sent {written}"), 9 + 23);
            assert!(!redact(&cut, secret).contains("cd"), "{cut}");
        }
        // `printf user:… | base64`, with one character more before it each time.
        for encoded in [
            "dXNlcjphYi9jZCtlZj09Z2gmaWolNDFLTG1u",
            "dXNlcnM6YWIvY2QrZWY9PWdoJmlqJTQxS0xtbg==",
            "dXNlcnNzOmFiL2NkK2VmPT1naCZpaiU0MUtMbW4=",
        ] {
            let redacted = redact(&format!("Basic {encoded}."), secret);
            assert!(redacted.contains("<redacted>") && redacted.len() < 32, "{redacted}");
        }
        assert!(redact("YWJjMTIzNA==", "abc1234").starts_with("<redacted>"));
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
            prop_assume!(!secret.starts_with(|first: char| before.contains(first.to_ascii_lowercase())));
            // Letters that follow at once are taken for characters of a token.
            let after = after.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
            prop_assert_eq!(redact(&text, &secret), format!("{before}{REDACTED}{after}"));
        }
    }
}
