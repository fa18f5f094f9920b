//! A scan into one file.

use std::fs;

use super::*;
use crate::files::{Compression, CsvOptions, Location};

const FORMATS: [Format; 2] = [
    Format::JsonLines { compression: Compression::None },
    Format::Csv { options: CsvOptions { separator: b',', escape_formulas: false }, compression: Compression::None },
];

/// The lines of a file with the rows of a scan, without the head.
async fn written(scan: &Scan, client: &Arc<Client>, format: Format) -> Result<(Stats, Vec<String>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    let written = scan.write(client, &Location::Path(path.clone()), format).await;
    assert!(!path.exists(), "it appears when it is published");
    let (stats, complete) = written?;
    complete.publish().await?;
    let text = fs::read_to_string(&path).unwrap();
    let skipped = usize::from(matches!(format, Format::Csv { .. }));
    Ok((stats, text.lines().skip(skipped).map(ToOwned::to_owned).collect()))
}

/// More rows than a batch holds, of which the last never comes.
fn cut_off() -> Reply {
    let long = "x".repeat(1 << 20);
    let body = body(0, &(0..12).map(|number| format!("old-{number}-{long}")).collect::<Vec<_>>());
    let lost = body.slice(..body.len() - 100);
    Reply { body: vec![Step::Bytes(lost), Step::Wait(Duration::from_secs(1)), Step::Lost], ..Reply::status(200) }
}

#[tokio::test(start_paused = true)]
async fn a_file_has_the_rows_of_the_last_attempt() {
    for format in FORMATS {
        for count in [2, 0] {
            let (client, requests) = service(move |asked| match asked.before {
                0 => cut_off(),
                _ => rows(0, &ids("new", count)),
            });
            let (stats, lines) = written(&scan(1), &client, format).await.unwrap();
            assert_eq!(requests.lock().unwrap().len(), 2);
            assert_eq!((stats.figures.rows, lines.len()), (count as u64, count));
            assert!(lines.iter().all(|line| line.contains("new-")), "{lines:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_of_several_requests_has_their_rows_in_order() {
    for format in FORMATS {
        let (client, _) = service(|asked| slow_rows(asked.day, 2));
        let (_, lines) = written(&scan(3), &client, format).await.unwrap();
        let expected: Vec<String> = (0..3).flat_map(|day| ids(&day.to_string(), 2)).collect();
        assert_eq!(lines.len(), expected.len());
        assert!(lines.iter().zip(&expected).all(|(line, id)| line.contains(id)), "{lines:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_leaves_no_file() {
    for format in FORMATS {
        let (client, _) = service(|asked| if asked.day == 1 { Reply::status(400) } else { rows(0, &ids("a", 2)) });
        assert!(written(&scan(2), &client, format).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn parts_of_capped_responses_are_written_too() {
    let (client, _) = capped(30);
    for format in FORMATS {
        let (stats, lines) = written(&scan(3).splitting(true), &client, format).await.unwrap();
        assert_eq!((stats.figures.rows, lines.len()), (270, 270));
    }
}
