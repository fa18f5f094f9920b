//! `User-Agent`: the package, the interpreter and platform, the host, and the program of the user.

use std::env::consts::{ARCH, OS};

use super::Arguments;
use crate::error::{Error, Kind, Result};

/// Most characters of the setting.
const MOST: usize = 256;

/// Such as `dataaccess/0.1.0 (CPython 3.12; Linux x86_64) airflow/3.3 nightly-job/3`.
pub(super) fn resolve(arguments: &Arguments) -> Result<String> {
    let Arguments { user_agent, host, python, .. } = arguments;
    if let Some(given) = user_agent {
        check(given)?;
    }
    let system = match OS {
        "linux" => "Linux",
        "macos" => "Darwin",
        "windows" => "Windows",
        other => other,
    };
    let python = python.as_ref().map(|python| format!("{python}; ")).unwrap_or_default();
    let package = format!("dataaccess/{} ({python}{system} {ARCH})", env!("CARGO_PKG_VERSION"));
    let parts = [Some(&package), host.as_ref(), user_agent.as_ref()];
    Ok(parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" "))
}

fn check(given: &str) -> Result<()> {
    let refuse = |what: String| {
        let hint = "write a name and a version, such as nightly-job/3";
        Err(Error::new(Kind::Config, format!("user_agent {what}")).with_hint(hint))
    };
    if given.trim().is_empty() {
        return refuse("is empty".to_owned());
    }
    if given.len() > MOST {
        return refuse(format!("has {} bytes, and may have {MOST}", given.len()));
    }
    if given != given.trim() || !given.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return refuse("has a line break, a control character, a space at an end, or is not ASCII".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::arguments;

    #[test]
    fn the_parts_come_from_the_package_to_the_program() {
        let text = |host: Option<&str>, python: Option<&str>, user_agent: Option<&str>| {
            let [host, python, user_agent] = [host, python, user_agent].map(|part| part.map(str::to_owned));
            resolve(&Arguments { user_agent, host, python, ..arguments() }).expect("good settings")
        };
        let all = text(Some("cli"), Some("CPython 3.12"), Some("a/1 (b)"));
        assert!(all.starts_with("dataaccess/") && all.ends_with(") cli a/1 (b)"), "{all}");
        assert!(all.contains("(CPython 3.12; "), "{all}");
        assert!(text(None, None, None).ends_with(&format!(" {ARCH})")));
    }
}
