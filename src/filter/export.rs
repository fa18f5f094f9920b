//! The request for a segment export (4.3).

use super::input::InputValue;
use super::problems::{Place, Problems};
use super::values;
use crate::contract::export::DownloadBody;
use crate::error::Result;

/// Checks the id of an export.
///
/// # Errors
/// `Validation`, when it is not an integer.
pub fn check(export_id: &InputValue) -> Result<DownloadBody> {
    let read = values::id(export_id, "the id of an export");
    let location = Place::argument("export_id", "exportId");
    Problems::collect(|problems| problems.keep(&location, export_id, read).map(DownloadBody::new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::tests::problem;

    #[test]
    fn an_integer_makes_the_specified_body() {
        let body = check(&InputValue::Integer(5_637_051)).expect("a valid id");
        assert_eq!(serde_json::to_string(&body).unwrap(), r#"{"scope":"download","exportId":5637051}"#);
    }

    #[test]
    fn anything_else_is_refused() {
        for (input, datum) in [
            (InputValue::text("5637051"), "int(\"5637051\")"),
            (InputValue::text("abc"), "\"abc\""),
            (InputValue::Number(5_637_051.0), " int"),
            (InputValue::Number(f64::NAN), "NaN"),
            (InputValue::Bool(true), "bool"),
            (InputValue::Null, "None"),
            (InputValue::BigInteger("9".repeat(30)), "large"),
            (InputValue::List(vec![InputValue::Integer(1)]), "list"),
        ] {
            let problem = problem(check(&input));
            assert_eq!((problem.argument.as_str(), problem.path.as_str()), ("export_id", "exportId"));
            assert!(problem.message.contains(datum), "{problem}");
        }
    }
}
