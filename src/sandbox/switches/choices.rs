//! The switches that choose one of a few answers, each with the words it is set by.
//!
//! What an answer does stands where it is asked for.

/// A switch that takes one of a few words.
pub trait Choice: Copy + 'static {
    /// The words with what they choose, the default first.
    const WORDS: &'static [(&'static str, Self)];
}

/// Declares a choice: each variant with its word.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$told:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$told])* $variant),+ }

        impl Choice for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }
    };
}

choice! {
    /// Whether `after_date` and `before_date` include the day they name.
    DayComparison {
        /// Both begin beyond it.
        Exclusive = "exclusive",
        /// It belongs to both.
        Inclusive = "inclusive",
    }
}

choice! {
    /// What becomes of a value that the document does not show.
    Unshown {
        /// It breaks a rule.
        Refused = "refused",
        /// It is taken, and no record matches it.
        Unmatched = "unmatched",
    }
}

choice! {
    /// Which forms of `attrs` are taken.
    AttrsAs {
        /// An array of names, or a text of names divided by commas.
        Both = "both",
        /// The array alone.
        Array = "array",
        /// The text alone.
        Text = "text",
    }
}

choice! {
    /// What `data.data` is when no record is found.
    EmptyShape {
        /// `[]`.
        Array = "array",
        /// `{}`.
        Object = "object",
        /// `null`.
        Null = "null",
        /// The member is not there.
        Absent = "absent",
    }
}

choice! {
    /// How `last_used_source` and `last_used_time` are written once set.
    LastUsedType {
        /// As texts.
        Text = "text",
        /// As objects with the text as their `value`.
        Object = "object",
    }
}

choice! {
    /// How `channel_id` is written.
    ChannelIdType {
        /// As a number.
        Number = "number",
        /// As a text of digits.
        Text = "text",
    }
}

choice! {
    /// How `durations`, `responseCode` and `responseMessage` are written once set.
    FinishedTypes {
        /// Milliseconds and code as numbers, the message as a text.
        Plain = "plain",
        /// All as texts, the milliseconds followed by `ms`.
        Text = "text",
    }
}

choice! {
    /// The answer for an unknown `exportId`.
    UnknownExport {
        /// HTTP 404 with code 404.
        NotFound = "not_found",
        /// A success without entries, as for an export that has not begun.
        NoEntries = "no_entries",
    }
}

choice! {
    /// How a malformed request is told; the envelope's code is 400 in any case.
    MalformedRequest {
        /// Also by the HTTP status.
        Status = "status",
        /// By the code alone, with HTTP status 200.
        CodeOnly = "code_only",
    }
}

choice! {
    /// The order of the records.
    RowOrder {
        /// By the identifying attribute.
        Id = "id",
        /// By the identifying attribute, the last one first.
        Reverse = "reverse",
        /// Neighbours far apart, and the same each time.
        Scattered = "scattered",
    }
}

choice! {
    /// The order of an answer's members, which JSON leaves free.
    KeyOrder {
        /// As the document lists them: `code`, `message`, `data`, and `status` before the records.
        CodeFirst = "code_first",
        /// The reverse: the verdict comes after the records.
        CodeLast = "code_last",
    }
}

choice! {
    /// Whether answers are compressed for clients that ask for it.
    Gzip {
        /// Never.
        Off = "off",
        /// Always.
        On = "on",
    }
}
