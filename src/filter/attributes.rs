//! `attrs`: the attributes to return, and the two forms in which they are sent.

use super::input::InputValue;
use super::nearest::did_you_mean;
use super::problems::{Place, Problems};
use super::values;
use crate::contract::codes;
use crate::contract::search::Attributes;

/// The names asked for; `known` lists all there are, where the document does.
pub(super) fn names(input: &InputValue, known: Option<&[&str]>, problems: &mut Problems) -> Option<Vec<String>> {
    let place = Place::argument("attrs", "attrs");
    match input {
        InputValue::Null => {
            problems.add(&place, input, "is required: name the attributes to return, such as [\"id\", \"name\"]");
            return None;
        }
        InputValue::List(values) if values.is_empty() => {
            problems.add(&place, input, "an empty list asks for nothing: name at least one attribute");
            return None;
        }
        _ => {}
    }
    let names = problems.keep_each(&place, input, |value| name(value, known))?;
    let mut seen = std::collections::HashSet::new();
    let repeated: Vec<_> = names.iter().enumerate().filter(|(_, name)| !seen.insert(name.as_str())).collect();
    for (index, name) in &repeated {
        problems.add(&place.element(*index), &InputValue::text(name.as_str()), format!("\"{name}\" is named twice"));
    }
    repeated.is_empty().then_some(names)
}

/// The names of promotion code attributes; none named means all but `channel_id`.
pub(super) fn code_names(input: &InputValue, problems: &mut Problems) -> Option<Vec<String>> {
    if input.is_null() {
        return Some(codes::DEFAULT_ATTRIBUTES.map(str::to_owned).to_vec());
    }
    names(input, Some(&codes::ATTRIBUTES), problems)
}

/// The form in which names are sent: section 4.1 shows two, and for promotion codes rule 2 of section 4.2 one.
pub(super) fn as_sent(
    names: Vec<String>,
    form: &InputValue,
    is_promotion_code: bool,
    problems: &mut Problems,
) -> Option<Attributes> {
    let message = match form {
        InputValue::Null => return Some(Attributes::Names(names)),
        InputValue::Text(form) if form == "array" => return Some(Attributes::Names(names)),
        InputValue::Text(form) if form == "string" && !is_promotion_code => {
            return Some(Attributes::Text(names.join(",")));
        }
        InputValue::Text(form) if form == "string" => {
            "a search of promotion codes takes attrs as an array: leave attrs_format out".to_owned()
        }
        form => format!("{} is not a form of attrs: it is \"array\" or \"string\"", form.shown()),
    };
    problems.add(&Place::argument("attrs_format", "attrs"), form, message);
    None
}

fn name(value: &InputValue, known: Option<&[&str]>) -> Result<String, String> {
    let name = values::name(value, "the name of an attribute")?;
    match known {
        Some(known) if !known.contains(&name.as_str()) => Err(unknown(value, &name, known)),
        None if name.contains(',') => Err(format!("{} holds a comma: write a list, one name each", value.shown())),
        _ => Ok(name),
    }
}

fn unknown(value: &InputValue, name: &str, known: &[&str]) -> String {
    let advice = did_you_mean(name, known.iter().copied());
    let advice = if advice.is_empty() { format!("; there are {}", known.join(", ")) } else { advice };
    format!("{} is not an attribute of promotion codes{advice}", value.shown())
}
