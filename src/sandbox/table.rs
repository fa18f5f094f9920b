//! The rows of an object as a snapshot: a search reads it, however rows are loaded meanwhile.

use std::cmp::Ordering;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::objects::Cell;

/// A cell as it is kept and compared. Null comes first, then numbers by their value, then strings by code point.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(Box<str>),
    Json(Box<RawValue>),
}

/// The cells of a record; the first one identifies it.
pub(super) type Row = Arc<[Value]>;

/// Rows in the order of their identifiers, which are unique.
#[derive(Clone, Default)]
pub(super) struct Rows(Arc<Vec<Row>>);

impl Rows {
    /// These rows and others, of which one replaces an earlier one with its identifier; and number and identifier of the
    /// first one that does.
    pub(super) fn with<'a>(&self, added: &'a [Row]) -> (Self, Option<(usize, &'a Value)>) {
        let mut added: Vec<(usize, &Row)> = added.iter().enumerate().collect();
        added.sort_by_key(|(_, row)| row.first());
        let mut rows: Vec<Row> = Vec::with_capacity(self.0.len() + added.len());
        let (mut rest, mut taken) = (self.0.as_slice(), None);
        for (number, row) in added {
            let is_same = |other: Option<&Row>| other.is_some_and(|other| other.first() == row.first());
            let (before, after) = rest.split_at(rest.partition_point(|each| each.first() < row.first()));
            rows.extend_from_slice(before);
            let (is_present, is_repeated) = (is_same(after.first()), is_same(rows.last()));
            if (is_present || is_repeated) && taken.is_none_or(|(earlier, _)| number < earlier) {
                taken = row.first().map(|identifier| (number, identifier));
            }
            rest = after.get(usize::from(is_present)..).unwrap_or_default();
            rows.truncate(rows.len() - usize::from(is_repeated));
            rows.push(Arc::clone(row));
        }
        rows.extend_from_slice(rest);
        (Self(Arc::new(rows)), taken)
    }

    pub(super) fn find(&self, identifier: &Value) -> Option<usize> {
        self.0.binary_search_by(|row| row.first().cmp(&Some(identifier))).ok()
    }

    /// The rows in which a value has a text, in any case of ASCII letters.
    pub(super) fn containing(&self, text: &str) -> impl Iterator<Item = &Row> {
        let text = text.to_ascii_lowercase();
        let has_text = move |cell: &Value| match cell {
            Value::Null => false,
            Value::Text(cell) => cell.to_ascii_lowercase().contains(&text),
            cell => json!(cell).to_string().to_ascii_lowercase().contains(&text),
        };
        self.0.iter().filter(move |row| row.iter().any(&has_text))
    }
}

impl Deref for Rows {
    type Target = [Row];

    fn deref(&self) -> &[Row] {
        &self.0
    }
}

impl Value {
    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Integer(_) | Self::Real(_) => 1,
            Self::Text(_) => 2,
            Self::Json(_) => 3,
        }
    }
}

impl From<Cell> for Value {
    fn from(cell: Cell) -> Self {
        match cell {
            Cell::String(text) => Self::Text(text.into_boxed_str()),
            Cell::Bool(_) | Cell::Array(_) => to_raw_value(&cell).map_or(Self::Null, Self::Json),
            cell => cell.as_i64().map(Self::Integer).or_else(|| cell.as_f64().map(Self::Real)).unwrap_or(Self::Null),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => output.serialize_unit(),
            Self::Integer(number) => output.serialize_i64(*number),
            Self::Real(number) => output.serialize_f64(*number),
            Self::Text(text) => output.serialize_str(text),
            Self::Json(json) => json.serialize(output),
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => one.cmp(other),
            (Self::Real(one), Self::Real(other)) => one.partial_cmp(other).unwrap_or(Ordering::Equal),
            (Self::Integer(one), Self::Real(other)) => compared(*one, *other),
            (Self::Real(one), Self::Integer(other)) => compared(*other, *one).reverse(),
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Json(one), Self::Json(other)) => one.get().cmp(other.get()),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Value {}

/// Compares by value, without rounding either.
fn compared(integer: i64, real: f64) -> Ordering {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what is beyond the range becomes its end, and the fraction is next"
    )]
    let whole = real.trunc() as i128;
    i128::from(integer).cmp(&whole).then_with(|| 0.0.partial_cmp(&real.fract()).unwrap_or(Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: Cell) -> Row {
        let Cell::Array(cells) = cells else { panic!("an array") };
        cells.into_iter().map(Value::from).collect()
    }

    fn shown(rows: &Rows) -> String {
        serde_json::to_string(&rows.0.iter().map(|row| row.iter().collect()).collect::<Vec<Vec<&Value>>>()).unwrap()
    }

    #[test]
    fn numbers_are_compared_by_value_and_without_rounding() {
        let ascending = r#"[null, -1e300, -9223372036854775808, -1.5, -1, 0, 0.5, 4, 4.5, 9007199254740992,
            9007199254740993, 9223372036854775807, 18446744073709551615, "", "10", "9", "a", "ñ", "\uffff", "🎁"]"#;
        let values = row(serde_json::from_str(ascending).unwrap());
        for (index, one) in values.iter().enumerate() {
            for (other_index, other) in values.iter().enumerate() {
                assert_eq!(one.cmp(other), index.cmp(&other_index), "{one:?} {other:?}");
            }
        }
        for (one, other) in
            [(json!(4), json!(4.0)), (json!(0), json!(-0.0)), (json!(i64::MIN), json!(-9.223_372_036_854_776e18))]
        {
            assert_eq!(Value::from(one), Value::from(other));
        }
        assert_ne!(Value::from(json!(i64::MAX)), Value::from(json!(9.223_372_036_854_776e18)));
    }

    #[test]
    fn rows_replace_earlier_ones_and_a_snapshot_stays() {
        let first = Rows::default().with(&[row(json!(["b", 1])), row(json!(["a", 2.0]))]).0;
        assert_eq!(shown(&first), r#"[["a",2.0],["b",1]]"#);
        let more =
            [row(json!(["c", [true, "x"]])), row(json!(["b", null])), row(json!(["c", 3])), row(json!(["a", 4]))];
        assert_eq!(first.with(&[more[0].clone(), more[2].clone()]).1.map(|taken| taken.0), Some(1));
        assert_eq!(first.with(&more[..1]).1, None);
        let (second, taken) = first.with(&more);
        assert_eq!(taken, Some((1, &Value::from(json!("b")))));
        assert_eq!(shown(&second), r#"[["a",4],["b",null],["c",3]]"#);
        assert_eq!(shown(&first), r#"[["a",2.0],["b",1]]"#);
        assert_eq!(second.find(&Value::from(json!("b"))), Some(1));
        assert_eq!(second.find(&Value::from(json!("bb"))), None);
    }
}
