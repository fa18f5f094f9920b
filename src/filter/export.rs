//! The request for a segment export (section 4.3).

use super::input::InputValue;
use super::problems::{Place, Problems};
use super::values::is_not;
use crate::contract::export::DownloadBody;
use crate::error::Result;

/// Checks the id of an export.
///
/// # Errors
/// `Validation`, when it is not a whole number.
pub fn check(export_id: &InputValue) -> Result<DownloadBody> {
    let mut problems = Problems::default();
    let read = match export_id {
        InputValue::Integer(id) => Ok(*id),
        InputValue::Text(text) if text.trim().parse::<i64>().is_ok() => {
            Err(format!("{} is a text: write int({})", export_id.shown(), export_id.shown()))
        }
        InputValue::Number(number) if number.fract() == 0.0 => Err(format!(
            "{number:?} is a float, in which a long id loses digits: read it as an int where it comes from"
        )),
        InputValue::BigInteger(_) => Err(format!("{} is too large for the id of an export", export_id.shown())),
        value => Err(is_not(value, "the id of an export, which is a whole number")),
    };
    let id = problems.keep(&Place::argument("export_id", "exportId"), export_id, read);
    problems.settle(id.map(DownloadBody::new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_makes_the_body_of_the_document() {
        let body = check(&InputValue::Integer(5_637_051)).expect("a good id");
        assert_eq!(serde_json::to_string(&body).unwrap(), r#"{"scope":"download","exportId":5637051}"#);
    }

    #[test]
    fn anything_else_is_refused_with_advice() {
        for (input, advice) in [
            (InputValue::text("5637051"), "write int(\"5637051\")"),
            (InputValue::text("abc"), "\"abc\" is a text, not the id"),
            (InputValue::Number(5_637_051.0), "read it as an int"),
            (InputValue::Number(f64::NAN), "nan is NaN"),
            (InputValue::Bool(true), "True is a bool"),
            (InputValue::Null, "None is not the id"),
            (InputValue::BigInteger("9".repeat(30)), "too large"),
            (InputValue::List(vec![InputValue::Integer(1)]), "[1] is a list"),
        ] {
            let error = check(&input).expect_err("a bad id");
            let [problem] = error.problems() else { panic!("one problem: {error}") };
            assert_eq!((problem.argument.as_str(), problem.path.as_str()), ("export_id", "exportId"));
            assert!(problem.message.contains(advice), "{}", problem.message);
        }
    }
}
