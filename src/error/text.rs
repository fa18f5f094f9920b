//! Makes untrusted text safe for one line of a message.

/// Whether a character breaks the line, controls the terminal, changes the direction of text, or is invisible.
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

/// Untrusted text as one line: escapes each character that is unsafe for a terminal.
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

/// The first `limit` characters of an untrusted text, as one line.
pub fn excerpt(text: &str, limit: usize) -> String {
    let line = sanitize(text);
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}{CUT}", line.split_at(end).0),
        None => line,
    }
}

/// Mark at the end of an excerpt.
pub(super) const CUT: &str = "…";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_cannot_break_the_line_or_control_the_terminal() {
        assert_eq!(sanitize("a\nb\u{1b}[31m"), "a\\nb\\u{1b}[31m");
        assert_eq!(sanitize("invoice\u{202e}gpj.exe\u{2028}\u{feff}"), "invoice\\u{202e}gpj.exe\\u{2028}\\u{feff}");
        assert_eq!(sanitize("Tết 夏の🎁 e\u{301}"), "Tết 夏の🎁 e\u{301}");
        assert_eq!(excerpt("ééééé", 3), "ééé…");
    }
}
