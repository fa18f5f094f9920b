//! The names of parts: `day=2024-01-15/part-0.parquet`, or `part-00000.parquet` where requests are not for days.
//!
//! Readers of datasets take `day=…` for a column (a Hive partition).

use std::fmt;

const DAY: &str = "day=";
const PART: &str = "part-";
const ENDING: &str = ".parquet";
/// Digits of the number of a part without a day, so that names sort by it.
const DIGITS: usize = 5;

/// The name of a part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartName {
    /// The day, as `2024-01-15`.
    pub day: Option<String>,
    /// Its number among the parts of the day, or of the folder.
    pub number: usize,
}

impl PartName {
    /// The part with a file name, in the folder of a day or in the folder of the scan.
    pub(super) fn parse(day: Option<&str>, file: &str) -> Option<Self> {
        let number = file.strip_prefix(PART)?.strip_suffix(ENDING)?.parse().ok()?;
        let name = Self { day: day.map(ToOwned::to_owned), number };
        (name.to_string().rsplit('/').next() == Some(file)).then_some(name)
    }
}

impl fmt::Display for PartName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.day {
            Some(day) => write!(formatter, "{}/{PART}{}{ENDING}", day_folder(day), self.number),
            None => write!(formatter, "{PART}{:0DIGITS$}{ENDING}", self.number),
        }
    }
}

/// The name of the folder of a day.
pub(super) fn day_folder(day: &str) -> String {
    format!("{DAY}{day}")
}

/// The day of a folder with this name.
pub(super) fn day_of(folder: &str) -> Option<&str> {
    let day = folder.strip_prefix(DAY)?;
    let is_digit =
        |(place, byte): (usize, u8)| if matches!(place, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    (day.len() == 10 && day.bytes().enumerate().all(is_digit)).then_some(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for (day, number, path) in
            [(Some("2024-01-15"), 12, "day=2024-01-15/part-12.parquet"), (None, 12, "part-00012.parquet")]
        {
            let name = PartName { day: day.map(ToOwned::to_owned), number };
            assert_eq!(name.to_string(), path);
            assert_eq!(PartName::parse(day, path.rsplit('/').next().unwrap()), Some(name));
        }
        for file in ["part-0.parquet", "part-000012.parquet", "part-+0012.parquet", "part-00012.csv", "00012.parquet"] {
            assert_eq!(PartName::parse(None, file), None, "{file}");
        }
        for folder in ["day=2024-1-15", "day=2024-01-15 ", "2024-01-15", "day=today", "day=2024_01_15"] {
            assert_eq!(day_of(folder), None, "{folder}");
        }
        assert_eq!(day_of("day=2024-01-15"), Some("2024-01-15"));
    }
}
