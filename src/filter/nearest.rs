//! The known name nearest to a misspelled one, for messages.

/// `; did you mean "…"?`, or an empty string when no known name is similar.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let misspelled = name.trim().to_lowercase();
    let nearest = known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&misspelled, &name.to_lowercase()), name))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    nearest.map(|(_, name)| format!("; did you mean \"{name}\"?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::codes::ATTRIBUTES;

    #[test]
    fn misspelled_names_find_their_name_and_others_none() {
        for (misspelled, name) in [
            ("allocated_tiem", "allocated_time"),
            ("code-status", "code_status"),
            ("Pool_ID", "pool_id"),
            ("last_used", "last_used_time"),
            ("datecreated", "date_created"),
        ] {
            assert_eq!(did_you_mean(misspelled, ATTRIBUTES), format!("; did you mean \"{name}\"?"));
        }
        for name in ["", "zzz", "price"] {
            assert_eq!(did_you_mean(name, ATTRIBUTES), "", "{name}");
        }
    }
}
