//! The request for a segment export (section 4.3).

use super::given::Given;
use super::problems::{Place, Problems};
use super::values::is_not;
use crate::contract::export::DownloadBody;
use crate::error::Result;

/// Checks the id of an export.
///
/// # Errors
/// `Validation`, when it is not a whole number.
pub fn check(export_id: &Given) -> Result<DownloadBody> {
    let mut problems = Problems::default();
    let read = match export_id {
        Given::Integer(id) => Ok(*id),
        Given::Text(text) if text.trim().parse::<i64>().is_ok() => {
            Err(format!("{} is a text: write int({})", export_id.shown(), export_id.shown()))
        }
        Given::Number(number) if number.fract() == 0.0 => Err(format!(
            "{number:?} is a float, in which a long id loses digits: read it as an int where it comes from"
        )),
        Given::BigInteger(_) => Err(format!("{} is too large for the id of an export", export_id.shown())),
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
        let body = check(&Given::Integer(5_637_051)).expect("a good id");
        assert_eq!(serde_json::to_string(&body).unwrap(), r#"{"scope":"download","exportId":5637051}"#);
    }

    #[test]
    fn anything_else_is_refused_with_advice() {
        for (given, advice) in [
            (Given::text("5637051"), "write int(\"5637051\")"),
            (Given::text("abc"), "\"abc\" is a text, not the id"),
            (Given::Number(5_637_051.0), "read it as an int"),
            (Given::Number(f64::NAN), "nan is NaN"),
            (Given::Bool(true), "True is a bool"),
            (Given::Null, "None is not the id"),
            (Given::BigInteger("9".repeat(30)), "too large"),
            (Given::List(vec![Given::Integer(1)]), "[1] is a list"),
        ] {
            let error = check(&given).expect_err("a bad id");
            let [problem] = error.problems() else { panic!("one problem: {error}") };
            assert_eq!((problem.argument.as_str(), problem.path.as_str()), ("export_id", "exportId"));
            assert!(problem.message.contains(advice), "{}", problem.message);
        }
    }
}
