//! Checks conditions as they were given and makes the filters of a body: of a promotion code search (4.2, 8), or of any
//! other (4.1).

use serde_json::Value;

use super::attributes::KnownAttributes;
use super::given::{COMMON_FIELDS, Conditions, Given};
use super::input::{Comparison, InputValue, Method};
use super::problems::{Notation, Place, Problems};
use super::values::{self, Times, did_you_mean};
use crate::contract::business_object::{CUSTOMER_ID, CUSTOMER_KEY};
use crate::contract::codes::{AUDIENCE_TYPES, MAX_CONDITIONS, OR_GROUPS, POSITIONS, REQUIRED_COLUMN, STATUSES};
use crate::contract::condition::{
    AFTER_DATE, BEFORE_DATE, CODE_CONDITION_TYPE, CONDITION_TYPE, Condition, DATETIME, EQUALS, MATCHES, NUMBER, STRING,
    TIME_UNIT, VALUE_TYPE,
};
use crate::contract::search::{Filters, Group};
use crate::time::{Calendar, Moment};

/// Which rules conditions follow.
pub(super) enum Shape<'a> {
    /// Those of a promotion code search.
    Codes,
    /// Those of the business object with this id, whose columns are of the known ones where they are known.
    Items(Option<i64>, Option<&'a KnownAttributes<'a>>),
}

/// The check of one condition.
struct Check<'a> {
    given: &'a Given,
    /// The numbers of its group, and of the condition in it.
    position: (usize, usize),
    shape: &'a Shape<'a>,
    times: &'a Times<'a>,
    problems: &'a mut Problems,
}

/// Other fields of a condition of a promotion code search. 2.4 lists `value_type` for the generic search alone, 4.1 for
/// every condition.
const CODE_FIELDS: &[&str] = &["type", "extendValue", "value_type"];
/// Other fields of a condition of a generic search.
const ITEM_FIELDS: &[&str] = &["value_type", "condition_type"];

/// What the values of a condition are.
enum Kind {
    /// One time.
    Time,
    /// Specified numbers, or the names that the package gives them.
    Known(&'static [(&'static str, i64)]),
    /// Ids of customers and visitors.
    Audience,
    /// Ids, which are sent as strings, and what they are.
    Id(&'static str),
    /// Of the `data_type` that the caller named.
    Named(String),
    /// Of the `data_type` that follows from them.
    Any,
}

/// What the columns of a promotion code search have, in the order of their positions.
const CODE_COLUMNS: [Kind; POSITIONS.len()] =
    [Kind::Known(&AUDIENCE_TYPES), Kind::Audience, Kind::Known(&STATUSES), Kind::Time];

impl Kind {
    /// The `data_type`, unless it follows from the values.
    fn data_type(&self) -> Option<&str> {
        match self {
            Self::Time => Some(DATETIME),
            Self::Known(_) => Some(NUMBER),
            Self::Audience | Self::Id(_) => Some(STRING),
            Self::Named(name) => Some(name),
            Self::Any => None,
        }
    }

    /// One value.
    fn read(&self, value: &InputValue, column: &str, method: &Method) -> Result<Value, String> {
        let audience = "the id of a customer or visitor";
        match (self, value) {
            (Self::Known(known), value) => return known_number(value, column, known, method),
            (Self::Audience, InputValue::Text(_)) => return values::name(value, audience).map(Value::from),
            (Self::Audience, value) => return values::text_id(value, audience),
            // Operators of dates take Unix milliseconds, also under another `data_type`: seconds would silently be days
            // of January 1970.
            (_, InputValue::Integer(number)) if method.is_operator(&[BEFORE_DATE, AFTER_DATE]) => {
                Moment::from_milliseconds(*number)?;
            }
            _ => {}
        }
        match self {
            Self::Id(what) => values::text_id(value, what),
            Self::Named(name) if name == STRING => values::text(value),
            Self::Named(name) if name == NUMBER => values::number(value),
            Self::Named(_) => values::json(value),
            _ => values::scalar(value),
        }
    }
}

