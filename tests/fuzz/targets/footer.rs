//! Parts of any bytes, and with checksums that fit: read alike from the whole file and from its end, never with a byte
//! changed.

#![no_main]

use bytes::Bytes;
use dataaccess::files::{Footer, RowMemory, Unreadable};
use dataaccess_fuzz::Choices;
use memchr::memmem;

/// Bytes that rows may take: a small input can have any number of them.
const MEMORY: u64 = 64 << 20;

libfuzzer_sys::fuzz_target!(
    init: {
        // The Parquet library panics at some forged footers, and the package makes an error of it.
        let abort = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_of_library = panic.location().is_some_and(|place| place.file().contains("/registry/src/"));
            if !is_of_library {
                abort(panic);
            }
        }));
    },
    |content: &[u8]| {
        check(content);
        if let Some(forged) = with_checksums(content) {
            check(&forged);
        }
    }
);

fn check(content: &[u8]) {
    let mut choices = Choices::of(content);
    let bytes = content.len() as u64;
    let start = choices.below(content.len() + 1);
    let in_end = match Footer::in_end(bytes, &content[start..]) {
        Ok(Err(needed)) => {
            assert!((needed as usize) < start, "{needed} of {start}");
            None
        }
        Ok(Ok(footer)) => Some(Ok(footer)),
        Err(damage) => Some(Err(damage)),
    };
    let whole = Footer::in_end(bytes, content).map(|found| found.expect("all bytes are there"));
    if let Some(in_end) = in_end {
        assert_eq!(shown(&in_end), shown(&whole));
    }
    match Footer::in_content(Bytes::copy_from_slice(content), &RowMemory::new(MEMORY)) {
        Ok((footer, batches)) => {
            let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
            assert_eq!(rows as u64, footer.rows);
            assert_eq!(shown(&Ok(footer)), shown(&whole));
            let mut changed = content.to_vec();
            let place = choices.below(changed.len());
            changed[place] ^= 1 << choices.below(8);
            Footer::in_content(changed.into(), &RowMemory::new(MEMORY)).expect_err("a changed byte");
        }
        Err(Unreadable::Damaged(problem)) => assert!(!problem.is_empty()),
        Err(Unreadable::TooLarge(limit)) => assert_eq!(limit, MEMORY),
        Err(Unreadable::Failed(failure)) => panic!("nothing is read from a file: {failure:?}"),
    }
}

fn shown(footer: &Result<Footer, Unreadable>) -> String {
    format!("{footer:?}")
}

/// The same file with the checksums that a writer of it would compute.
fn with_checksums(content: &[u8]) -> Option<Vec<u8>> {
    let mut content = content.to_vec();
    let after = |content: &[u8], key: &[u8]| memmem::rfind(content, key).map(|place| place + key.len());
    let length = u32::from_le_bytes(*content.get(..content.len().checked_sub(4)?)?.last_chunk()?);
    let start = content.len().checked_sub(length as usize + 8)?;
    let data = crc32fast::hash(content.get(..start)?);
    let place = after(&content, b"\"data_crc32\":\"")?;
    content.get_mut(place..place + 8)?.copy_from_slice(format!("{data:08x}").as_bytes());
    let place = after(&content, b"\"tail_crc32\":\"")?;
    content.get_mut(place..place + 8)?.copy_from_slice(b"00000000");
    let tail = crc32fast::hash(content.get(start..)?);
    content[place..place + 8].copy_from_slice(format!("{tail:08x}").as_bytes());
    Some(content)
}
