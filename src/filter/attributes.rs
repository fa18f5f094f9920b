//! `attrs`: the attributes to return, and the two formats in which they are sent.

use std::collections::HashSet;
use std::sync::Arc;

use super::input::InputValue;
use super::nearest::did_you_mean;
use super::problems::{ProblemPath, Problems};
use super::values;
use crate::contract::codes;
use crate::contract::search::Attributes;

/// All attributes of a business object, where they are specified or the user declared them.
pub(super) enum KnownAttributes<'a> {
    /// As the API specification has them.
    OfCodes,
    /// As the user declared them for the object with this name, and which of them are strings.
    Declared(&'a str, Vec<&'a str>, Vec<&'a str>),
}

impl<'a> KnownAttributes<'a> {
    /// Those that the user declared, if any.
    pub(super) fn declared(object: Option<&'a str>, declared: &'a InputValue) -> Option<Self> {
        let InputValue::Map(declared) = declared else { return None };
        let names = declared.iter().map(|(name, _)| name.as_str());
        let strings = declared.iter().filter(|(_, kind)| *kind == InputValue::text("string"));
        Some(Self::Declared(object?, names.collect(), strings.map(|(name, _)| name.as_str()).collect()))
    }

    /// Whether an attribute was declared as a string, which integers are converted to.
    pub(super) fn is_declared_string(&self, name: &str) -> bool {
        matches!(self, Self::Declared(_, _, strings) if strings.contains(&name))
    }

    /// Checks that an attribute is one of them.
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        let names = match self {
            Self::OfCodes => codes::ATTRIBUTES.as_slice(),
            Self::Declared(_, names, _) => names,
        };
        if names.contains(&name) {
            return Ok(());
        }
        let shown = InputValue::text(name).shown();
        let advice = did_you_mean(name, names.iter().copied());
        let advice = if advice.is_empty() { format!("; they are {}", names.join(", ")) } else { advice };
        Err(match self {
            Self::OfCodes => format!("{shown} is not an attribute of promotion codes{advice}"),
            Self::Declared(object, _, _) => format!("{object} has no attribute {shown}{advice}"),
        })
    }
}

/// The names of attributes, of the known ones where they are known.
pub(super) fn names(
    input: &InputValue,
    known: Option<&KnownAttributes<'_>>,
    problems: &mut Problems,
) -> Option<Vec<String>> {
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
    names(input, Some(&KnownAttributes::OfCodes), problems)
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
            "a search of promotion codes takes attrs as an array: leave attrs_format out".to_owned()
        }
        format => format!("{} is not a format of attrs: write \"array\" or \"string\"", format.shown()),
    };
    problems.add(&ProblemPath::argument("attrs_format", "attrs"), format, message);
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
