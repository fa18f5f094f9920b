//! What values of plain Python become. Expressions are evaluated by the interpreter the tests run in.

use std::ffi::CString;

use pyo3::exceptions::PyKeyError;
use pyo3::types::PyList;

use super::*;

/// What a Python expression becomes, with the names of `dataaccess.filters` and a few modules at hand.
fn evaluated(expression: &str) -> PyResult<Given> {
    Python::initialize();
    Python::attach(|py| {
        let path = py.import("sys")?.getattr("path")?.cast_into::<PyList>()?;
        let package = concat!(env!("CARGO_MANIFEST_DIR"), "/python");
        if !path.contains(package)? {
            path.insert(0, package)?;
        }
        let names = PyDict::new(py);
        py.run(
            c"import collections, datetime, decimal, enum, itertools, types, uuid\nfrom dataaccess.filters import *",
            Some(&names),
            None,
        )?;
        py.run(CString::new(PREPARED)?.as_c_str(), Some(&names), None)?;
        given(&py.eval(CString::new(expression)?.as_c_str(), Some(&names), None)?)
    })
}

const PREPARED: &str = r#"
itself = []
itself.append(itself)
twice = []
twice.extend([twice, twice])
deep = 1
for _ in range(300):
    deep = [deep]
Colour = enum.Enum("Colour", {"RED": "red", "ONE": 1})
Number = enum.IntEnum("Number", {"THREE": 3})

class NaT(datetime.datetime):
    def isoformat(self): return "NaT"
    def __repr__(self): return "NaT"

class Series:
    def __init__(self, values): self.values = values
    def to_list(self): return self.values
    def __iter__(self): raise AssertionError("read by to_list")

class Dtype:
    def __init__(self, kind): self.kind = kind

class datetime64:
    __module__ = "numpy"
    def __init__(self, value, kind="M"): self.value, self.dtype = value, Dtype(kind)
    def astype(self, name): return Series.tolist_of(self.value)
    def tolist(self): return 1704067200000000000

class _Plain:
    def __init__(self, value): self.value = value
    def tolist(self): return self.value

Series.tolist_of = _Plain

class longdouble(datetime64):
    __module__ = "numpy"
    def tolist(self): return self
    def __repr__(self): return "longdouble(1)"

class Frame:
    columns = ["a"]
    def __iter__(self): return iter(self.columns)
    def __repr__(self): return "a frame"

class Mute:
    def __repr__(self): raise RuntimeError

def failing():
    yield 1
    raise KeyError("the caller's own")

expression = col("a").equals(1)
for _ in range(300):
    expression = (expression & col("b").equals(2)) | col("c").equals(3)
"#;