/// The filters of a search, each condition checked at its first place in the body.
pub(super) fn filters(
    conditions: Conditions,
    shape: &Shape<'_>,
    times: &Times<'_>,
    problems: &mut Problems,
) -> Option<Filters> {
    let known_problems = problems.len();
    let Conditions { given, mut groups, place, shown } = conditions;
    // The order within AND is free. Unknown columns go last and are reported below.
    let rank = |index: &usize| given.get(*index).and_then(|given| position(&given.column)).unwrap_or(POSITIONS.len());
    for group in groups.iter_mut().filter(|_| matches!(shape, Shape::Codes)) {
        group.sort_by_key(rank);
    }
    let [types, ids, ..] = POSITIONS;
    let has = |name: &str| given.iter().any(|given| given.column.is_text(name));
    if matches!(shape, Shape::Codes) && groups.len() == OR_GROUPS && has(types) && !has(ids) {
        // The service returns no rows for them (4.2).
        let message = format!("{types} without {ids} silently matches nothing: add the ids, or leave {types} out");
        problems.add(&place, &shown, message);
    }
    let mut checked: Vec<Option<Option<Condition>>> = vec![None; given.len()];
    let mut columns = Vec::new();
    let mut or = Vec::with_capacity(groups.len());
    for (number, group) in groups.iter().enumerate() {
        let mut and = Vec::with_capacity(group.len());
        for (position, index) in group.iter().enumerate() {
            let Some((given, checked)) = given.get(*index).zip(checked.get_mut(*index)) else { continue };
            let condition = checked.get_or_insert_with(|| {
                Check { given, position: (number, position), shape, times, problems }.condition()
            });
            // A condition written twice is one condition.
            if condition.as_ref().is_none_or(|condition| !and.contains(condition)) {
                and.extend(condition.clone());
                columns.push(&given.column);
            }
        }
        or.push(Group { and });
    }
    let all = Place { path: "filters.OR".into(), ..place.clone() };
    match shape {
        Shape::Codes if or.len() == OR_GROUPS => {
            for message in together(&columns) {
                problems.add(&place, &shown, message);
            }
        }
        Shape::Codes => {
            let message = format!(
                "has {} groups joined by OR, and a promotion code search takes exactly {OR_GROUPS}: put several values \
                 of one column into one .matches([...]), or send several searches",
                or.len()
            );
            problems.add(&all, &shown, message);
        }
        Shape::Items(..) => {
            if let Some(message) = or.iter().find_map(|group| empty_range(&group.and, times.calendar)) {
                problems.add(&all, &shown, message);
            }
        }
    }
    (problems.len() == known_problems).then_some(Filters { or })
}

/// The position of a column among the conditions of a promotion code search.
fn position(column: &InputValue) -> Option<usize> {
    let InputValue::Text(name) = column else { return None };
    POSITIONS.iter().position(|position| position == name)
}

/// What is wrong with the columns of a promotion code search taken together: each may be there once, and one is required.
fn together(columns: &[&InputValue]) -> Vec<String> {
    let mut messages = Vec::new();
    let counts = POSITIONS.map(|name| columns.iter().filter(|column| column.is_text(name)).count());
    let all: usize = counts.iter().sum();
    if all > MAX_CONDITIONS {
        messages.push(format!("has {all} conditions, and a promotion code search takes {MAX_CONDITIONS}"));
    }
    for (name, count) in POSITIONS.into_iter().zip(counts).filter(|(_, count)| *count > 1) {
        let advice = match name {
            REQUIRED_COLUMN => "for a range of days, use .on(da.days(start, stop)) in a scan",
            _ => "put its values into one .matches([...])",
        };
        messages.push(format!("{name} is filtered {count} times, and once is allowed: {advice}"));
    }
    let [.., time] = counts;
    if time == 0 {
        let condition = format!("& col(\"{REQUIRED_COLUMN}\").after(\"2024-01-01\")");
        messages.push(format!("{REQUIRED_COLUMN} is required in a promotion code search: add {condition}"));
    }
    messages
}

/// What is wrong with a group whose conditions select no time of a column: the service would respond with no rows.
fn empty_range(group: &[Condition], calendar: &Calendar) -> Option<String> {
    let by_day = |condition: &&Condition| condition.time_unit.as_deref() == Some(TIME_UNIT);
    for column in group.iter().filter(by_day).map(|condition| &condition.column) {
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for Condition { operator, value, .. } in group.iter().filter(by_day).filter(|other| other.column == *column) {
            let times = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let times: Vec<_> =
                times.iter().filter_map(Value::as_i64).map(|time| span(operator, Moment::at(time), calendar)).collect();
            starts.extend(times.first().and_then(|(start, _)| *start));
            ends.extend(times.last().and_then(|(_, end)| *end));
        }
        if let Some((start, end)) = starts.into_iter().max().zip(ends.into_iter().min())
            && start >= end
        {
            let (first, last) = (calendar.zone.day_of(start), calendar.zone.day_of(end.preceding()));
            return Some(format!(
                "{column} has a range of times that begins on {first} and ends on {last}, so it selects no row: write \
                 the earlier day first"
            ));
        }
    }
    None
}

