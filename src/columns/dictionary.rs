//! Names of values as dictionaries, as other libraries and Parquet files have them: a category of pandas, an enum.
//!
//! In this package such a column has strings. The dictionary begins with the names that the API specification has, in
//! its order, so that all batches have the same; other values follow.

use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{Array as _, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::column_type::{ColumnType, NAME, TYPE};
use super::values::texts;
use super::{with_arrays, with_data_types};
use crate::error::{Result, defect};

/// The schema with names as dictionaries.
pub fn with_dictionaries(schema: &Schema) -> SchemaRef {
    let data_type = DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into());
    with_data_types(schema, |field| is_named(field).then(|| data_type.clone()))
}

/// The batch with names as dictionaries.
///
/// # Errors
/// None for a batch of this package.
pub fn to_dictionaries(batch: &RecordBatch) -> Result<RecordBatch> {
    with_arrays(batch, &with_dictionaries(batch.schema_ref()), |field, array| {
        is_named(field).then(|| dictionary(field, array)).transpose()
    })
}

fn is_named(field: &Field) -> bool {
    field.metadata().get(TYPE).is_some_and(|mark| mark == NAME)
}

fn dictionary(field: &Field, array: &ArrayRef) -> Result<ArrayRef> {
    let Some(ColumnType::Name(names)) = ColumnType::named(field.name()) else {
        return Err(defect(&format!("the values of {} have no names", field.name())));
    };
    let names = StringArray::from_iter_values(names.iter().map(|(name, _)| name));
    let mut builder = StringDictionaryBuilder::<Int32Type>::new_with_dictionary(array.len(), &names)
        .map_err(|error| defect("cannot build the dictionary").with_source(error))?;
    texts(array).each(|text| builder.append_option(text));
    Ok(Arc::new(builder.finish()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use arrow_array::StringViewArray;
    use arrow_array::cast::AsArray as _;

    use super::*;

    #[test]
    fn names_come_first_and_other_values_follow() {
        let texts = [Some("used"), None, Some("2"), Some("available"), Some("2")];
        let arrays: [ArrayRef; 2] =
            [Arc::new(StringArray::from_iter(texts)), Arc::new(StringViewArray::from_iter(texts))];
        for array in arrays {
            let mark = HashMap::from([(TYPE.to_owned(), NAME.to_owned())]);
            let field = Field::new("code_status", array.data_type().clone(), true).with_metadata(mark);
            let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap();
            let batch = to_dictionaries(&batch).unwrap();
            assert_eq!(batch.schema(), with_dictionaries(batch.schema_ref()));
            let column = batch.column(0).as_dictionary::<Int32Type>();
            let names: Vec<_> = column.values().as_string::<i32>().iter().flatten().collect();
            assert_eq!(names, ["available", "sent", "used", "2"]);
            let keys: Vec<_> = column.keys().iter().collect();
            assert_eq!(keys, [Some(2), None, Some(3), Some(0), Some(3)]);
        }
    }

    #[test]
    fn other_columns_stay_as_they_are() {
        let field = Field::new("code_status", DataType::Utf8, true);
        let column: ArrayRef = Arc::new(StringArray::from(vec!["used"]));
        let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![column]).unwrap();
        assert_eq!(to_dictionaries(&batch).unwrap(), batch);
    }
}
