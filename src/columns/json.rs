//! Compact JSON.

use crate::decode::{PaddedBytes, is_blank, parts};

/// Appends valid JSON without the white space between its tokens. Everything else stays as written.
pub(super) fn push_compact(out: &mut PaddedBytes, json: &str) {
    for (is_string, part) in parts(json.as_bytes()) {
        part.split(|byte| !is_string && is_blank(*byte)).for_each(|tokens| out.push(tokens));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn compact(json: &str) -> String {
        let mut out = PaddedBytes::default();
        out.push(b"before");
        push_compact(&mut out, json);
        let (mut bytes, length) = out.take();
        bytes.truncate(length);
        let out = String::from_utf8(bytes).expect("UTF-8");
        out.strip_prefix("before").expect("what was there stays").to_owned()
    }

    #[test]
    fn only_white_space_between_tokens_goes() {
        let spaced = "{ \"a b\" :\t[ 1.50 ,\r\n -0 , \"x \\\" y\\\\\" , { } ] , \"\\u00e9\" : null } ";
        assert_eq!(compact(spaced), r#"{"a b":[1.50,-0,"x \" y\\",{}],"\u00e9":null}"#);
    }

    proptest! {
        #[test]
        fn compacts_as_serde_json_does(texts in prop::collection::vec("[ \\\\\"\n{}:a]*", 0..4)) {
            let numbered = texts.iter().enumerate().map(|(number, text)| (number.to_string(), text.as_str()));
            let value = numbered.collect::<Value>();
            prop_assert_eq!(compact(&serde_json::to_string_pretty(&value).expect("a value")), value.to_string());
        }
    }
}
