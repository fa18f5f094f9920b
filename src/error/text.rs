//! Texts from outside made fit for one line of a message.

/// Whether a character breaks the line, paints the terminal, turns the direction of the text, or hides in it.
#[must_use]
pub fn is_unsafe_for_terminal(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Text from outside as one harmless line: what could deceive its reader is escaped.
#[must_use]
pub fn sanitize(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unsafe_for_terminal(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// The first `limit` characters of a text from outside, as one line.
#[must_use]
pub fn excerpt(text: &str, limit: usize) -> String {
    let line = sanitize(text);
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}{CUT}", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// A shorter text is not taken for a secret: it would be found in plain words.
const LEAST_SECRET: usize = 8;

/// A text without a secret, wherever it stands, also where an excerpt ends within it.
#[must_use]
pub fn redact(text: &str, secret: &str) -> String {
    if secret.len() < LEAST_SECRET {
        return text.to_owned();
    }
    let mut told = text.replace(secret, STRUCK);
    for end in (LEAST_SECRET..secret.len()).rev() {
        if let Some(beginning) = secret.get(..end) {
            told = told.replace(&format!("{beginning}{CUT}"), STRUCK);
        }
    }
    told
}

/// What stands in place of a secret.
const STRUCK: &str = "<redacted>";
/// The end of an excerpt.
const CUT: char = '…';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_from_outside_cannot_break_the_line_or_paint_the_terminal() {
        assert_eq!(sanitize("a\nb\u{1b}[31m"), "a\\nb\\u{1b}[31m");
        assert_eq!(sanitize("invoice\u{202e}gpj.exe\u{2028}\u{feff}"), "invoice\\u{202e}gpj.exe\\u{2028}\\u{feff}");
        assert_eq!(sanitize("Tết 夏の🎁 e\u{301}"), "Tết 夏の🎁 e\u{301}");
        assert_eq!(excerpt("ééééé", 3), "ééé…");
    }

    #[test]
    fn a_secret_is_struck_out_whole_or_cut() {
        let secret = "tok-0123456789";
        assert_eq!(redact("Bearer tok-0123456789, tok-0123456789", secret), "Bearer <redacted>, <redacted>");
        for end in LEAST_SECRET..secret.len() {
            let cut = excerpt(&format!("you sent {secret}"), "you sent ".len() + end);
            assert_eq!(redact(&cut, secret), "you sent <redacted>", "{cut}");
        }
        assert_eq!(redact("the token is no more", "tok"), "the token is no more");
    }
}
