//! Splits one search into several that find the same records: for a response that looks capped.
//!
//! The values of a list divide the records that match it, as a record has one value of an attribute. Without a list,
//! the statuses of promotion codes divide those whose status the API specification knows.

use serde_json::Value;

use super::Search;
use crate::contract::business_object::{CUSTOMER_ID, CUSTOMER_KEY, PROMOTION_CODE_ID};
use crate::contract::codes::{POSITIONS, STATUSES};
use crate::contract::condition::{CODE_CONDITION_TYPE, Condition, MATCHES, NUMBER};

/// The attribute that holds the status of a promotion code, and its position among the conditions.
const STATUS: &str = POSITIONS[2];

/// The parts of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchParts {
    /// They find every record that the search finds, and each of them once.
    Exact(Vec<SearchPart>),
    /// They miss records whose status is none of the specified ones.
    ByStatus(Vec<SearchPart>),
    /// It cannot be split.
    None,
}

/// A part of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchPart {
    /// What it asks for.
    pub search: Search,
    /// What it is, such as `code_status 4`.
    pub name: String,
}

impl Search {
    /// The parts of this search: the halves of its longest list of values, or one for each status.
    pub fn parts(&self) -> SearchParts {
        // Groups joined by OR may overlap: a record could come twice.
        let [group] = self.body.filters.or.as_slice() else { return SearchParts::None };
        let lists = group.and.iter().enumerate().filter_map(|(position, condition)| {
            let values = condition.value.as_array().filter(|values| values.len() > 1)?;
            (condition.operator == MATCHES).then_some((position, &condition.column, values))
        });
        if let Some((position, column, values)) = lists.max_by_key(|(.., values)| values.len()) {
            let (first, second) = values.split_at(values.len() / 2);
            let part = |values: &[Value]| {
                let mut search = self.clone();
                search.body.filters.set_value(position, Value::from(values));
                let name = match values {
                    // Ids are personal data, and these names occur in warnings.
                    [value] if column == STATUS => format!("{STATUS} {value}"),
                    values => format!("{} {column}", values.len()),
                };
                SearchPart { search, name }
            };
            return SearchParts::Exact(vec![part(first), part(second)]);
        }
        let has_status = group.and.iter().any(|condition| condition.column == STATUS);
        if self.body.item_type_id != PROMOTION_CODE_ID || has_status {
            return SearchParts::None;
        }
        SearchParts::ByStatus(STATUSES.iter().map(|(_, status)| self.with_status(*status)).collect())
    }

    /// Whether a response can have this number of rows because it has one for each value of the longest list. A round
    /// number is no accident, unless each value has one row at most, as the id of a customer has.
    pub fn explains(&self, rows: u64, is_round: bool) -> bool {
        let groups = &self.body.filters.or;
        let is_key = |condition: &Condition| {
            let is_customer = self.body.item_type_id == CUSTOMER_ID && condition.column == CUSTOMER_KEY;
            is_customer && condition.operator == MATCHES && groups.len() == 1
        };
        let conditions = groups.iter().flat_map(|group| &group.and);
        let lists = conditions.filter_map(|condition| Some((condition.value.as_array()?.len(), is_key(condition))));
        let longest = lists.max().filter(|(values, _)| *values > 0 && *values as u64 == rows);
        longest.is_some_and(|(_, are_keys)| are_keys || !is_round)
    }

