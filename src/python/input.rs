//! Arguments of a request from Python as [`InputValue`].
//!
//! It refuses nothing: a value that no request can hold becomes `Other`, so that the core reports all problems together.
//! Depth and number of values are limited, also for lists that contain themselves.

use std::fmt;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDate, PyDict, PyFloat, PyInt, PyIterator, PyList, PyMapping, PyString, PyTime,
    PyTuple, PyType,
};

use crate::error::excerpt;
use crate::filter::{ColumnCondition, Comparison, Days, InputValue, Method, Tree};

/// Levels of lists, dicts and expressions that are read.
const DEPTH: usize = 200;
/// Values of one argument, on all levels together, that are read.
const VALUES: usize = 1_000_000;
/// Characters of the repr of an unknown object.
const SHOWN: usize = 60;

/// Reads a Python value. Raises what an iterable of the caller raises meanwhile.
pub(super) fn input(object: &Bound<'_, PyAny>) -> PyResult<InputValue> {
    Reader { values_left: VALUES }.read(object, DEPTH)
}

/// Counts the values that were read of one argument.
struct Reader {
    values_left: usize,
}

impl Reader {
    fn read(&mut self, object: &Bound<'_, PyAny>, depth: usize) -> PyResult<InputValue> {
        static ENUM: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        if let Some(scalar) = plain(object)? {
            return Ok(scalar);
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Ok(too_deep(object));
        };
        // Most values are in lists: what follows asks an object several times what it can do.
        if object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyTuple>() {
            return self.elements(object, object.try_iter()?, depth);
        }
        if let Some(filter) = self.filter(object, depth)? {
            return Ok(filter);
        }
        if let Ok(fields) = object.cast::<PyDict>() {
            return self.map(object, fields.iter(), depth);
        }
        if let Ok(mapping) = object.cast::<PyMapping>() {
            let fields: Vec<_> = mapping.items()?.iter().map(|item| item.extract()).collect::<PyResult<_>>()?;
            return self.map(object, fields.into_iter(), depth);
        }
        if object.is_instance(ENUM.import(object.py(), "enum", "Enum")?)? {
            return self.read(&object.getattr("value")?, depth);
        }
        match kind_of_numpy(object)? {
            Some('M') => return self.numpy_times(object, depth),
            // A timedelta64 would become a number without a unit.
            Some('m') => return Ok(shown(object)),
            Some(_) => return self.plain_list_of(object, "tolist", depth),
            None => {}
        }
        for method in ["to_list", "tolist", "to_pylist"] {
            if object.hasattr(method)? {
                return self.plain_list_of(object, method, depth);
            }
        }
        self.iterable(object, depth)
    }

    /// An object of `dataaccess.filters`, by its exact type.
    fn filter(&mut self, object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<InputValue>> {
        static EXPRESSION: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static COMPARISON: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static DAYS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let is_exactly = |class: &'static PyOnceLock<Py<PyType>>, name| {
            class.import(object.py(), "dataaccess.filters", name).map(|class| object.get_type().is(class))
        };
        if is_exactly(&EXPRESSION, "Expression")? {
            let tree = self.tree(object, depth)?;
            return Ok(Some(tree.map_or_else(|| too_deep(object), |tree| InputValue::Expression(Box::new(tree)))));
        }
        if is_exactly(&COMPARISON, "Comparison")? {
            return Ok(Some(InputValue::Comparison(Box::new(self.comparison(object, depth)?))));
        }
        if is_exactly(&DAYS, "Days")? {
            return Ok(Some(InputValue::Days(Box::new(self.days(object, depth)?))));
        }
        Ok(None)
    }

    fn days(&mut self, days: &Bound<'_, PyAny>, depth: usize) -> PyResult<Days> {
        let py = days.py();
        let function: String = days.getattr(intern!(py, "function"))?.extract()?;
        let arguments = days.getattr(intern!(py, "arguments"))?;
        let mut argument = |position: usize| self.read(&arguments.get_item(position)?, depth);
        Ok(match function.as_str() {
            "month" => Days::Month(argument(0)?),
            "last_days" => Days::Last(argument(0)?),
            "yesterday" => Days::Yesterday,
            _ => Days::Range { start: argument(0)?, stop: argument(1)? },
        })
    }

