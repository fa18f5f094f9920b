//! The switches with a few choices, and the words that select them.

/// A switch that is set by one of a few words.
pub trait Choice: Copy + 'static {
    /// The words with their choices, the default first.
    const WORDS: &'static [(&'static str, Self)];
}

/// Declares choices: each variant with its word.
macro_rules! choices {
    ($($(#[$about:meta])* $name:ident { $($(#[$variant_about:meta])* $variant:ident = $word:literal,)+ })+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_about])* $variant),+ }

        impl Choice for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }
    )+};
}

choices! {
    /// Whether `after_date` and `before_date` include the day they name.
    DayComparison {
        /// Neither includes it.
        Exclusive = "exclusive",
        /// Both include it.
        Inclusive = "inclusive",
        /// They compare instants, not days.
        Instants = "instants",
    }

    /// Treatment of an undocumented value.
    Undocumented {
        /// The request is refused.
        Refused = "refused",
        /// It is accepted, and no record matches.
        Unmatched = "unmatched",
    }

    /// Which forms of `attrs` are accepted.
    AttrsFormat {
        /// An array of names, or a comma-separated string.
        Both = "both",
        /// The array only.
        Array = "array",
        /// The string only.
        String = "string",
    }

    /// The value of `data.data` when no record matches.
    EmptyShape {
        /// `[]`.
        Array = "array",
        /// `{}`.
        Object = "object",
        /// `null`.
        Null = "null",
        /// The member is absent.
        Absent = "absent",
    }

    /// Format of `last_used_source` and `last_used_time` once set.
    LastUsedType {
        /// Strings.
        String = "string",
        /// Objects with the string as their `value`.
        Object = "object",
    }

    /// Type of `channel_id`.
    ChannelIdType {
        /// A number.
        Number = "number",
        /// A string of digits.
        String = "string",
    }

    /// Format of `durations`, `responseCode` and `responseMessage` once set.
    FinishedTypes {
        /// Milliseconds and code as numbers, the message as a string.
        Plain = "plain",
        /// All as strings, the milliseconds followed by `ms`.
        String = "string",
    }

    /// The response for an unknown `exportId`.
    UnknownExport {
        /// HTTP 404 with code 404.
        NotFound = "not_found",
        /// A success without entries, as for an export that has not begun.
        NoEntries = "no_entries",
    }

    /// How a malformed request is reported; the envelope's code is always 400.
    MalformedRequest {
        /// Also by HTTP status 400.
        Status = "status",
        /// By the code only, with HTTP status 200.
        CodeOnly = "code_only",
    }

    /// The order of the records.
    RowOrder {
        /// By the identifying attribute.
        Id = "id",
        /// By the identifying attribute, descending.
        Reverse = "reverse",
        /// Shuffled, in the same order each time.
        Scattered = "scattered",
    }

    /// The order of a response's members, which JSON leaves free.
    KeyOrder {
        /// As the specification lists them: `code`, `message`, `data`, and `status` before the records.
        CodeFirst = "code_first",
        /// Reversed: `status` and `code` come after the records.
        CodeLast = "code_last",
    }

    /// Whether responses are compressed for clients that accept it.
    Gzip {
        /// Never.
        Off = "off",
        /// Always.
        On = "on",
    }
}
