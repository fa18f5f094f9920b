//! Values as compact JSON, written straight into the text of a column.

use std::fmt::Write;

use arrow::array::StringBuilder;

/// Checked JSON without the white space between its tokens; all else stays as it was written.
pub(super) fn append_compact(cells: &mut StringBuilder, json: &str) {
    let (mut in_text, mut escaped, mut start) = (false, false, 0);
    for (place, byte) in json.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_text = !in_text,
            b' ' | b'\n' | b'\r' | b'\t' if !in_text => {
                write(cells, json.get(start..place).unwrap_or_default());
                start = place + 1;
            }
            _ => {}
        }
    }
    cells.append_value(json.get(start..).unwrap_or_default());
}

/// A text in quotes, with no more escapes than JSON demands.
pub(super) fn append_quoted(cells: &mut StringBuilder, text: &str) {
    write(cells, "\"");
    let mut start = 0;
    for (place, byte) in text.bytes().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        write(cells, text.get(start..place).unwrap_or_default());
        start = place + 1;
        match byte {
            b'"' => write(cells, "\\\""),
            b'\\' => write(cells, "\\\\"),
            b'\x08' => write(cells, "\\b"),
            b'\x0c' => write(cells, "\\f"),
            b'\n' => write(cells, "\\n"),
            b'\r' => write(cells, "\\r"),
            b'\t' => write(cells, "\\t"),
            control => write(cells, &format!("\\u{control:04x}")),
        }
    }
    write(cells, text.get(start..).unwrap_or_default());
    cells.append_value("\"");
}

/// A piece of the cell that is ended by the next value appended.
fn write(cells: &mut StringBuilder, piece: &str) {
    let written = cells.write_str(piece);
    debug_assert!(written.is_ok(), "text is only appended to memory");
}

#[cfg(test)]
mod tests {
    use arrow::array::Array as _;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::{StringBuilder, append_compact, append_quoted};

    /// The cell that follows another.
    fn cell(append: impl FnOnce(&mut StringBuilder)) -> String {
        let mut cells = StringBuilder::new();
        cells.append_value("before");
        append(&mut cells);
        let array = cells.finish();
        assert_eq!((array.len(), array.value(0)), (2, "before"));
        array.value(1).to_owned()
    }

    #[test]
    fn only_white_space_between_tokens_goes() {
        let spaced = "{ \"a b\" :\t[ 1.50 ,\r\n -0 , \"x \\\" y\\\\\" , { } ] , \"\\u00e9\" : null } ";
        let compact = cell(|cells| append_compact(cells, spaced));
        assert_eq!(compact, r#"{"a b":[1.50,-0,"x \" y\\",{}],"\u00e9":null}"#);
    }

    proptest! {
        #[test]
        fn quotes_as_serde_json_does(text in "(\\PC|[\\x00-\\x20\"\\\\\u{7f}é😀])*") {
            let quoted = cell(|cells| append_quoted(cells, &text));
            prop_assert_eq!(quoted, serde_json::to_string(&text).expect("a text"));
        }

        #[test]
        fn compacts_as_serde_json_does(texts in prop::collection::vec("[ \\\\\"\n{}:a]*", 0..4)) {
            let numbered = texts.iter().enumerate().map(|(number, text)| (number.to_string(), text.as_str()));
            let value = Value::from_iter(numbered);
            let pretty = serde_json::to_string_pretty(&value).expect("a value");
            prop_assert_eq!(cell(|cells| append_compact(cells, &pretty)), value.to_string());
        }
    }
}