fn read(expression: &str) -> Given {
    evaluated(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
}

fn texts(texts: &[&str]) -> Given {
    Given::List(texts.iter().map(|text| Given::text(*text)).collect())
}

fn other(expression: &str) -> (String, String) {
    match read(expression) {
        Given::Other { type_name, shown } => (type_name, shown),
        given => panic!("{expression} became {given:?}"),
    }
}

#[test]
fn plain_values_keep_their_kind() {
    for (expression, expected) in [
        ("None", Given::Null),
        ("True", Given::Bool(true)),
        ("3", Given::Integer(3)),
        ("-2**63", Given::Integer(i64::MIN)),
        ("2**63", Given::BigInteger("9223372036854775808".to_owned())),
        ("Number.THREE", Given::Integer(3)),
        ("3.0", Given::Number(3.0)),
        ("'text'", Given::text("text")),
        ("Colour.RED", Given::text("red")),
        ("Colour.ONE", Given::Integer(1)),
        ("datetime.date(2024, 1, 31)", Given::Moment("2024-01-31".to_owned())),
        ("datetime.datetime(2024, 1, 31, 9, 30)", Given::Moment("2024-01-31T09:30:00".to_owned())),
        (
            "datetime.datetime(2024, 1, 31, tzinfo=datetime.timezone.utc)",
            Given::Moment("2024-01-31T00:00:00+00:00".to_owned()),
        ),
    ] {
        assert_eq!(read(expression), expected, "{expression}");
    }
}

#[test]
fn every_iterable_is_a_list() {
    for expression in [
        "['a', 'b']",
        "('a', 'b')",
        "{'a': 1, 'b': 2}.keys()",
        "(letter for letter in 'ab')",
        "collections.deque('ab')",
        "Series(['a', 'b'])",
    ] {
        assert_eq!(read(expression), texts(&["a", "b"]), "{expression}");
    }
    assert_eq!(read("{'a'}"), texts(&["a"]));
    assert_eq!(read("range(2)"), Given::List(vec![Given::Integer(0), Given::Integer(1)]));
}

#[test]
fn a_mapping_keeps_its_order_and_shows_keys_that_are_no_texts() {
    let expected = Given::Map(vec![("OR".to_owned(), texts(&[])), ("1".to_owned(), Given::Null)]);
    assert_eq!(read("{'OR': [], 1: None}"), expected);
    assert_eq!(read("types.MappingProxyType({'OR': [], 1: None})"), expected);
}

#[test]
fn times_of_numpy_keep_their_meaning() {
    let moment = Given::Moment("2024-01-01T00:00:00.000000000".to_owned());
    assert_eq!(read("datetime64('2024-01-01T00:00:00.000000000')"), moment);
    assert_eq!(read("datetime64(['2024-01-01T00:00:00.000000000'])"), Given::List(vec![moment]));
    assert_eq!(other("datetime64('NaT')"), ("datetime64".to_owned(), "NaT".to_owned()));
    assert_eq!(other("datetime64('5 days', kind='m')").0, "datetime64");
}

#[test]
fn what_no_request_can_hold_is_told_by_type_and_repr() {
    for (expression, type_name, shown) in [
        ("decimal.Decimal('3')", "Decimal", "Decimal('3')"),
        ("b'abc'", "bytes", "b'abc'"),
        ("bytearray(b'abc')", "bytearray", "bytearray(b'abc')"),
        ("datetime.time(9, 30)", "time", "datetime.time(9, 30)"),
        ("NaT(1, 1, 1)", "NaT", "NaT"),
        ("longdouble(1, kind='f')", "longdouble", "longdouble(1)"),
        ("Frame()", "Frame", "a frame"),
        ("Mute()", "Mute", "without a repr"),
        ("int", "type", "<class 'int'>"),
        ("col('x')", "Column", "col('x')"),
        ("'\\ud800'", "str", "'\\ud800'"),
    ] {
        assert_eq!(other(expression), (type_name.to_owned(), shown.to_owned()), "{expression}");
    }
    assert_eq!(other("decimal.Decimal('1' * 100)").1.chars().count(), SHOWN + 1);
    assert_eq!(other("10**5000").0, "int");
}

#[test]
fn reading_ends_whatever_is_given() {
    assert!(read("itself").shown().starts_with("[[[["));
    assert!(matches!(read("deep"), Given::List(_)));
    assert_eq!(other("twice"), ("list".to_owned(), "more than 1000000 values".to_owned()));
    assert_eq!(other("itertools.count()"), ("count".to_owned(), "more than 1000000 values".to_owned()));
    assert_eq!(other("expression"), ("Expression".to_owned(), "nested deeper than 200 levels".to_owned()));
}

#[test]
fn an_error_of_the_caller_s_own_iterable_is_raised() {
    let error = evaluated("failing()").expect_err("the error");
    Python::attach(|py| assert!(error.is_instance_of::<PyKeyError>(py)));
}

#[test]
fn filters_read_as_they_were_written() {
    for expression in [
        "after(\"2024-01-01\")",
        "before(1704067200000)",
        "on(\"2024-01-01\")",
        "op(\"not_matches\", [3, 4])",
        "days(\"2024-01-01\", \"2024-04-01\")",
        "col(\"x\").matches([\"a\", \"b\"])",
        "col(\"x\").equals(3)",
        "col(\"x\").after(1704067200000)",
        "(col(\"x\").equals(1) & col(\"y\").equals(2)) | col(\"z\").op(\"gt\", 3)",
        "col(\"x\").equals(1) & (col(\"y\").equals(2) | col(\"z\").equals(3))",
    ] {
        assert_eq!(read(expression).to_string(), expression);
    }
}

#[test]
fn units_and_data_types_come_along() {
    let Given::Comparison(comparison) = read("after('2024-01-01', unit='HOUR')") else { panic!("a comparison") };
    assert_eq!((comparison.method, comparison.unit), (Method::After, Given::text("HOUR")));
    let Given::Expression(tree) = read("col('x').op('gt', 1, data_type='number', unit='DAY')") else {
        panic!("an expression")
    };
    let Tree::Leaf(ColumnCondition { column, comparison }) = *tree else { panic!("one condition") };
    assert_eq!(column, Given::text("x"));
    assert_eq!(comparison.method, Method::Operator(Given::text("gt")));
    assert_eq!((comparison.data_type, comparison.unit), (Given::text("number"), Given::text("DAY")));
}

#[test]
fn a_lookalike_is_not_taken_for_a_filter() {
    let fake = "type('Comparison', (), {'_given': lambda self: ('after', 1, None, None, None)})()";
    assert_eq!(other(fake).0, "Comparison");
}
