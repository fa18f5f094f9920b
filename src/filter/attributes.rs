//! `attrs`: the attributes to return.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::input::InputValue;
use super::problems::{Place, Problems};
use super::values;
use crate::contract::codes;

/// All attributes of a business object, where they are specified or the user declared them.
pub(super) struct KnownAttributes<'a> {
    /// The name of the object; none is promotion codes.
    object: Option<&'a str>,
    names: Vec<&'a str>,
    /// Those that were declared as strings, which integers are converted to.
    pub(super) strings: Vec<&'a str>,
}

impl<'a> KnownAttributes<'a> {
    /// As the API specification has them.
    pub(super) fn of_codes() -> Self {
        Self { object: None, names: codes::ATTRIBUTES.to_vec(), strings: Vec::new() }
    }

    /// Those that the user declared, if any.
    pub(super) fn declared(object: Option<&'a str>, declared: &'a InputValue) -> Option<Self> {
        let InputValue::Map(declared) = declared else { return None };
        let names = declared.iter().map(|(name, _)| name.as_str());
        let strings = declared.iter().filter(|(_, kind)| kind.is_text("string"));
        let strings = strings.map(|(name, _)| name.as_str()).collect();
        Some(Self { object: Some(object?), names: names.collect(), strings })
    }

    /// Checks that an attribute is one of them.
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        if self.names.contains(&name) {
            return Ok(());
        }
        let shown = InputValue::text(name).shown();
        let advice = values::nearest_or_all(name, &self.names);
        Err(match self.object {
            None => format!("{shown} is not an attribute of promotion codes{advice}"),
            Some(object) => format!("{object} has no attribute {shown}{advice}"),
        })
    }
}

/// The names of attributes, of the known ones where they are known.
pub(super) fn names(
    input: &InputValue,
    known: Option<&KnownAttributes<'_>>,
    problems: &mut Problems,
) -> Option<Arc<[String]>> {
    let place = || Place::argument("attrs", "attrs");
    let message = match input {
        InputValue::Null => "is required: name the attributes to return, such as [\"id\", \"name\"]".to_owned(),
        InputValue::List(values) if values.is_empty() => "an empty list: name at least one attribute".to_owned(),
        InputValue::Text(text) if text.contains(',') => {
            let names: Vec<_> = text.split(',').map(|name| format!("\"{}\"", name.trim())).collect();
            format!("is one string with commas: write the list [{}]", names.join(", "))
        }
        _ => {
            let names = problems.keep_each(place, input, |value| name(value, known))?;
            let mut seen = BTreeSet::new();
            let repeated: Vec<_> = names.iter().enumerate().filter(|(_, name)| !seen.insert(name.as_str())).collect();
            for (index, name) in &repeated {
                let message = format!("\"{name}\" is named twice");
                problems.add(&place().element(*index), &InputValue::text(name.as_str()), message);
            }
            return repeated.is_empty().then(|| names.into());
        }
    };
    problems.add(&place(), input, message);
    None
}

fn name(value: &InputValue, known: Option<&KnownAttributes<'_>>) -> Result<String, String> {
    let name = values::name(value, "the name of an attribute")?;
    match known {
        Some(known) => known.check(&name).map(|()| name),
        None if name.contains(',') => Err(format!("{} contains a comma: write a list of names", value.shown())),
        _ => Ok(name),
    }
}
