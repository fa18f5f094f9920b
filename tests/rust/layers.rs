//! Which module of `src` may call which, and which external crate has one module alone.
//!
//! The table is that of `ARCHITECTURE.md`. Reads the sources as text: it knows paths that begin at the crate, and nothing
//! of what they mean.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::LazyLock;

/// Each module with the modules it may name, lower layers first, as the page lists them.
static MODULES: LazyLock<Vec<(&str, Vec<&str>)>> = LazyLock::new(|| {
    let page = include_str!("../../ARCHITECTURE.md");
    let table = page.split("| layer | module | contents | may name |\n").nth(1).unwrap();
    let mut modules: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in table.lines().skip(1).take_while(|line| line.starts_with('|')) {
        let cells: Vec<_> = row.trim_end_matches(" |").split(" | ").collect();
        let names = match cells[3] {
            "nothing" => Vec::new(),
            "all" => modules.iter().map(|(name, _)| *name).collect(),
            names => names.split(", ").map(|name| name.trim_matches('`')).collect(),
        };
        modules.push((cells[1].trim_matches('`'), names));
    }
    modules
});

/// External crates that only some modules may name.
const ALONE: [(&str, &[&str]); 29] = [
    // The bindings read Arrow streams that other libraries load into the sandbox.
    ("arrow_array", &["columns", "files", "folder", "scan", "python"]),
    ("arrow_buffer", &["columns"]),
    ("csv", &["files"]),
    ("async_compression", &["transport"]),
    ("arrow_schema", &["columns", "files", "scan", "python"]),
    ("axum", &["sandbox"]),
    ("fearless_simd", &["decode"]),
    ("flate2", &["files", "transport", "sandbox"]),
    ("http_body_util", &["sandbox"]),
    // `config` reads NO_PROXY with the matcher of hyper-util, which takes hyper's `Uri`: reqwest uses the same.
    ("hyper", &["config", "transport", "sandbox"]),
    ("hyper_util", &["config", "sandbox"]),
    ("jiff", &["time", "sandbox"]),
    ("libc", &["files", "regular_file", "transport"]),
    ("object_store", &["store"]),
    ("parquet", &["files"]),
    ("percent_encoding", &["config"]),
    ("pyo3", &["python"]),
    ("pyo3_async_runtimes", &["python"]),
    ("pythonize", &["python"]),
    ("reqwest", &["transport"]),
    ("rustix", &["transport"]),
    // `config` asks for the names of hosts that TLS takes.
    ("rustls", &["config", "transport"]),
    ("sha2", &["folder"]),
    ("tokio", &["observe", "transport", "store", "files", "client", "scan", "sandbox", "python"]),
    ("tower", &["sandbox"]),
    ("tower_layer", &["transport"]),
    ("tower_service", &["transport"]),
    ("url", &["config", "transport", "store", "folder"]),
    ("zstd", &["files", "transport"]),
];

/// Every forbidden name in the source of a module, as sentences.
fn offences(module: &str, source: &str) -> Vec<String> {
    let Some((_, allowed)) = MODULES.iter().find(|(name, _)| *name == module) else {
        return vec![format!("the module `{module}` has no line in the table of layers")];
    };
    let code = without_comments(source);
    let mut found = Vec::new();
    for name in modules_named(&code) {
        let is_module = MODULES.iter().any(|(other, _)| *other == name);
        if is_module && name != module && !allowed.contains(&name) {
            found.push(format!("`{module}` may not name `crate::{name}`"));
        }
    }
    for (external, modules) in ALONE {
        if names_crate(&code, external) && !modules.contains(&module) {
            found.push(format!("`{module}` may not name the crate `{external}`: it belongs to {}", modules.join(", ")));
        }
    }
    if code.contains("super::super::") {
        found.push(format!("`{module}` climbs by `super::super::`: write the path from `crate::`"));
    }
    found
}

/// The source without line comments and doc comments.
fn without_comments(source: &str) -> String {
    let is_comment = |line: &str| line.trim_start().starts_with("//");
    source.lines().filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n")
}

/// What follows each `crate::`, the members of `crate::{…}` each for itself.
fn modules_named(code: &str) -> Vec<&str> {
    code.split("crate::")
        .skip(1)
        .flat_map(|path| path.strip_prefix('{').map_or_else(|| vec![word(path)], members))
        .collect()
}

