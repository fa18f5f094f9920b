#!/usr/bin/env bash
# One report of the lines that the tests run: of Rust by the tests of both languages, of Python by its own.
#
# `make coverage` calls it with the cargo features. The instrumented build has a target directory of its own, and its
# wheel an environment of its own: .venv and target/debug stay as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
features=$1 workers=$2
out=$PWD/target/coverage
env=$PWD/target/envs/coverage

# The tool of the LLVM that rustc has: of the system, or of rustup's component `llvm-tools`.
llvm_tool() {
    local major found
    major=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
    found=$(command -v "llvm-$1-$major" "$(rustc --print target-libdir)/../bin/llvm-$1" | head -1) || true
    if [ -z "$found" ]; then
        echo "no llvm-$1 of LLVM $major, which rustc has: apt-get install llvm-$major, or rustup component add llvm-tools" >&2
        return 1
    fi
    echo "$found"
}
LLVM_COV=${LLVM_COV:-$(llvm_tool cov)}
LLVM_PROFDATA=${LLVM_PROFDATA:-$(llvm_tool profdata)}
if ! command -v genhtml > /dev/null; then
    echo 'no genhtml, which writes the report: apt-get install lcov' >&2
    exit 1
fi

export LLVM_COV LLVM_PROFDATA CARGO_TARGET_DIR=$out/build
# Processes merge into nine files: with one for each, thousands of child processes would fill the disk.
export LLVM_PROFILE_FILE_NAME=dataaccess-%9m.profraw
settings=$(cargo llvm-cov show-env --sh)
eval "$settings"
cargo llvm-cov clean --workspace
rm -rf "$out/wheel" "$out/python"
mkdir -p "$out/python"

# A failed test must not withhold the report.
status=0
# With counters in a shared file: pytest-xdist kills workers, and tests kill processes, that would write theirs at the end.
.venv/bin/maturin build --features "$features" --compatibility linux --out "$out/wheel" -- \
    -C llvm-args=-runtime-counter-relocation
.venv/bin/uv pip install --offline --no-deps --reinstall --python "$env" "$out"/wheel/*.whl
(
    PYO3_BUILD_EXTENSION_MODULE=1 PYO3_CONFIG_FILE=$(ls -t "$CARGO_TARGET_DIR"/maturin/pyo3-config-*.txt | head -1)
    export PYO3_BUILD_EXTENSION_MODULE PYO3_CONFIG_FILE
    cargo test --locked --no-fail-fast --features "$features"
) || status=1
# Not the tests that coverage breaks: of a second interpreter, in which it cannot run, and of files that may not grow.
LLVM_PROFILE_FILE=${LLVM_PROFILE_FILE//%9m/%c%9m} PYTHONPATH=scripts "$env/bin/coverage" run -m pytest \
    -p coverage_of_workers -n "$workers" --dist worksteal --timeout 300 -m 'not (soak or quiet)' \
    -k 'not (test_p9_another_interpreter or test_a_file_that_may_not_grow)' || status=1
# Of processes with an environment of their own.
find . -maxdepth 1 -name 'default_*.profraw' -exec mv -f {} "$CARGO_TARGET_DIR" \;

# A Rust test that is killed while it writes leaves a damaged file.
cargo llvm-cov report --lcov --failure-mode all --output-path "$out/rust.lcov"
"$env/bin/coverage" combine --quiet
"$env/bin/coverage" lcov --quiet -o "$out/python.lcov"
"$env/bin/python" scripts/coverage_table.py "$out/rust.lcov" "$out/python.lcov" --folder "$out"
genhtml --quiet --title dataaccess --prefix "$PWD" --output-directory "$out" "$out/all.lcov"
echo "the report is $out/index.html, and all lines that were not run are in $out/unvisited.txt"
exit "$status"
