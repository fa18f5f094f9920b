//! Responses with the same records in several shapes.

use std::fmt::Write;

/// The requested attributes.
pub const COLUMNS: [&str; 10] = [
    "id",
    "code",
    "pool_id",
    "audience_type",
    "allocated_audience",
    "code_status",
    "date_created",
    "allocated_time",
    "last_used_source",
    "last_used_time",
];

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// As the API specification shows it.
    Contract,
    /// Strings in other scripts.
    Unicode,
    /// A space behind each comma and colon.
    Spaced,
    /// Nulls left out.
    Omitted,
    /// Each tenth record in another order.
    Shuffled,
    /// `\u` escapes in half of the records.
    Escapes,
    /// Keys that were not requested.
    Extras,
}

/// All shapes.
pub const SHAPES: [Shape; 7] =
    [Shape::Contract, Shape::Unicode, Shape::Spaced, Shape::Omitted, Shape::Shuffled, Shape::Escapes, Shape::Extras];

impl Shape {
    /// A body of so many records.
    pub fn body(self, records: usize) -> Vec<u8> {
        let mut random = Random(7);
        let mut body =
            r#"{"code":200,"message":"Search Business Object success","data":{"status":true,"data":["#.to_owned();
        for row in 0..records {
            if row > 0 {
                body.push(',');
            }
            self.write(&self.members(row, &mut random), &mut body);
        }
        body.push_str("]}}");
        body.into_bytes()
    }

    fn members(self, row: usize, random: &mut Random) -> Vec<(&'static str, String)> {
        let is_allocated = random.below(10) >= 3;
        let is_used = random.below(10) >= 8;
        let when = |is: bool, value: String| if is { value } else { "null".to_owned() };
        let text = |value: String| format!("\"{value}\"");
        let values = [
            text(format!("{:024x}", random.next() << 20 | row as u64)),
            self.name(row, random),
            (17 + random.below(20)).to_string(),
            when(is_allocated, if random.below(2) == 0 { "-1003" } else { "-1007" }.to_owned()),
            when(is_allocated, text(format!("C{:010}", random.below(1 << 30)))),
            [1, 3, 4][random.below(3)].to_string(),
            text(random.time()),
            when(is_allocated, text(random.time())),
            when(is_used, text("web".to_owned())),
            when(is_used, text(random.time())),
        ];
        let mut members: Vec<_> = COLUMNS.into_iter().zip(values).collect();
        self.disturb(&mut members, row, random);
        members
    }

    fn name(self, row: usize, random: &mut Random) -> String {
        let number = random.below(1 << 20);
        match self {
            Self::Unicode => format!("\"春の割引 çödé {number:06}\""),
            Self::Escapes if row.is_multiple_of(2) => format!("\"\\u6625\\u306e\\u5272\\u5f15 {number:06}\""),
            _ => format!("\"SPRING-2024-{number:06}\""),
        }
    }

    fn disturb(self, members: &mut Vec<(&'static str, String)>, row: usize, random: &mut Random) {
        match self {
            Self::Omitted => members.retain(|(_, value)| value != "null"),
            Self::Shuffled if row % 10 != 3 => {}
            Self::Shuffled => {
                for place in (1..members.len()).rev() {
                    members.swap(place, random.below(place + 1));
                }
            }
            Self::Extras => {
                members.insert(3, ("channel_id", "12".to_owned()));
                members.push(("comment", "\"nobody asked\"".to_owned()));
            }
            _ => {}
        }
    }

    fn write(self, members: &[(&str, String)], body: &mut String) {
        let (comma, colon) = if self == Self::Spaced { (", ", ": ") } else { (",", ":") };
        for (place, (key, value)) in members.iter().enumerate() {
            let before = if place == 0 { "{" } else { comma };
            write!(body, "{before}\"{key}\"{colon}{value}").expect("memory");
        }
        body.push('}');
    }
}

/// Pseudo-random numbers with a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 20
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).expect("44 bits") % bound
    }

    fn time(&mut self) -> String {
        let [month, day, hour, minute, second] = [12, 28, 24, 60, 60].map(|bound| self.below(bound));
        format!("2024-{:02}-{:02} {hour:02}:{minute:02}:{second:02}", month + 1, day + 1)
    }
}
