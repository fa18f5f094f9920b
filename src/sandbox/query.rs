//! A search of one object, as the body of a request says it.

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
