//! The same sums with `serde_json`: from a `Value`, and with visitors that build nothing.

use std::fmt;

use dataaccess::decode::BorrowedString;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::bodies::COLUMNS;
use super::sums::Sums;

/// From a `Value` of the whole body.
pub fn valued(body: &[u8]) -> Sums {
    let whole: Value = serde_json::from_slice(body).expect("valid JSON");
    let records = whole["data"]["data"].as_array().expect("records");
    let mut sums = Sums::default();
    for record in records {
        for (column, name) in COLUMNS.iter().enumerate() {
            sums.add(column, record.get(name).map_or(0, number_of));
        }
    }
    sums.records = records.len() as u64;
    sums
}

fn number_of(value: &Value) -> i64 {
    match value {
        Value::Null => 0,
        Value::Bool(value) => i64::from(*value),
        Value::Number(number) => number.as_i64().unwrap_or_else(|| bits(number.as_f64().unwrap_or_default())),
        Value::String(text) => length(text),
        Value::Array(_) | Value::Object(_) => 1,
    }
}

fn bits(number: f64) -> i64 {
    number.to_bits().cast_signed()
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).expect("64 bits")
}

/// With visitors. The records are in `data.data`.
pub fn visited(body: &[u8]) -> Sums {
    let mut sums = Sums::default();
    let mut json = serde_json::Deserializer::from_slice(body);
    Envelope(&mut sums).deserialize(&mut json).expect("valid JSON");
    json.end().expect("one JSON value");
    sums
}

macro_rules! seed {
    ($seed:ident, $value:ty) => {
        impl<'de> DeserializeSeed<'de> for $seed<'_> {
            type Value = $value;

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<$value, D::Error> {
                deserializer.deserialize_any(self)
            }
        }
    };
}

struct Envelope<'s>(&'s mut Sums);
struct Records<'s>(&'s mut Sums);
struct Record<'s>(&'s mut Sums);
struct Cell<'s>(&'s mut Sums, usize);

seed!(Envelope, ());
seed!(Records, ());
seed!(Record, ());
seed!(Cell, ());

impl<'de> Visitor<'de> for Envelope<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an envelope")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(BorrowedString(key)) = map.next_key()? {
            match key.as_ref() {
                "data" => map.next_value_seed(Records(self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Records<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("data or its records")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        Envelope(self.0).visit_map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut records: A) -> Result<(), A::Error> {
        while records.next_element_seed(Record(self.0))?.is_some() {
            self.0.records += 1;
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Record<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(BorrowedString(key)) = map.next_key()? {
            match COLUMNS.iter().position(|name| *name == key) {
                Some(column) => map.next_value_seed(Cell(self.0, column))?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Cell<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.0.add(self.1, i64::from(value));
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.0.add(self.1, value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.0.add(self.1, value.cast_signed());
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.0.add(self.1, bits(value));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.add(self.1, length(text));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        self.0.add(self.1, 1);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.0.add(self.1, 1);
        Ok(())
    }
}
