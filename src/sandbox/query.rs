//! A search of one object, as the body of a request says it.

use super::objects::Cell;
use super::switches::RowOrder;
use super::table::{Row, Value};

/// A search of one object.
#[derive(Debug)]
pub(super) struct Query {
    /// Indexes of the attributes to return, in the requested order; none where all requested ones are unknown.
    pub(super) attributes: Vec<usize>,
    /// A record matches when all predicates of at least one group hold.
    pub(super) groups: Vec<Vec<Predicate>>,
    /// Order of the records.
    pub(super) order: RowOrder,
    /// Most records.
    pub(super) limit: Option<u64>,
}

/// A predicate on one attribute, given by its index. Null never matches.
#[derive(Debug)]
pub(super) struct Predicate {
    pub(super) attribute: usize,
    pub(super) comparison: Comparison,
}

/// How an attribute is compared.
#[derive(Debug)]
pub(super) enum Comparison {
    /// One of these values, which are in order.
    Among(Vec<Value>),
    /// The first time or a later one, and before the second.
    Within(Option<String>, Option<String>),
}

impl Comparison {
    /// One of these values.
    pub(super) fn among(values: Vec<Cell>) -> Self {
        let mut values: Vec<Value> = values.into_iter().map(Value::from).collect();
        values.sort();
        values.dedup();
        Self::Among(values)
    }
}

impl Predicate {
    /// Whether it holds for a row.
    pub(super) fn holds(&self, row: &Row) -> bool {
        match (row.get(self.attribute), &self.comparison) {
            (None | Some(Value::Null), _) => false,
            (Some(cell), Comparison::Among(values)) => values.binary_search(cell).is_ok(),
            (Some(Value::Text(time)), Comparison::Within(start, end)) => {
                let is_after = |start: &String| **start <= **time;
                start.as_ref().is_none_or(is_after) && end.as_ref().is_none_or(|end| **time < **end)
            }
            (Some(_), Comparison::Within(..)) => false,
        }
    }
}
