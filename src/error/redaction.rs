//! Finds a secret in what a service sends back, and replaces it.
#![expect(clippy::indexing_slicing, reason = "a wrong range is a defect, which must not pass a secret on")]

use std::ops::Range;

use super::text::CUT;

/// Shorter secrets occur in plain words: they are redacted only with no letter or digit beside them.
const MIN_SECRET: usize = 8;
/// Shorter parts of base64 are found by chance.
const MIN_BASE64: usize = 6;
/// Replacement of a secret in errors.
const REDACTED: &str = "<redacted>";
/// Most bytes that one byte of a secret takes in JSON, in a URL or in HTML: `&#x002F;`.
pub const MAX_ESCAPED: usize = 8;
/// Most ways to read a text that are followed at the same time.
const MAX_READINGS: usize = 4;

/// Where a secret occurs, from the first on: as it is, in upper or lower case, escaped as in JSON (`\/`, `\u002f`), in
/// a URL (`%2F`) or in HTML (`&#x2F;`, `&amp;`), or in base64; a short one only with no letter or digit beside it.
pub fn occurrences(text: &[u8], secret: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut found: Vec<Range<usize>> = of_form(text, secret).collect();
    found.retain(|found| secret.len() >= MIN_SECRET || is_apart(text, found));
    for form in base64_forms(secret) {
        found.extend(of_form(text, &form));
    }
    merged(found).into_iter()
}

/// Where this form of a secret occurs.
fn of_form<'a>(text: &'a [u8], form: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let first = *form.first()?;
        let begins = |byte: &u8| byte.eq_ignore_ascii_case(&first) || matches!(byte, b'\\' | b'%' | b'&');
        loop {
            let start = from + text.get(from..)?.iter().position(begins)?;
            let length = common(text.get(start..)?, form).complete;
            from = start + length.unwrap_or(1);
            if length.is_some() {
                return Some(start..from);
            }
        }
    })
}

/// Ranges in order, those that overlap as one.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Replaces a secret wherever it occurs, also where an excerpt ends within it.
#[must_use]
pub fn redact(text: &str, secret: &str) -> String {
    if secret.is_empty() {
        return text.to_owned();
    }
    let mut redacted = String::with_capacity(text.len());
    let mut from = 0;
    for found in occurrences(text.as_bytes(), secret.as_bytes()) {
        redacted.push_str(&text[from..found.start]);
        redacted.push_str(REDACTED);
        from = found.end;
    }
    redacted.push_str(&text[from..]);
    for form in base64_forms(secret.as_bytes()) {
        redacted = redact_cut(redacted, &form, MIN_SECRET);
    }
    redact_cut(redacted, secret.as_bytes(), MIN_SECRET.min(secret.len().div_ceil(2)))
}

/// Replaces the first bytes of a form of a secret, `least` of them or more, at the end of an excerpt.
fn redact_cut(mut text: String, form: &[u8], least: usize) -> String {
    for (cut, _) in text.clone().rmatch_indices(CUT) {
        let before = &text.as_bytes()[..cut];
        let is_cut = |start: &usize| {
            let matched = common(&before[*start..], form).matched_to_the_end;
            let is_apart = form.len() >= MIN_SECRET || is_apart(before, &(*start..before.len()));
            matched.is_some_and(|matched| matched >= least) && is_apart
        };
        let most = (form.len() * MAX_ESCAPED).min(before.len());
        if let Some(start) = (before.len() - most..before.len()).find(is_cut) {
            text.replace_range(start..cut + CUT.len_utf8(), REDACTED);
        }
    }
    text
}

/// Whether no letter or digit is beside a part of a text.
fn is_apart(text: &[u8], part: &Range<usize>) -> bool {
    let before = &text[..part.start];
    let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    let is_escape = match before {
        [.., b'%', first, second] if is_hex(&[*first, *second]) => true,
        [.., b'\\', b'u', a, b, c, d] if is_hex(&[*a, *b, *c, *d]) => true,
        [.., b'\\', b'b' | b'f' | b'n' | b'r' | b't'] => true,
        _ => false,
    };
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    (is_escape || !is_word(before.last())) && !is_word(text.get(part.end))
}

/// The base64 of a secret behind any text, in both alphabets: without the first and last characters, which depend on
/// what is around it.
fn base64_forms(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms: Vec<Vec<u8>> = Vec::new();
    for before in 0..3 {
        let text = [&vec![0; before][..], secret].concat();
        // Characters of six bits that have bits of the secret alone.
        let characters = (before * 8).div_ceil(6)..text.len() * 8 / 6;
        if characters.len() < MIN_BASE64 {
            continue;
        }
        for [plus, slash] in [*b"+/", *b"-_"] {
            let form = characters.clone().map(|index| match sextet(&text, index * 6) {
                value @ 0..=25 => b'A' + value,
                value @ 26..=51 => b'a' + value - 26,
                value @ 52..=61 => b'0' + value - 52,
                62 => plus,
                _ => slash,
            });
            let form = form.collect();
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// Six bits from this bit on.
fn sextet(bytes: &[u8], bit: usize) -> u8 {
    // The six bits may end with the last byte.
    let pair = u16::from_be_bytes([bytes[bit / 8], bytes.get(bit / 8 + 1).copied().unwrap_or(0)]);
    let [_, low] = (pair >> (10 - bit % 8)).to_be_bytes();
    low & 0x3F
}

/// How much of a secret a text begins with.
struct Common {
    /// The bytes of the text, if it begins with all of the secret.
    complete: Option<usize>,
    /// The bytes of the secret, if the text ends within it, or within one of its escapes.
    matched_to_the_end: Option<usize>,
}

/// Compares a text with a secret, with and without escapes. Where both readings fit, both are followed.
fn common(text: &[u8], secret: &[u8]) -> Common {
    let mut ends = Ends { all: [0; MAX_READINGS], count: 1 };
    let mut matched_to_the_end = None;
    for (matched, expected) in secret.iter().enumerate() {
        let mut next = Ends { all: [0; MAX_READINGS], count: 0 };
        for end in ends.iter() {
            let rest = &text[end..];
            if rest.is_empty() || matches!(rest, [b'\\' | b'%' | b'&', ..]) && rest.len() < MAX_ESCAPED {
                matched_to_the_end = Some(matched);
            }
            let plain = rest.first().map(|plain| (*plain, 1));
            for (found, length) in [escaped(rest), plain].into_iter().flatten() {
                if found.eq_ignore_ascii_case(expected) {
                    next.insert(end + length);
                }
            }
        }
        if next.count == 0 {
            return Common { complete: None, matched_to_the_end };
        }
        ends = next;
    }
    Common { complete: ends.iter().max(), matched_to_the_end }
}

/// Where the readings of a text have come to.
struct Ends {
    all: [usize; MAX_READINGS],
    count: usize,
}

impl Ends {
    fn iter(&self) -> impl Iterator<Item = usize> {
        self.all.iter().take(self.count).copied()
    }

    fn insert(&mut self, end: usize) {
        if self.iter().all(|known| known != end)
            && let Some(free) = self.all.get_mut(self.count)
        {
            *free = end;
            self.count += 1;
        }
    }
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
            prop_assert_eq!(redact(&text, &secret), format!("{before}{REDACTED}{after}"));
        }
    }
}
