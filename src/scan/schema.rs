//! Checks `schema=`: which attribute has which type.

use crate::columns::{ColumnType, NAME};
use crate::error::{Problem, sanitize};
use crate::filter::{InputValue, did_you_mean};

/// Returns the types and every problem. `attributes` are the requested ones, if `attrs=` was valid.
pub(super) fn check(schema: &InputValue, attributes: Option<&[String]>) -> (Vec<(String, ColumnType)>, Vec<Problem>) {
    let mut problems = Vec::new();
    let entries = match schema {
        InputValue::Null => &[][..],
        InputValue::Map(entries) => entries,
        other => {
            let message = "must be a dict of attributes and types, as {\"price\": \"float64\"}";
            problems.push(problem("schema", other, message));
            &[][..]
        }
    };
    let mut types = Vec::with_capacity(entries.len());
    for (name, value) in entries {
        if let InputValue::Text(given) = value
            && given == NAME
            && let Some(named) = ColumnType::named(name)
        {
            // Of `decode_status=`, whether or not the attribute is requested.
            types.push((name.clone(), named));
            continue;
        }
        let argument = format!("schema[\"{name}\"]");
        if let Some(attributes) = attributes.filter(|attributes| !attributes.contains(name)) {
            let nearest = did_you_mean(name, attributes.iter().map(String::as_str));
            problems.push(problem(&argument, value, &format!("is not among attrs{nearest}")));
        }
        let type_name = if let InputValue::Text(text) = value { text } else { "" };
        if let Some(found) = ColumnType::from_name(type_name) {
            types.push((name.clone(), found));
        } else {
            let names: Vec<_> = ColumnType::ALL.iter().map(|known| known.name()).collect();
            let nearest = did_you_mean(type_name, names.iter().copied());
            let message = format!("{} is not a type: use one of {}{nearest}", value.shown(), names.join(", "));
            problems.push(problem(&argument, value, &message));
        }
    }
    (types, problems)
}

fn problem(argument: &str, value: &InputValue, message: &str) -> Problem {
    Problem { argument: sanitize(argument), path: String::new(), message: sanitize(message), value: value.shown() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, InputValue)]) -> InputValue {
        InputValue::Map(entries.iter().map(|(name, given)| ((*name).to_owned(), given.clone())).collect())
    }

    #[test]
    fn every_type_has_its_name() {
        for known in ColumnType::ALL {
            let given = InputValue::Text(known.name().to_owned());
            let (types, problems) = check(&map(&[("a", given)]), Some(&["a".to_owned()]));
            assert_eq!(types, [("a".to_owned(), *known)]);
            assert_eq!(problems, []);
        }
    }

    #[test]
    fn all_problems_are_reported_with_their_argument() {
        let text = |text: &str| InputValue::Text(text.to_owned());
        let given = map(&[("prize", text("int64")), ("price", text("int46")), ("name", InputValue::Integer(7))]);
        let attributes = ["price".to_owned(), "name".to_owned()];
        let (_, problems) = check(&given, Some(&attributes));
        for (problem, name) in problems.iter().zip(["prize", "price", "name"]) {
            assert_eq!(problem.argument, format!("schema[\"{name}\"]"));
        }
        assert_eq!(problems.len(), 3);
        assert!(problems[0].message.contains("mean \"price\""), "{}", problems[0]);
        assert!(problems[1].message.contains("mean \"int64\""), "{}", problems[1]);
        assert_eq!(check(&text("int64"), None).1.len(), 1);
        assert_eq!(check(&InputValue::Null, None).1, []);
    }
}
