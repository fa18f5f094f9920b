//! A search as the store understands it, and the one SQL statement it becomes.
//!
//! It deals in places of declared attributes, never in names: no text of a request can reach the statement.

/// What to look for in one object.
#[derive(Debug)]
pub(super) struct Query {
    /// Places of the attributes to return, in the order asked for.
    pub(super) attributes: Vec<usize>,
    /// A record is found when all tests of at least one group hold.
    pub(super) groups: Vec<Vec<Test>>,
}

/// A test of one attribute, named by its place. Null passes none of them.
#[derive(Debug)]
pub(super) struct Test {
    pub(super) attribute: usize,
    pub(super) comparison: Comparison,
}

/// How an attribute is compared.
#[derive(Debug)]
pub(super) enum Comparison {
    /// It is one of a JSON array of values.
    Among(String),
    /// It is a time before this one.
    Before(String),
    /// It is this time or a later one.
    From(String),
    /// It is the first time or a later one, and before the second.
    Between(String, String),
}

/// A statement with its parameters, all of them texts.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) parameters: Vec<String>,
}

/// Name of an attribute's column in the store.
pub(super) fn column(attribute: usize) -> String {
    format!("a{attribute}")
}

impl Query {
    /// The statement that reads from `table`, in the order of the identifying attribute.
    pub(super) fn statement(self, table: &str) -> Statement {
        let columns: Vec<String> = self.attributes.iter().map(|attribute| column(*attribute)).collect();
        let mut parameters = Vec::new();
        let mut groups = Vec::with_capacity(self.groups.len());
        for group in self.groups {
            let tests: Vec<String> = group.into_iter().map(|test| test.sql(&mut parameters)).collect();
            groups.push(balanced(&tests, "AND", "1"));
        }
        let condition = balanced(&groups, "OR", "0");
        let sql = format!("SELECT {} FROM {table} WHERE {condition} ORDER BY {}", columns.join(", "), column(0));
        Statement { sql, parameters }
    }
}

impl Test {
    fn sql(self, parameters: &mut Vec<String>) -> String {
        let name = column(self.attribute);
        let mut bound = |value: String| {
            parameters.push(value);
            parameters.len()
        };
        match self.comparison {
            Comparison::Among(values) => format!("{name} IN (SELECT value FROM json_each(?{}))", bound(values)),
            Comparison::Before(end) => format!("{name} < ?{}", bound(end)),
            Comparison::From(start) => format!("{name} >= ?{}", bound(start)),
            Comparison::Between(start, end) => {
                format!("({name} >= ?{} AND {name} < ?{})", bound(start), bound(end))
            }
        }
    }
}

/// Terms joined as a balanced tree: a chain of thousands would be too deep for `SQLite`.
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

    #[test]
    fn a_statement_is_made_of_places_and_numbered_parameters() {
        let test = |attribute, comparison| Test { attribute, comparison };
        let groups = vec![
            vec![
                test(1, Comparison::Among("[1]".into())),
                test(2, Comparison::Between("2024-01-01".into(), "2024-01-02".into())),
            ],
            vec![test(0, Comparison::Before("z".into()))],
            vec![],
        ];
        let statement = Query { attributes: vec![2, 0], groups }.statement("item_7");
        assert_eq!(
            statement.sql,
            "SELECT a2, a0 FROM item_7 WHERE ((a1 IN (SELECT value FROM json_each(?1)) AND (a2 >= ?2 AND a2 < ?3)) \
             OR (a0 < ?4 OR 1)) ORDER BY a0"
        );
        assert_eq!(statement.parameters, ["[1]", "2024-01-01", "2024-01-02", "z"]);
    }

    #[test]
    fn no_group_finds_nothing() {
        let statement = Query { attributes: vec![0], groups: vec![] }.statement("item_0");
        assert_eq!(statement.sql, "SELECT a0 FROM item_0 WHERE 0 ORDER BY a0");
    }
}
