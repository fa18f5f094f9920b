//! Texts on their way into an array, in either of the two forms that Arrow has for them.

use std::sync::Arc;

use arrow::array::{ArrayBuilder as _, ArrayRef, StringBuilder, StringViewBuilder};

use super::json::{push_compact, push_quoted};

/// Builds an array of texts or of views of them.
#[derive(Debug)]
pub(super) struct Texts {
    form: Form,
    /// Where JSON is written before it is a cell.
    json: String,
}

#[derive(Debug)]
enum Form {
    Plain(StringBuilder),
    Views(StringViewBuilder),
}

impl Texts {
    pub(super) fn new(views: bool) -> Self {
        let form = if views { Form::Views(StringViewBuilder::new()) } else { Form::Plain(StringBuilder::new()) };
        Self { form, json: String::new() }
    }

    #[inline]
    pub(super) fn push(&mut self, text: &str) {
        match &mut self.form {
            Form::Plain(builder) => builder.append_value(text),
            Form::Views(builder) => builder.append_value(text),
        }
    }

    #[inline]
    pub(super) fn push_null(&mut self) {
        match &mut self.form {
            Form::Plain(builder) => builder.append_null(),
            Form::Views(builder) => builder.append_null(),
        }
    }

    /// A text as JSON has it.
    pub(super) fn push_quoted(&mut self, text: &str) {
        self.push_written(|json| push_quoted(json, text));
    }

    /// Checked JSON without white space.
    pub(super) fn push_compact(&mut self, json: &str) {
        self.push_written(|compact| push_compact(compact, json));
    }

    fn push_written(&mut self, write: impl FnOnce(&mut String)) {
        let mut json = std::mem::take(&mut self.json);
        json.clear();
        write(&mut json);
        self.push(&json);
        self.json = json;
    }

    pub(super) fn len(&self) -> usize {
        match &self.form {
            Form::Plain(builder) => builder.len(),
            Form::Views(builder) => builder.len(),
        }
    }

    /// The array of all texts; the builder begins anew.
    pub(super) fn finish(&mut self) -> ArrayRef {
        match &mut self.form {
            Form::Plain(builder) => Arc::new(builder.finish()),
            Form::Views(builder) => Arc::new(builder.finish()),
        }
    }
}
