//! Values as compact JSON.

use std::fmt::Write as _;

/// Appends checked JSON without the white space between its tokens; all else stays as it was written.
pub(super) fn push_compact(out: &mut String, json: &str) {
    let (mut in_text, mut escaped, mut start) = (false, false, 0);
    for (place, byte) in json.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_text = !in_text,
            b' ' | b'\n' | b'\r' | b'\t' if !in_text => {
                out.push_str(json.get(start..place).unwrap_or_default());
                start = place + 1;
            }
            _ => {}
        }
    }
    out.push_str(json.get(start..).unwrap_or_default());
}

/// Appends a text in quotes, with no more escapes than JSON demands.
pub(super) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut start = 0;
    for (place, byte) in text.bytes().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(text.get(start..place).unwrap_or_default());
        start = place + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\x08' => out.push_str("\\b"),
            b'\x0c' => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            // Writing to a `String` does not fail.
            control => _ = write!(out, "\\u{control:04x}"),
        }
    }
    out.push_str(text.get(start..).unwrap_or_default());
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::{push_compact, push_quoted};

    /// What is appended to something.
    fn pushed(push: impl FnOnce(&mut String)) -> String {
        let mut out = "before".to_owned();
        push(&mut out);
        out.strip_prefix("before").expect("what was there stays").to_owned()
    }

    #[test]
    fn only_white_space_between_tokens_goes() {
        let spaced = "{ \"a b\" :\t[ 1.50 ,\r\n -0 , \"x \\\" y\\\\\" , { } ] , \"\\u00e9\" : null } ";
        let compact = pushed(|out| push_compact(out, spaced));
        assert_eq!(compact, r#"{"a b":[1.50,-0,"x \" y\\",{}],"\u00e9":null}"#);
    }

    proptest! {
        #[test]
        fn quotes_as_serde_json_does(text in "(\\PC|[\\x00-\\x20\"\\\\\u{7f}é😀])*") {
            prop_assert_eq!(pushed(|out| push_quoted(out, &text)), serde_json::to_string(&text).expect("a text"));
        }

        #[test]
        fn compacts_as_serde_json_does(texts in prop::collection::vec("[ \\\\\"\n{}:a]*", 0..4)) {
            let numbered = texts.iter().enumerate().map(|(number, text)| (number.to_string(), text.as_str()));
            let value = numbered.collect::<Value>();
            let pretty = serde_json::to_string_pretty(&value).expect("a value");
            prop_assert_eq!(pushed(|out| push_compact(out, &pretty)), value.to_string());
        }
    }
}
