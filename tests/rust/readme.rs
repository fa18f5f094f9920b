//! The README's table of open points is the table of the core, word for word.

use dataaccess::contract::open_points::OPEN_POINTS;

/// The rows between the two marks, each as its cells; the two lines of the heading are dropped.
fn rows(readme: &str) -> Vec<Vec<String>> {
    let table = readme.split("<!-- open points -->").nth(1).unwrap_or_default();
    let lines = table.lines().filter(|line| line.starts_with('|')).skip(2);
    lines.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn the_table_of_open_points_is_the_one_of_the_core() {
    let expected: Vec<Vec<String>> = OPEN_POINTS
        .iter()
        .map(|point| {
            let name = format!("`{}`", point.name);
            let cells = [point.section, point.question, point.default, point.reason, point.values];
            std::iter::once(name).chain(cells.map(str::to_owned)).collect()
        })
        .collect();
    assert_eq!(rows(include_str!("../../README.md")), expected);
}
