//! A search as the store runs it, and its SQL statement.
//!
//! Attributes are indexes, and values are parameters: no string of a request becomes part of the SQL.

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
    /// One of a JSON array of values, or of a JSON array of hex-encoded strings.
    Among(String, Option<String>),
    /// A time before this one.
    Before(String),
    /// This time or a later one.
    From(String),
    /// The first time or a later one, and before the second.
    Between(String, String),
    /// No value matches.
    Never,
}

/// A statement with its parameters, all of them strings.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) parameters: Vec<String>,
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
        let mut groups = Vec::with_capacity(self.groups.len());
        for group in self.groups {
            let predicates: Vec<String> = group.into_iter().map(|predicate| predicate.sql(&mut parameters)).collect();
            groups.push(balanced(&predicates, "AND", "1"));
        }
        let condition = balanced(&groups, "OR", "0");
        let (columns, order) = (columns.join(", "), order(self.order));
        let limit = self.limit.map(|limit| format!(" LIMIT {limit}")).unwrap_or_default();
        let sql = format!("SELECT {columns} FROM {table} WHERE {condition} ORDER BY {order}{limit}");
        Statement { sql, parameters }
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
    fn sql(self, parameters: &mut Vec<String>) -> String {
        let name = column(self.attribute);
        let mut bound = |value: String| {
            parameters.push(value);
            parameters.len()
        };
        match self.comparison {
            Comparison::Among(values, hex) => {
                let listed = format!("{name} IN (SELECT value FROM json_each(?{}))", bound(values));
                let Some(hex) = hex else { return listed };
                let texts = format!("SELECT CAST(unhex(value) AS TEXT) FROM json_each(?{})", bound(hex));
                format!("({listed} OR {name} IN ({texts}))")
            }
            Comparison::Before(end) => format!("{name} < ?{}", bound(end)),
            Comparison::From(start) => format!("{name} >= ?{}", bound(start)),
            Comparison::Between(start, end) => {
                format!("({name} >= ?{} AND {name} < ?{})", bound(start), bound(end))
            }
            Comparison::Never => "0".to_owned(),
        }
    }
}

/// Joins terms as a balanced tree: a chain of thousands exceeds the expression depth of `SQLite`.
fn balanced(terms: &[String], word: &str, neutral: &str) -> String {
    match terms {
        [] => neutral.to_owned(),
        [term] => term.clone(),
        _ => {
            let (left, right) = terms.split_at(terms.len() / 2);
            format!("({} {word} {})", balanced(left, word, neutral), balanced(right, word, neutral))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(attributes: Vec<usize>, groups: Vec<Vec<Predicate>>) -> Query {
        Query { attributes, groups, order: RowOrder::Id, limit: None }
    }

    #[test]
    fn a_statement_is_made_of_indexes_and_numbered_parameters() {
        let test = |attribute, comparison| Predicate { attribute, comparison };
        let groups = vec![
            vec![
                test(1, Comparison::Among("[1]".into(), None)),
                test(2, Comparison::Between("2024-01-01".into(), "2024-01-02".into())),
            ],
            vec![test(0, Comparison::Before("z".into()))],
            vec![],
            vec![test(3, Comparison::Among("[]".into(), Some("[\"6100\"]".into()))), test(1, Comparison::Never)],
        ];
        let statement = query(vec![2, 0], groups).statement("item_7");
        assert_eq!(
            statement.sql,
            "SELECT a2, a0 FROM item_7 WHERE (((a1 IN (SELECT value FROM json_each(?1)) AND (a2 >= ?2 AND a2 < ?3)) \
             OR a0 < ?4) OR (1 OR ((a3 IN (SELECT value FROM json_each(?5)) OR a3 IN (SELECT CAST(unhex(value) AS TEXT) FROM json_each(?6))) AND 0))) ORDER BY a0"
        );
        assert_eq!(statement.parameters, ["[1]", "2024-01-01", "2024-01-02", "z", "[]", "[\"6100\"]"]);
    }

    #[test]
    fn no_group_matches_nothing() {
        let statement = query(vec![0], vec![]).statement("item_0");
        assert_eq!(statement.sql, "SELECT a0 FROM item_0 WHERE 0 ORDER BY a0");
    }

    #[test]
    fn rows_without_attributes_are_rows() {
        let statement = query(vec![], vec![vec![]]).statement("item_0");
        assert_eq!(statement.sql, "SELECT NULL FROM item_0 WHERE 1 ORDER BY a0");
    }

    #[test]
    fn order_and_limit_come_last() {
        let sql = |order, limit| Query { order, limit, ..query(vec![0], vec![]) }.statement("t").sql;
        assert!(sql(RowOrder::Reverse, Some(7)).ends_with(" ORDER BY a0 DESC LIMIT 7"));
        assert!(sql(RowOrder::Id, None).ends_with(" ORDER BY a0"));
    }
}