/// The first instant that an operator selects with this time, and the instant after the last one. None where it has no
/// limit, and within a day, where the readings of the specification differ.
pub(crate) fn span(operator: &str, time: Moment, calendar: &Calendar) -> (Option<Moment>, Option<Moment>) {
    match operator {
        EQUALS => (calendar.zone.start_of_day(time).ok(), calendar.zone.start_of_next_day(time).ok()),
        AFTER_DATE => (calendar.start_of_rows(time), None),
        BEFORE_DATE => (None, calendar.end_of_rows(time)),
        _ => (None, None),
    }
}

impl Check<'_> {
    fn condition(&mut self) -> Option<Condition> {
        let Given { column: input, comparison, .. } = self.given;
        let is_complete = self.is_complete();
        let column = match input {
            InputValue::Null if !is_complete => None,
            input => self.keep("column", input, column(input, self.shape)),
        };
        let [value_type, condition_type] = self.other_fields();
        if !is_complete {
            return None;
        }
        let operator = self.operator();
        let kind = self.kind(column.as_deref())?;
        let value = self.value(&kind, column.as_deref().unwrap_or_default());
        let is_string = |value: &Value| value.get(0).is_some_and(Value::is_string);
        let follows = || value.as_ref().map(|value| if is_string(value) { STRING } else { NUMBER });
        let data_type = kind.data_type().or_else(follows)?;
        let time_unit = self.keep("time_unit", &comparison.unit, time_unit(data_type, &comparison.unit));
        let is_codes = self.is_codes();
        let default = if is_codes { self.times.calendar.code_value_type.as_deref() } else { Some(VALUE_TYPE) };
        Some(Condition {
            kind: is_codes.then_some(CODE_CONDITION_TYPE),
            column: column?,
            data_type: data_type.to_owned(),
            operator: operator?,
            value_type: value_type.or_else(|| default.map(str::to_owned)),
            value: value?,
            extend_value: (is_codes && data_type != DATETIME).then(Vec::new),
            time_unit: time_unit?,
            condition_type: (!is_codes).then(|| condition_type.unwrap_or_else(|| CONDITION_TYPE.to_owned())),
        })
    }

    const fn is_codes(&self) -> bool {
        matches!(self.shape, Shape::Codes)
    }

    /// The value of a field that was read; adds the problem otherwise.
    fn keep<T>(&mut self, field: &str, value: &InputValue, read: Result<T, String>) -> Option<T> {
        read.map_err(|message| self.problems.add(&self.place(field), value, message)).ok()
    }

    /// Where a field of the condition is.
    fn place(&self, field: &str) -> Place {
        self.given.place_in(self.position).field(field)
    }

    /// Whether a condition of a body has the fields that 2.4 requires; others have them.
    fn is_complete(&mut self) -> bool {
        let Given { column, comparison: Comparison { method, value, data_type, .. }, .. } = self.given;
        let (Notation::Body, Method::Operator(operator)) = (&self.given.place.notation, method) else { return true };
        let known_problems = self.problems.len();
        for (name, input) in COMMON_FIELDS.into_iter().zip([column, data_type, operator, value]) {
            if input.is_null() {
                self.problems.add(&self.place(name), input, "is required in a condition");
            }
        }
        let is_list = matches!(value, InputValue::List(_)) || data_type.is_text(DATETIME);
        if self.problems.len() == known_problems && !is_list {
            let message = format!("must be a list: write [{}]", value.shown());
            self.problems.add(&self.place("value"), value, message);
        }
        self.problems.len() == known_problems
    }

    /// Checks the other fields of a body, and returns `value_type` and `condition_type`.
    fn other_fields(&mut self) -> [Option<String>; 2] {
        let (own, foreign, elsewhere) = match self.shape {
            Shape::Codes => (CODE_FIELDS, ITEM_FIELDS, "a generic search"),
            Shape::Items(..) => (ITEM_FIELDS, CODE_FIELDS, "the promotion code search"),
        };
        let is_time = self.given.column.is_text(REQUIRED_COLUMN);
        let [mut value_type, mut condition_type] = [None, None];
        for (name, value) in &self.given.others {
            let only = |specified: &InputValue| {
                let message = || format!("{} is not {specified}, the only specified value", value.shown());
                (value == specified).then_some(()).ok_or_else(message)
            };
            let read = match name.as_str() {
                name if own.contains(&name) => match name {
                    "type" => only(&InputValue::Integer(CODE_CONDITION_TYPE)),
                    "extendValue" if is_time => {
                        Err("belongs to string and number conditions: leave it out here".to_owned())
                    }
                    "extendValue" => only(&InputValue::List(Vec::new())),
                    "value_type" => values::name(value, "a value_type").map(|name| value_type = Some(name)),
                    _ => values::name(value, "a condition_type").map(|name| condition_type = Some(name)),
                },
                name if foreign.contains(&name) => Err(format!("\"{name}\" belongs to {elsewhere}: leave it out here")),
                name => {
                    let known = [&COMMON_FIELDS, own].concat();
                    Err(format!("\"{name}\" is not a field of a condition{}", values::nearest_or_all(name, &known)))
                }
            };
            self.keep(name, value, read);
        }
        [value_type, condition_type]
    }

    /// What the values are: by the table of promotion codes, or by the `data_type` and what is known of the column.
    fn kind(&mut self, column: Option<&str>) -> Option<Kind> {
        let Comparison { method, value, data_type: input, .. } = &self.given.comparison;
        let kind = match (self.shape, input) {
            (Shape::Codes, input) => {
                let kind = CODE_COLUMNS.into_iter().nth(position(&self.given.column)?)?;
                let data_type = kind.data_type()?;
                if !input.is_null() && !input.is_text(data_type) {
                    let (shown, column) = (input.shown(), column?);
                    let message = format!("{shown} is not the data_type of {column}: write \"{data_type}\"");
                    self.problems.add(&self.place("data_type"), input, message);
                }
                kind
            }
            (_, InputValue::Null) if method.is_of_times() || matches!(value, InputValue::Moment(_)) => Kind::Time,
            (Shape::Items(id, known), InputValue::Null) => match column {
                Some(CUSTOMER_KEY) if *id == Some(CUSTOMER_ID) => Kind::Id("the id of a customer"),
                Some(name) if known.is_some_and(|known| known.strings.contains(&name)) => Kind::Id("a string or an id"),
                _ => Kind::Any,
            },
            (_, input) => match self.keep("data_type", input, values::name(input, "a data_type"))? {
                name if name == DATETIME => Kind::Time,
                name => Kind::Named(name),
            },
        };
        Some(kind)
    }

    /// The operator of a method, or of `op()`.
    fn operator(&mut self) -> Option<String> {
        let operator = match &self.given.comparison.method {
            Method::Matches => MATCHES,
            Method::Equals | Method::On => EQUALS,
            Method::After | Method::Since => AFTER_DATE,
            Method::Before | Method::Until => BEFORE_DATE,
            Method::Operator(input) => return self.keep("operator", input, values::name(input, "an operator")),
        };
        Some(operator.to_owned())
    }

    /// The value as it is sent.
    fn value(&mut self, kind: &Kind, column: &str) -> Option<Value> {
        let Comparison { method, value: input, .. } = &self.given.comparison;
        if matches!(kind, Kind::Time) {
            let time = self.time();
            return self.keep("value", input, time);
        }
        let values = self.has_values(column);
        self.keep("value", input, values)?;
        let (given, position) = (self.given, self.position);
        let place = || given.place_in(position).field("value");
        let values = self.problems.keep_each(place, input, |value| kind.read(value, column, method))?;
        let is_string = values.first().is_some_and(Value::is_string);
        let other = values.iter().position(|other| other.is_string() != is_string);
        if let (Kind::Any, Some(other)) = (kind, other) {
            let message =
                format!("has both {STRING} and {NUMBER} values: a condition has one data_type, so write all alike");
            self.problems.add(&place().element(other), input, message);
            return None;
        }
        Some(Value::Array(values))
    }

    /// Refuses values that a comparison cannot hold: times, several in `equals`, and an empty list.
    fn has_values(&self, column: &str) -> Result<(), String> {
        let Comparison { method, value, .. } = &self.given.comparison;
        let what = match value {
            InputValue::Days(_) if self.is_codes() && *method == Method::Matches => {
                "days(…) is a range of times".to_owned()
            }
            _ if self.is_codes() && method.is_of_times() => format!("{}(…) compares times", method.name()),
            InputValue::List(_) if *method == Method::Equals => {
                return Err("equals takes one value: use matches([...]) for several".to_owned());
            }
            InputValue::List(values) if values.is_empty() => {
                return Err("an empty list matches nothing: give a value, or leave the condition out".to_owned());
            }
            _ => return Ok(()),
        };
        Err(format!("{what}, and {column} is not a time: give one value or several"))
    }

    fn time(&self) -> Result<Value, String> {
        let Comparison { method, value: input, .. } = &self.given.comparison;
        // What the caller writes before the name of a comparison: `da.after(t)`, or `.after(t)` on a column.
        let (is, range) = match self.given.place.notation {
            Notation::Arguments => ("da.", "da.days(start, stop)"),
            _ => (".", ".on(da.days(start, stop))"),
        };
        let each = |time: &str| {
            let [last, others @ ..] =
                ["on", "after", "before", "since", "until"].map(|name| format!("{is}{name}({time})"));
            format!("{} or {last}; for a range of days, {range}", others.join(", "))
        };
        match (self.shape, method, input) {
            (Shape::Codes, _, InputValue::List(_)) => Err(format!("takes one time, not a list: write {}", each("t"))),
            (_, _, InputValue::List(_)) => {
                Err("takes one time, not a list: join one condition for each time with |".to_owned())
            }
            (Shape::Codes, Method::Matches, InputValue::Null) if is == "da." => Err(format!(
                "is required: write da.since(\"2024-01-01\"), da.until(…), da.after(…), da.before(…), da.on(…) or {range}"
            )),
            (Shape::Codes, Method::Matches, InputValue::Text(text) | InputValue::Moment(text))
                if self.times.calendar.zone.parse_month(text).is_ok() =>
            {
                let month = range.replace("days(start, stop)", &format!("month(\"{text}\")"));
                Err(format!("is a month, not a time: write {month}"))
            }
            (Shape::Codes, Method::Matches, InputValue::Text(text)) if text.contains('(') => {
                Err(format!("is a condition in quotes: write it without them, such as {range}"))
            }
            // As it can be copied: a datetime in quotes too.
            (Shape::Codes, Method::Matches, InputValue::Text(text) | InputValue::Moment(text)) => {
                self.times.calendar.zone.parse_moment(text)?;
                Err(format!("ambiguous time: use {}", each(&format!("\"{text}\""))))
            }
            (Shape::Codes, Method::Matches, input) => Err(format!("ambiguous time: use {}", each(&input.shown()))),
            _ => self.times.read(&self.given.comparison),
        }
    }
}

