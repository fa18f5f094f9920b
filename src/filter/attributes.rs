//! `attrs`: the attributes to return, and the two formats in which they are sent.

use std::collections::HashSet;
use std::sync::Arc;

use super::input::InputValue;
use super::nearest::did_you_mean;
use super::problems::{ProblemPath, Problems};
use super::values;
use crate::contract::codes;
use crate::contract::search::Attributes;
use crate::error::named;

/// The names of attributes; `known` lists all that exist, where they are specified.
pub(super) fn names(input: &InputValue, known: Option<&[&str]>, problems: &mut Problems) -> Option<Vec<String>> {
    let location = ProblemPath::argument("attrs", "attrs");
    let missing = match input {
        InputValue::Null => "is required: name the attributes to return, such as [\"id\", \"name\"]",
        InputValue::List(values) if values.is_empty() => "an empty list: name at least one attribute",
        _ => "",
    };
    if !missing.is_empty() {
        problems.add(&location, input, missing);
        return None;
    }
    if let InputValue::Text(text) = input
        && text.contains(',')
    {
        let names: Vec<_> = text.split(',').map(|name| format!("\"{}\"", name.trim())).collect();
        problems.add(&location, input, format!("is one string with commas: write the list [{}]", names.join(", ")));
        return None;
    }
    let names = problems.keep_each(&location, input, |value| name(value, known))?;
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    if sorted.windows(2).all(|pair| pair.first() != pair.last()) {
        return Some(names);
    }
    let mut seen = HashSet::new();
    let repeated: Vec<_> = names.iter().enumerate().filter(|(_, name)| !seen.insert(name.as_str())).collect();
    for (index, name) in &repeated {
        let message = format!("\"{name}\" is named twice");
        problems.add(&location.element(*index), &InputValue::text(name.as_str()), message);
    }
    None
}

/// The names of attributes of promotion codes; by default all but `channel_id`.
pub(super) fn code_names(input: &InputValue, problems: &mut Problems) -> Option<Vec<String>> {
    if input.is_null() {
        return Some(codes::DEFAULT_ATTRIBUTES.iter().map(|name| (*name).to_owned()).collect());
    }
    names(input, Some(&codes::ATTRIBUTES), problems)
}

/// The names in the format of `attrs_format`: an array, or a string for objects other than promotion codes.
pub(super) fn as_sent(
    names: Arc<[String]>,
    format: &InputValue,
    is_promotion_code: bool,
    problems: &mut Problems,
) -> Option<Attributes> {
    let message = match format {
        InputValue::Null => return Some(Attributes::Names(names)),
        InputValue::Text(format) if format == "array" => return Some(Attributes::Names(names)),
        InputValue::Text(format) if format == "string" && !is_promotion_code => {
            return Some(Attributes::Text(names.join(",")));
        }
        InputValue::Text(format) if format == "string" => {
            format!("a search of promotion codes takes attrs as an array: leave {} out", named("attrs_format"))
        }
        format => format!("{} is not a format of attrs: write \"array\" or \"string\"", format.shown()),
    };
    problems.add(&ProblemPath::argument("attrs_format", "attrs"), format, message);
    None
}

fn name(value: &InputValue, known: Option<&[&str]>) -> Result<String, String> {
    let name = values::name(value, "the name of an attribute")?;
    match known {
        Some(known) if !known.contains(&name.as_str()) => {
            let advice = did_you_mean(&name, known.iter().copied());
            let advice = if advice.is_empty() { format!("; they are {}", known.join(", ")) } else { advice };
            Err(format!("{} is not an attribute of promotion codes{advice}", value.shown()))
        }
        None if name.contains(',') => Err(format!("{} contains a comma: write a list of names", value.shown())),
        _ => Ok(name),
    }
}
