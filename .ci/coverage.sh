#!/usr/bin/env bash
# Prints how many lines of the core the Rust tests and the Python tests run together.
#
# Needs Linux, `make setup`, cargo-llvm-cov, and its LLVM tools: `rustup component add llvm-tools`, or the variables
# LLVM_COV and LLVM_PROFDATA. Builds into target/coverage, which keeps a report of all lines: html/index.html.
set -euo pipefail
cd "$(dirname "$0")/.."
features=files,python,sandbox,testing
out=$PWD/target/coverage
python=$out/env/bin/python

export CARGO_TARGET_DIR=$out/build
# Processes merge into nine files: with one for each, thousands of child processes would fill the disk.
export LLVM_PROFILE_FILE_NAME=dataaccess-%9m.profraw
settings=$(cargo llvm-cov show-env --sh)
eval "$settings"
cargo llvm-cov clean --workspace
rm -rf "$out/wheel"

# The counters are in a shared file: a killed process cannot write them at its end.
.venv/bin/maturin build --features "$features" --compatibility linux --out "$out/wheel" -- \
    -C llvm-args=-runtime-counter-relocation
.venv/bin/uv venv --quiet --clear --python .venv/bin/python "$out/env"
.venv/bin/uv pip install --quiet --python "$python" --no-deps -r requirements/test.txt -r requirements/tools.txt "$out"/wheel/*.whl

# A failed test must not withhold the report.
status=0
(
    PYO3_BUILD_EXTENSION_MODULE=1 PYO3_CONFIG_FILE=$(ls -t "$CARGO_TARGET_DIR"/maturin/pyo3-config-*.txt | head -1)
    export PYO3_BUILD_EXTENSION_MODULE PYO3_CONFIG_FILE
    cargo test --locked --no-fail-fast --features "$features"
) || status=1
# Without the test that limits the size of files, since it limits the file of the counters too.
LLVM_PROFILE_FILE=${LLVM_PROFILE_FILE//%9m/%c%9m} "$python" -m pytest -n 4 --dist worksteal --timeout 300 \
    -m 'not (soak or quiet)' -k 'not test_a_file_that_may_not_grow' || status=1
# Some tests start processes with an empty environment, which write their counters here.
find . -maxdepth 1 -name 'default_*.profraw' -exec mv -f {} "$CARGO_TARGET_DIR" \;

# A Rust test that is killed while it writes leaves a damaged file.
cargo llvm-cov report --failure-mode all --lcov --output-path "$out/rust.lcov"
cargo llvm-cov report --failure-mode all --html --output-dir "$out"
"$python" - "$out/rust.lcov" <<'TABLE'
import sys
from pathlib import Path

rooms = dict.fromkeys("client decode filter retry folder store scan sum".split(), (0, 0))
for record in Path(sys.argv[1]).read_text().split("end_of_record\n"):
    lines = record.splitlines()
    for path in [Path(line[3:]).relative_to(Path.cwd()) for line in lines if line.startswith("SF:")]:
        room = path.with_suffix("").parts[1]
        if path.parts[0] != "src" or room not in rooms or "tests" in path.with_suffix("").parts:
            continue
        # Unit tests are at the end of a file, and do not count.
        source = path.read_text().partition("\nmod tests {\n")[0].count("\n") + 1
        counts = [line[3:].split(",") for line in lines if line.startswith("DA:")]
        runs = [int(count) > 0 for number, count, *_ in counts if int(number) <= source]
        for name in (room, "sum"):
            rooms[name] = rooms[name][0] + sum(runs), rooms[name][1] + len(runs)
for name, (covered, total) in rooms.items():
    print(f"{name:8}{covered:7} of{total:7} lines {covered / max(total, 1):7.1%}")
TABLE
exit "$status"