fn column(input: &InputValue, shape: &Shape<'_>) -> Result<String, String> {
    let name = values::name(input, "a column")?;
    match shape {
        Shape::Codes if position(input).is_none() => {
            let (shown, known, advice) = (input.shown(), POSITIONS.join(", "), did_you_mean(&name, POSITIONS));
            Err(format!("{shown} is not a column that a promotion code search filters on ({known}){advice}"))
        }
        Shape::Items(_, Some(known)) => known.check(&name).map(|()| name),
        _ => Ok(name),
    }
}

/// `time_unit`, which only datetime conditions have.
fn time_unit(data_type: &str, unit: &InputValue) -> Result<Option<String>, String> {
    match (data_type == DATETIME, unit) {
        (true, InputValue::Null) => Ok(Some(TIME_UNIT.to_owned())),
        (true, unit) => values::name(unit, "a time unit").map(Some),
        (false, InputValue::Null) => Ok(None),
        (false, _) => Err(format!("a time unit needs data_type {DATETIME}, not {data_type}")),
    }
}

/// A specified number, or the name that the package gives it, unless values are sent as given.
fn known_number(value: &InputValue, column: &str, known: &[(&str, i64)], method: &Method) -> Result<Value, String> {
    let is_meant = |(name, number): &&(&str, i64)| match value {
        InputValue::Integer(given) => given == number,
        // A pandas column of integers with missing values holds floats.
        #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "the known values are small integers")]
        InputValue::Number(given) => *given == *number as f64,
        InputValue::Text(given) => name.eq_ignore_ascii_case(given),
        _ => false,
    };
    match (known.iter().find(is_meant), value) {
        (Some((_, number)), InputValue::Text(_)) if matches!(method, Method::Operator(_)) => {
            Err(format!("values of an operator are sent as given: write {number}, not {}", value.shown()))
        }
        (Some((_, number)), _) => Ok(Value::from(*number)),
        (None, value) => {
            let choices: Vec<String> = known.iter().map(|(name, number)| format!("{number} (\"{name}\")")).collect();
            let text = if let InputValue::Text(text) = value { text } else { "" };
            let advice = did_you_mean(text, known.iter().map(|(name, _)| *name));
            Err(format!("{} is not a value of {column}: {}{advice}", value.shown(), choices.join(", ")))
        }
    }
}