    /// The tree of an expression; `None` when it is too deep.
    fn tree(&mut self, expression: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<Tree<ColumnCondition>>> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(None) };
        let py = expression.py();
        let kind: String = expression.getattr(intern!(py, "kind"))?.extract()?;
        let parts = expression.getattr(intern!(py, "parts"))?.cast_into::<PyTuple>()?;
        if kind == "condition" {
            let column = self.read(&parts.get_item(0)?.getattr(intern!(py, "name"))?, depth)?;
            let comparison = self.comparison(&parts.get_item(1)?, depth)?;
            return Ok(Some(Tree::Leaf(ColumnCondition { column, comparison })));
        }
        let joined = parts.iter().map(|part| self.tree(&part, depth)).collect::<PyResult<Option<Vec<_>>>>()?;
        Ok(joined.map(|joined| if kind == "all" { Tree::All(joined) } else { Tree::Any(joined) }))
    }

    fn comparison(&mut self, comparison: &Bound<'_, PyAny>, depth: usize) -> PyResult<Comparison> {
        let py = comparison.py();
        let method: String = comparison.getattr(intern!(py, "method"))?.extract()?;
        let mut field = |name| self.read(&comparison.getattr(name)?, depth);
        let method = match method.as_str() {
            "matches" => Method::Matches,
            "equals" => Method::Equals,
            "after" => Method::After,
            "before" => Method::Before,
            "since" => Method::Since,
            "until" => Method::Until,
            "on" => Method::On,
            _ => Method::Operator(field(intern!(py, "operator"))?),
        };
        Ok(Comparison {
            method,
            value: field(intern!(py, "value"))?,
            unit: field(intern!(py, "unit"))?,
            data_type: field(intern!(py, "data_type"))?,
        })
    }

    fn map<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        fields: impl Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
        depth: usize,
    ) -> PyResult<InputValue> {
        let mut map = Vec::new();
        for (name, value) in fields {
            if !self.may_read_more() {
                return Ok(too_many(object));
            }
            let name = match plain(&name)? {
                Some(InputValue::Text(name)) => name,
                _ => repr(&name),
            };
            map.push((name, self.read(&value, depth)?));
        }
        Ok(InputValue::Map(map))
    }

    /// `tolist` would drop the unit of numpy times, so they are read as strings.
    fn numpy_times(&mut self, times: &Bound<'_, PyAny>, depth: usize) -> PyResult<InputValue> {
        let texts = times.call_method1("astype", ("str",))?.call_method0("tolist")?;
        Ok(as_times(self.read(&texts, depth)?))
    }

    /// Reads the plain Python values that a library converts its own ones to, if it does.
    fn plain_list_of(&mut self, object: &Bound<'_, PyAny>, method: &str, depth: usize) -> PyResult<InputValue> {
        let values = object.call_method0(method)?;
        if values.get_type().is(object.get_type()) {
            return Ok(shown(object));
        }
        self.read(&values, depth)
    }

    fn iterable(&mut self, object: &Bound<'_, PyAny>, depth: usize) -> PyResult<InputValue> {
        let class = object.get_type();
        let is_one_value = object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>();
        // A table would be read as the names of its columns. A lazy one computes `columns`, so the class is inspected.
        if is_one_value || object.is_instance_of::<PyType>() || class.hasattr("columns")? {
            return Ok(shown(object));
        }
        let Ok(values) = object.try_iter() else {
            return Ok(shown(object));
        };
        self.elements(object, values, depth)
    }

    fn elements(
        &mut self,
        object: &Bound<'_, PyAny>,
        values: Bound<'_, PyIterator>,
        depth: usize,
    ) -> PyResult<InputValue> {
        let mut list = Vec::with_capacity(object.cast::<PyList>().map_or(0, PyListMethods::len));
        for value in values {
            if !self.may_read_more() {
                return Ok(too_many(object));
            }
            list.push(self.read(&value?, depth)?);
        }
        Ok(InputValue::List(list))
    }

    fn may_read_more(&mut self) -> bool {
        let left = self.values_left.checked_sub(1);
        self.values_left = left.unwrap_or_default();
        left.is_some()
    }
}

