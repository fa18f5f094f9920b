//! A search as the store runs it, and its SQL statement.
//!
//! Attributes are indexes, and values are parameters: no string of a request becomes part of the SQL.

use std::rc::Rc;

use rusqlite::ToSql;
use rusqlite::types::Value;

use super::objects::Cell;
use super::switches::RowOrder;

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
    /// One of these values.
    Among(Vec<Cell>),
    /// The first time or a later one, and before the second.
    Within(Option<String>, Option<String>),
}

/// A statement with its parameters.
pub(super) type Statement = (String, Vec<Box<dyn ToSql>>);

/// A cell as the store keeps and compares it: booleans and lists as the bytes of their JSON.
pub(super) fn stored(cell: &Cell) -> Value {
    match cell {
        Cell::String(text) => Value::Text(text.clone()),
        Cell::Bool(_) | Cell::Array(_) => Value::Blob(cell.to_string().into_bytes()),
        cell => cell.as_i64().map(Value::Integer).or_else(|| cell.as_f64().map(Value::Real)).unwrap_or(Value::Null),
    }
}

/// Column name of an attribute in the store.
pub(super) fn column(attribute: usize) -> String {
    format!("a{attribute}")
}

impl Query {
    /// The statement that reads from `table`.
    pub(super) fn statement(self, table: &str) -> Statement {
        let mut columns: Vec<String> = self.attributes.iter().map(|attribute| column(*attribute)).collect();
        if columns.is_empty() {
            // SQL has no rows without columns; the writer of the records reads none.
            columns.push("NULL".to_owned());
        }
        let mut parameters = Vec::new();
        let mut all = |group: Vec<Predicate>| {
            let predicates: Vec<String> = group.into_iter().map(|predicate| predicate.sql(&mut parameters)).collect();
            joined(&predicates, "AND", "1")
        };
        let groups: Vec<String> = self.groups.into_iter().map(&mut all).collect();
        let (columns, condition, order) = (columns.join(", "), joined(&groups, "OR", "0"), order(self.order));
        let limit = self.limit.map(|limit| format!(" LIMIT {limit}")).unwrap_or_default();
        (format!("SELECT {columns} FROM {table} WHERE {condition} ORDER BY {order}{limit}"), parameters)
    }
}

/// The ORDER BY terms.
fn order(order: RowOrder) -> String {
    let identifier = column(0);
    match order {
        RowOrder::Id => identifier,
        RowOrder::Reverse => format!("{identifier} DESC"),
    }
}

impl Predicate {
    fn sql(self, parameters: &mut Vec<Box<dyn ToSql>>) -> String {
        let name = column(self.attribute);
        let mut bound = |start: &str, value: Box<dyn ToSql>| {
            parameters.push(value);
            format!("{name} {start}?{}", parameters.len())
        };
        match self.comparison {
            Comparison::Among(values) => {
                bound("IN rarray(", Box::new(Rc::<Vec<Value>>::new(values.iter().map(stored).collect()))) + ")"
            }
            Comparison::Within(start, end) => {
                let start = start.map(|start| bound(">= ", Box::new(start)));
                let end = end.map(|end| bound("< ", Box::new(end)));
                joined(&start.into_iter().chain(end).collect::<Vec<_>>(), "AND", "1")
            }
        }
    }
}

/// Joins terms as a balanced tree: a chain of thousands exceeds the expression depth of `SQLite`.
pub(super) fn joined(terms: &[String], word: &str, neutral: &str) -> String {
    match terms {
        [] => neutral.to_owned(),
        [term] => term.clone(),
        _ => {
            let (left, right) = terms.split_at(terms.len() / 2);
            format!("({} {word} {})", joined(left, word, neutral), joined(right, word, neutral))
        }
    }
}
