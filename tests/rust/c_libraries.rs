//! The C code in a wheel has the versions that `SECURITY.md` names.

use std::fs;

#[test]
fn the_libraries_in_c_have_the_versions_that_the_page_names() {
    let page = fs::read_to_string("SECURITY.md").unwrap();
    let zstd = zstd::zstd_safe::version_string();
    assert!(page.contains(&format!("| zstd | {zstd} |")), "zstd is {zstd}");
}