/// Times from the strings that numpy makes of them.
fn as_times(input: InputValue) -> InputValue {
    match input {
        InputValue::Text(text) if text == "NaT" => {
            InputValue::Other { type_name: "datetime64".to_owned(), shown: text }
        }
        InputValue::Text(text) => InputValue::Moment(text),
        InputValue::List(values) => InputValue::List(values.into_iter().map(as_times).collect()),
        other => other,
    }
}

/// The kind of a numpy scalar or array: `M` for datetime64, `m` for timedelta64.
fn kind_of_numpy(object: &Bound<'_, PyAny>) -> PyResult<Option<char>> {
    // A class may have no module, or one that is not a string.
    let module = object.get_type().getattr_opt("__module__")?.and_then(|module| module.extract::<String>().ok());
    let module = module.unwrap_or_default();
    if module != "numpy" && !module.starts_with("numpy.") {
        return Ok(None);
    }
    let Some(dtype) = object.getattr_opt("dtype")? else { return Ok(None) };
    dtype.getattr("kind")?.extract().map(Some)
}

/// Reads a value that holds no others.
fn plain(object: &Bound<'_, PyAny>) -> PyResult<Option<InputValue>> {
    if object.is_none() {
        return Ok(Some(InputValue::Null));
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Some(InputValue::Bool(value.is_true())));
    }
    if let Ok(number) = object.cast::<PyInt>() {
        return Ok(Some(integer(number)));
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        return Ok(Some(InputValue::Number(number.value())));
    }
    if let Ok(text) = object.cast::<PyString>() {
        // JSON cannot hold a lone surrogate.
        return Ok(Some(text.to_str().map_or_else(|_| shown(object), InputValue::text)));
    }
    if object.is_instance_of::<PyDate>() {
        return moment(object).map(Some);
    }
    Ok(if object.is_instance_of::<PyTime>() { Some(shown(object)) } else { None })
}

fn integer(number: &Bound<'_, PyInt>) -> InputValue {
    if let Ok(number) = number.extract() {
        return InputValue::Integer(number);
    }
    // Python itself refuses to write numbers of thousands of digits.
    let digits = number.py().get_type::<PyInt>().call_method1("__repr__", (number,));
    digits.and_then(|digits| digits.extract()).map_or_else(|_| shown(number), InputValue::BigInteger)
}

/// A date or datetime of any library: all are subclasses of `datetime.date`, as is `NaT`.
fn moment(object: &Bound<'_, PyAny>) -> PyResult<InputValue> {
    let text: String = object.call_method0("isoformat")?.extract()?;
    Ok(if text == "NaT" { shown(object) } else { InputValue::Moment(text) })
}

fn shown(object: &Bound<'_, PyAny>) -> InputValue {
    other(object, format_args!("{}", repr(object)))
}

fn too_deep(object: &Bound<'_, PyAny>) -> InputValue {
    other(object, format_args!("nested deeper than {DEPTH} levels"))
}

fn too_many(object: &Bound<'_, PyAny>) -> InputValue {
    other(object, format_args!("more than {VALUES} values"))
}

fn other(object: &Bound<'_, PyAny>, shown: fmt::Arguments<'_>) -> InputValue {
    let type_name = object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    InputValue::Other { type_name, shown: shown.to_string() }
}

/// The repr of an object, shortened.
fn repr(object: &Bound<'_, PyAny>) -> String {
    match object.repr() {
        Ok(text) => excerpt(&text.to_string_lossy(), SHOWN),
        Err(_) => "without a repr".to_owned(),
    }
}