    fn with_status(&self, status: i64) -> SearchPart {
        let mut search = self.clone();
        if let Some(group) = search.body.filters.or.first_mut() {
            // The conditions are in the order of their positions.
            let before = |condition: &Condition| POSITIONS[..2].contains(&condition.column.as_str());
            let position = group.and.iter().take_while(|condition| before(condition)).count();
            let condition = Condition {
                kind: Some(CODE_CONDITION_TYPE),
                column: STATUS.to_owned(),
                data_type: NUMBER.to_owned(),
                operator: MATCHES.to_owned(),
                value: Value::from(vec![status]),
                extend_value: Some(Vec::new()),
                value_type: group.and.iter().find_map(|condition| condition.value_type.clone()),
                ..Condition::default()
            };
            group.and.insert(position, condition);
        }
        SearchPart { search, name: format!("{STATUS} {status}") }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::filter::codes::{self, CodesArguments};
    use crate::filter::items;
    use crate::filter::tests::{any, customers, equals, expression, input, matches};
    use crate::filter::{Comparison, InputValue, Method};
    use crate::time::Calendar;

    fn codes(audience: Value, status: Value) -> Search {
        let day = Comparison::new(Method::On, InputValue::text("2024-01-15"));
        let arguments = CodesArguments {
            allocated_time: InputValue::Comparison(Box::new(day)),
            allocated_audience: input(audience),
            code_status: input(status),
            ..CodesArguments::default()
        };
        codes::check(arguments, &Calendar::default()).expect("a valid request")
    }

    fn items(where_clause: InputValue) -> Search {
        items::check(customers(where_clause), &Calendar::default()).expect("a valid request")
    }

    /// The column and value of each condition but the time, of each part.
    fn conditions(parts: &[SearchPart]) -> Vec<(String, Value)> {
        let conditions = |part: &SearchPart| serde_json::to_value(&part.search.body.filters.or[0].and).expect("JSON");
        let shown = |each: Value| {
            let each = each.as_array().cloned().unwrap_or_default();
            let values = each.iter().filter(|condition| condition["column"] != "allocated_time");
            values.map(|condition| condition["value"].clone()).collect::<Value>()
        };
        parts.iter().map(|part| (part.name.clone(), shown(conditions(part)))).collect()
    }

    #[test]
    fn ids_of_customers_explain_a_row_for_each_and_other_lists_if_the_number_is_not_round() {
        let ids = json!(["a", "b"]);
        let of_customers = items(expression(matches("customer_id", ids.clone())));
        assert!(of_customers.explains(2, true) && of_customers.explains(2, false));
        assert!(!of_customers.explains(1, false) && !of_customers.explains(0, false));
        let joined = any([matches("customer_id", ids.clone()), matches("name", json!(["c"]))]);
        for list in [items(expression(matches("name", ids.clone()))), items(expression(joined)), codes(ids, json!([3]))]
        {
            assert!(list.explains(2, false) && !list.explains(2, true) && !list.explains(3, false));
        }
    }

    #[test]
    fn the_longest_list_is_halved() {
        let SearchParts::Exact(parts) = codes(json!(["a", "b", "c"]), json!([3, 4])).parts() else { panic!("a list") };
        let expected =
            [("1 allocated_audience", json!([["a"], [3, 4]])), ("2 allocated_audience", json!([["b", "c"], [3, 4]]))];
        assert_eq!(conditions(&parts), expected.map(|(name, values)| (name.to_owned(), values)));
        let SearchParts::Exact(parts) = parts[0].search.parts() else { panic!("a list") };
        let expected = [("code_status 3", json!([["a"], [3]])), ("code_status 4", json!([["a"], [4]]))];
        assert_eq!(conditions(&parts), expected.map(|(name, values)| (name.to_owned(), values)));
        assert_eq!(parts[0].search.parts(), SearchParts::None);
    }

    #[test]
    fn codes_without_a_status_are_split_by_status_at_its_position() {
        let SearchParts::ByStatus(parts) = codes(json!("a"), json!(null)).parts() else { panic!("by status") };
        let expected = [1, 3, 4].map(|status| (format!("code_status {status}"), json!([["a"], [status]])));
        assert_eq!(conditions(&parts), expected);
        assert_eq!(parts[0].search, codes(json!("a"), json!(1)));
    }

    #[test]
    fn groups_that_may_overlap_and_single_values_are_not_split() {
        let one = || matches("customer_id", json!(["a", "b"]));
        assert_eq!(items(expression(any([one(), equals("customer_id", json!("a"))]))).parts(), SearchParts::None);
        assert_eq!(items(expression(equals("customer_id", json!("a")))).parts(), SearchParts::None);
        assert!(matches!(items(expression(one())).parts(), SearchParts::Exact(_)));
    }
}
