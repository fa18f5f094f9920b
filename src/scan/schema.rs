//! `schema=` as given, checked: which attribute is to hold which type.

use crate::columns::Type;
use crate::error::{Problem, sanitize};
use crate::filter::{InputValue, did_you_mean};

/// The types that `schema=` may name.
const TYPES: [&str; 6] = ["string", "int64", "float64", "bool", "timestamp", "json"];

/// The types given, and every problem. `attributes` are those asked for, where they are known.
pub(super) fn check(schema: &InputValue, attributes: Option<&[String]>) -> (Vec<(String, Type)>, Vec<Problem>) {
    let mut problems = Vec::new();
    let entries = match schema {
        InputValue::Null => &[][..],
        InputValue::Map(entries) => entries,
        other => {
            let message = "takes a dict of attributes and their types, as {\"price\": \"float64\"}";
            problems.push(problem("schema", other, message));
            &[][..]
        }
    };
    let mut types = Vec::with_capacity(entries.len());
    for (name, given) in entries {
        let argument = format!("schema[\"{name}\"]");
        if let Some(attributes) = attributes.filter(|attributes| !attributes.contains(name)) {
            let nearest = did_you_mean(name, attributes.iter().map(String::as_str));
            problems.push(problem(&argument, given, &format!("is not among attrs{nearest}")));
        }
        match given {
            InputValue::Text(asked) => match Type::from_name(asked) {
                Some(found) => types.push((name.clone(), found)),
                None => problems.push(problem(&argument, given, &unknown(asked))),
            },
            _ => problems.push(problem(&argument, given, &unknown(""))),
        }
    }
    (types, problems)
}

fn unknown(asked: &str) -> String {
    format!("is no type: write one of {}{}", TYPES.join(", "), did_you_mean(asked, TYPES))
}

fn problem(argument: &str, given: &InputValue, message: &str) -> Problem {
    Problem { argument: sanitize(argument), path: String::new(), message: sanitize(message), value: given.shown() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, InputValue)]) -> InputValue {
        InputValue::Map(entries.iter().map(|(name, given)| ((*name).to_owned(), given.clone())).collect())
    }

    #[test]
    fn every_type_has_its_name() {
        for name in TYPES {
            let (types, problems) = check(&map(&[("a", InputValue::Text(name.to_owned()))]), Some(&["a".to_owned()]));
            assert_eq!(types.iter().map(|(_, found)| found.name()).collect::<Vec<_>>(), [name]);
            assert_eq!(problems, []);
        }
    }

    #[test]
    fn all_problems_are_told_by_place() {
        let text = |text: &str| InputValue::Text(text.to_owned());
        let given = map(&[("prize", text("int64")), ("price", text("int46")), ("name", InputValue::Integer(7))]);
        let attributes = ["price".to_owned(), "name".to_owned()];
        let (_, problems) = check(&given, Some(&attributes));
        let told: Vec<_> =
            problems.iter().map(|problem| (problem.argument.as_str(), problem.message.as_str())).collect();
        assert_eq!(told.len(), 3);
        assert_eq!(told[0], ("schema[\"prize\"]", "is not among attrs; did you mean \"price\"?"));
        assert!(told[1].1.contains("did you mean \"int64\"?"), "{}", told[1].1);
        assert_eq!(told[2].0, "schema[\"name\"]");
        assert_eq!(check(&text("int64"), None).1.len(), 1);
        assert_eq!(check(&InputValue::Null, None).1, []);
    }
}