/// First words of the members of a group whose opening brace was read.
fn members(mut group: &str) -> Vec<&str> {
    let (mut depth, mut found) = (1, Vec::new());
    while depth > 0 {
        if depth == 1 {
            found.push(word(group));
        }
        let Some(end) = group.find(['{', '}', ',']) else { break };
        depth += match &group[end..=end] {
            "{" => 1,
            "}" => -1,
            _ => 0,
        };
        group = &group[end + 1..];
    }
    found.retain(|name| !name.is_empty());
    found
}

/// The identifier at the start of a string.
fn word(text: &str) -> &str {
    text.trim_start().split(|character| !is_identifier(character)).next().unwrap_or_default()
}

/// Whether a path of the code begins with this crate.
fn names_crate(code: &str, external: &str) -> bool {
    code.match_indices(external).any(|(place, _)| {
        let before = code.get(..place).unwrap_or_default();
        let after = code.get(place + external.len()..).unwrap_or_default();
        let begins = !before.ends_with(|character| is_identifier(character) || character == ':');
        let imported = before.ends_with("use ") && !after.starts_with(is_identifier);
        begins && (after.starts_with("::") || imported)
    })
}

/// Whether a character is valid in an identifier.
fn is_identifier(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Offences of all files below a folder of `src`; `module` is known once the first folder is entered.
fn walk(folder: &Path, module: Option<&str>, found: &mut Vec<String>) -> io::Result<usize> {
    let mut files = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let module = module.unwrap_or(stem);
        if path.is_dir() {
            files += walk(&path, Some(module), found)?;
        } else if module != "lib" && path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path)?;
            found.extend(offences(module, &source).into_iter().map(|offence| format!("{}: {offence}", path.display())));
            files += 1;
        }
    }
    Ok(files)
}

#[test]
fn no_module_names_what_it_may_not() {
    let mut found = Vec::new();
    let files = walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), None, &mut found).unwrap();
    assert!(files > 5, "the sources were not found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn modules_are_listed_lower_layers_first() {
    for (place, (module, allowed)) in MODULES.iter().enumerate() {
        for lower in allowed {
            let below = MODULES[..place].iter().any(|(name, _)| name == lower);
            assert!(below, "`{module}` may name `{lower}`, which is not below it");
        }
    }
}

#[test]
fn a_forbidden_edge_is_found_however_it_is_written() {
    let cases = [
        ("contract", "use crate::error::Error;", "`contract` may not name `crate::error`"),
        ("filter", "let verdict = crate::retry::Verdict::Stop;", "`filter` may not name `crate::retry`"),
        ("sandbox", "use crate::{contract::codes::{ID, NAME}, filter};", "`sandbox` may not name `crate::filter`"),
        (
            "decode",
            "use crate::{\n    error::{Error, Kind},\n    cells::Block,\n};",
            "`decode` may not name `crate::cells`",
        ),
        ("retry", "#[tokio::test]", "`retry` may not name the crate `tokio`"),
        ("filter", "use jiff;", "`filter` may not name the crate `jiff`"),
        ("client", "fn body() -> Result<reqwest::Body> {", "`client` may not name the crate `reqwest`"),
        ("client", "use super::super::python;", "`client` climbs"),
        ("attic", "", "the module `attic` has no line"),
    ];
    for (module, source, expected) in cases {
        let found = offences(module, source);
        assert!(matches!(&found[..], [only] if only.starts_with(expected)), "{source}: {found:?}");
    }
}

/// The wheel is built with the features of `pyproject.toml`; only `testing` brings functions that panic or speed up
/// the clock.
#[test]
fn functions_for_tests_are_not_in_the_wheel() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let (pyproject, manifest, bindings) = (read("pyproject.toml"), read("Cargo.toml"), read("src/python/mod.rs"));
    let features = pyproject.lines().find(|line| line.starts_with("features = ")).unwrap();
    assert!(features.contains("\"python\"") && !features.contains("\"testing\""), "{features}");
    assert!(manifest.lines().any(|line| line == "default = []"));
    let uses: Vec<_> = bindings.match_indices("testing").map(|(place, _)| &bindings[..place]).collect();
    assert_eq!(uses.len(), 4, "a module and its use, each behind the feature");
    for before in [uses[1], uses[3]] {
        let line = before.lines().rev().nth(1).unwrap().trim();
        assert_eq!(line, "#[cfg(feature = \"testing\")]");
    }
}
