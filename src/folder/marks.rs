//! Marks of a folder: what a run notes beside the parts, as names of empty files in the hidden folder.
//!
//! Empty, as polars refuses a folder that has other files than Parquet, also hidden ones.

use url::form_urlencoded::{Serializer, parse};

/// Names of files are no longer than this, and an object store adds the folder.
const LONGEST: usize = 220;
const PREFIX: &str = "mark&";
/// In place of `%`. A `!` of a text is escaped itself.
const ESCAPE: &str = "!";

/// A mark: pairs of a name and a text, written as the name of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// The mark with these pairs. The last text is shortened if the name would be too long.
    #[must_use]
    pub fn new(mut pairs: Vec<(&str, String)>) -> Self {
        loop {
            let written = Serializer::new(String::new()).extend_pairs(&pairs).finish();
            // Windows refuses `*` in names, and object stores encode `%` once more.
            let name = format!("{PREFIX}{}", written.replace('*', "%2A").replace('%', ESCAPE));
            match pairs.last_mut() {
                Some((_, text)) if name.len() > LONGEST && !text.is_empty() => drop(text.pop()),
                _ => return Self(name),
            }
        }
    }

    /// The mark with this name, if it is the name of one.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        name.starts_with(PREFIX).then(|| Self(name.to_owned()))
    }

    /// The pairs.
    #[must_use]
    pub fn pairs(&self) -> Vec<(String, String)> {
        let written = self.0.strip_prefix(PREFIX).unwrap_or_default().replace(ESCAPE, "%");
        parse(written.as_bytes()).into_owned().collect()
    }

    /// The name of its file.
    pub(super) fn name(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_from_its_name_and_a_long_text_is_shortened() {
        let pairs = |text: &str| vec![("part", "day=2024-01-15/part-0.parquet".to_owned()), ("lacks", text.to_owned())];
        for text in ["0 rows, and 10 before", "a/b\\c:d*e?&=%+!", "größer", ""] {
            let mark = Mark::new(pairs(text));
            assert!(!mark.name().contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|', '%']), "{mark:?}");
            let read = Mark::of_name(mark.name()).unwrap();
            assert_eq!(read.pairs()[1], ("lacks".to_owned(), text.to_owned()));
        }
        let long = Mark::new(pairs(&"größer".repeat(99)));
        assert!(long.name().len() <= LONGEST);
        let text = long.pairs().remove(1).1;
        assert!(text.starts_with("größergrößer"));
        assert_eq!(Mark::new(pairs(&text)), long);
        assert_eq!(Mark::of_name("lock"), None);
    }
}
