//! The switches in the table of docs/service.md are those of the core, word for word.

use dataaccess::sandbox::switches::SWITCHES;

/// The rows between the two marks, each as its cells, without the two lines of the header.
fn rows(page: &str) -> Vec<Vec<String>> {
    let table = page.split("<!-- open points -->").nth(1).unwrap_or_default();
    let lines = table.lines().filter(|line| line.starts_with('|')).skip(2);
    lines
        .map(|line| {
            let cells = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')).unwrap_or_default();
            cells.split('|').map(|cell| cell.trim().to_owned()).collect()
        })
        .collect()
}

#[test]
fn the_switches_of_the_table_are_those_of_the_core() {
    let rows = rows(include_str!("../../docs/service.md"));
    let mut switches = Vec::new();
    for row in &rows {
        let [name, question, choice, reason, values] = row.as_slice() else { panic!("five cells: {row:?}") };
        assert!(![name, question, choice, reason].iter().any(|cell| cell.is_empty()), "{row:?}");
        let anchor = format!("<a id=\"{}\"></a>", name.split('`').nth(1).unwrap_or_default());
        let name = name.strip_prefix(&anchor).unwrap_or_else(|| panic!("its anchor: {row:?}"));
        switches.push((name.trim_matches('`'), values.as_str()));
    }
    switches.retain(|(_, values)| !values.is_empty());
    assert_eq!(switches, SWITCHES);
}
