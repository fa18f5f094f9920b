//! The memory that this process may use, of its container or of the machine.

use std::fs;
use std::sync::OnceLock;

/// Where the system does not say how much memory there is.
const UNKNOWN: u64 = 16 << 30;

/// Half of the memory that this process may use, read once.
pub fn half() -> u64 {
    static HALF: OnceLock<u64> = OnceLock::new();
    *HALF.get_or_init(|| half_of(available(&|path| fs::read_to_string(path).ok())))
}

fn half_of(available: Option<u64>) -> u64 {
    (available.unwrap_or(UNKNOWN) / 2).max(1)
}

/// The memory of the machine, or the least limit of the control groups of this process. `read` reads a file.
fn available(read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().flat_map(|line| of_group(line, read));
    limits.chain(of_machine(read)).min()
}

/// `MemTotal` in bytes.
fn of_machine(read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let information = read("/proc/meminfo")?;
    let total = information.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

/// The limits of a control group and of those around it. `line` is one of `/proc/self/cgroup`: number, controllers and
/// path.
fn of_group(line: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<u64> {
    let mut fields = line.splitn(3, ':');
    let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
        return Vec::new();
    };
    let (mount, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        // Version 1.
        named if named.split(',').any(|name| name == "memory") => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return Vec::new(),
    };
    // In a container, the path may be that of the host: then the group is mounted at the root.
    let ends = path.char_indices().filter(|(_, character)| *character == '/').map(|(at, _)| at).chain([path.len()]);
    let groups = ends.filter_map(|end| path.get(..end)).filter(|group| !group.split('/').any(|part| part == ".."));
    groups.filter_map(|group| read(&format!("{mount}{group}/{file}"))?.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = "MemFree:    5 kB\nMemTotal:       16384 kB\n";

    /// The memory on a system with these files.
    fn memory(files: &[(&str, &str)]) -> Option<u64> {
        available(&|path| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned()))
    }

    #[test]
    fn the_least_limit_counts() {
        let machine = ("/proc/meminfo", MACHINE);
        let group = ("/proc/self/cgroup", "0::/a/b\n");
        assert_eq!(memory(&[]), None);
        assert_eq!(memory(&[machine]), Some(16 << 20));
        assert_eq!(memory(&[machine, group, ("/sys/fs/cgroup/a/b/memory.max", "max\n")]), Some(16 << 20));
        assert_eq!(memory(&[machine, group, ("/sys/fs/cgroup/a/b/memory.max", "4096\n")]), Some(4_096));
        let around = ("/sys/fs/cgroup/a/memory.max", "2048\n");
        assert_eq!(memory(&[machine, group, ("/sys/fs/cgroup/a/b/memory.max", "4096\n"), around]), Some(2_048));
        // As a container sees its own group.
        assert_eq!(memory(&[machine, group, ("/sys/fs/cgroup/memory.max", "1024\n")]), Some(1_024));
        let outside = ("/proc/self/cgroup", "0::/../other\n");
        assert_eq!(memory(&[machine, outside, ("/sys/fs/cgroup/memory.max", "1024\n")]), Some(1_024));
    }

    #[test]
    fn half_is_at_least_a_byte_and_never_unknown() {
        assert_eq!([Some(16 << 20), Some(1), Some(0), None].map(half_of), [8 << 20, 1, 1, UNKNOWN / 2]);
    }

    #[test]
    fn groups_of_version_1_count() {
        let group = ("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n");
        let limit = ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "8192\n");
        assert_eq!(memory(&[("/proc/meminfo", MACHINE), group, limit]), Some(8_192));
        // No limit is written as the greatest number of pages.
        let unlimited = ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(memory(&[("/proc/meminfo", MACHINE), group, unlimited]), Some(16 << 20));
    }
}
