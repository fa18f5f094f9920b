//! Targets for `serde_json` that build no values: the members of an object, in order and with duplicate keys and large
//! numbers, and a value that is validated and discarded.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A string, borrowed from the input if it has no escapes.
#[derive(Debug, Deserialize)]
pub struct BorrowedString<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// The members of an object, duplicate keys included.
#[derive(Debug)]
pub struct Members<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::with_capacity(map.size_hint().unwrap_or(16));
                while let Some((BorrowedString(name), value)) = map.next_entry()? {
                    pairs.push((name, value));
                }
                Ok(Members(pairs))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

/// How many values a value of valid JSON has, approximately: itself, brackets, elements, and members with their names.
#[must_use]
pub fn count_values(json: &str) -> usize {
    let (mut count, mut bytes) = (1, json.bytes());
    while let Some(byte) = bytes.next() {
        match byte {
            b',' | b':' | b'[' | b'{' => count += 1,
            b'"' => loop {
                match bytes.next() {
                    Some(b'\\') => drop(bytes.next()),
                    Some(b'"') | None => break,
                    Some(_) => {}
                }
            },
            _ => {}
        }
    }
    count
}

/// Visitor methods that drop what they get.
macro_rules! accept {
    ($($visit:ident($value:ty)),*) => {$(
        fn $visit<E>(self, _: $value) -> Result<Self, E> {
            Ok(self)
        }
    )*};
}

/// A value that is valid (its strings are UTF-8, its numbers finite) and not kept.
#[derive(Debug)]
pub(super) struct ValidatedJson;

impl<'de> Deserialize<'de> for ValidatedJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValidatedJson)
    }
}

impl<'de> Visitor<'de> for ValidatedJson {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    accept!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::count_values;

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (json, expected) in
            [("1", 1), (r#""[{,:""#, 1), (r#""\",,""#, 1), ("[]", 2), ("[{},{}]", 5), (r#"{"a":[1]}"#, 4)]
        {
            assert_eq!(count_values(json), expected, "{json}");
        }
    }
}
