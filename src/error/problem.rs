//! What is wrong with a request: all problems, in one error.

use std::fmt;

use serde::Serialize;

use super::{Error, Kind};

/// One thing that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What the caller typed, such as `code_status[1]`.
    pub argument: String,
    /// Its path in the request body, such as `filters.OR[0].AND[2].value`; empty when it is not sent.
    pub path: String,
    /// What is wrong and what to write instead.
    pub message: String,
    /// The value as the caller would recognise it, shortened.
    pub value: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.argument, self.message)
    }
}

impl Error {
    /// The error that reports all problems of a request. Python's `ValidationError` writes its own message of several.
    pub fn validation(problems: Vec<Problem>) -> Self {
        let message = match problems.as_slice() {
            [] => String::new(),
            [problem] => problem.to_string(),
            [first, others @ ..] => format!("{first}; and {} more", others.len()),
        };
        let mut error = Self::new(Kind::Validation, message);
        error.0.problems = problems;
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_validation_error_of_several_problems_shows_the_first_and_counts_the_others() {
        let problem = |number: usize| Problem {
            argument: format!("code_status[{number}]"),
            path: String::new(),
            message: "wrong".to_owned(),
            value: number.to_string(),
        };
        let error = Error::validation((0..12).map(problem).collect());
        assert!(error.message().starts_with("code_status[0]: wrong; ") && error.message().contains(" 11 "), "{error}");
        assert_eq!(error.problems().len(), 12);
    }
}
