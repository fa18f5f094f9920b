//! The known name most like a mistaken one, for messages.

/// `; did you mean "…"?`, or nothing when no known name is near.
pub(crate) fn did_you_mean<'a>(asked: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(asked, known).map(|name| format!("; did you mean \"{name}\"?")).unwrap_or_default()
}

fn nearest<'a>(asked: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let asked = asked.trim().to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&asked, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::codes::ATTRIBUTES;

    #[test]
    fn typing_errors_find_their_name_and_strangers_none() {
        for (asked, name) in [
            ("allocated_tiem", "allocated_time"),
            ("code-status", "code_status"),
            ("Pool_ID", "pool_id"),
            ("last_used", "last_used_time"),
            ("datecreated", "date_created"),
        ] {
            assert_eq!(nearest(asked, ATTRIBUTES), Some(name));
        }
        for asked in ["", "zzz", "price"] {
            assert_eq!(did_you_mean(asked, ATTRIBUTES), "", "{asked}");
        }
    }
}
