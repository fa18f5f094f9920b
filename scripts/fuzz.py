"""Runs fuzz targets one after another and prints a line for each. Fails if one of them finds something.

    python scripts/fuzz.py 60                  each target for a minute
    python scripts/fuzz.py 7200 readers times  these two, for two hours each

Run it by `make fuzz`, which installs cargo-fuzz.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import IO

FUZZ = Path(__file__).parents[1] / "fuzz"
TARGET_DIR = FUZZ.parent / "target" / "fuzz"
# The inputs of earlier runs, which reached something new, and those that failed.
CORPUS, FINDS = TARGET_DIR / "corpus", TARGET_DIR / "finds"
# The targets whose inputs have words, by the dictionary.
DICTIONARIES = {
    "json": {"readers", "envelope", "filters", "sandbox_body", "sandbox_control"},
    "time": {"retry_after", "times"},
}
# An input takes some milliseconds, and little memory: more is a find.
LIMITS = ("-timeout=20", "-rss_limit_mb=2048", "-max_len=8192")
STATUS = re.compile(r"^#(?P<executions>\d+)\s.*\bcov: (?P<edges>\d+) ft: (?P<features>\d+)", re.MULTILINE)


def cargo_fuzz(command: str, *arguments: str, output: IO[str] | None = None) -> int:
    """Runs a command of cargo-fuzz and returns its exit code."""
    call = ["cargo", "fuzz", command, "--fuzz-dir", str(FUZZ), "--target-dir", str(TARGET_DIR), *arguments]
    # Sanitizers are not stable; the toolchain is.
    environment = {"RUSTC_BOOTSTRAP": "1", **os.environ}
    done = subprocess.run(call, env=environment, stdout=output, stderr=output, check=False)
    return done.returncode


def options(target: str) -> list[str]:
    """The options of libFuzzer for a target."""
    words = [
        f"-dict={FUZZ / 'dictionaries' / name}.dict" for name, targets in DICTIONARIES.items() if target in targets
    ]
    return [*LIMITS, *words, f"-artifact_prefix={FINDS / target}/", "-print_final_stats=1"]


def run(target: str, seconds: int) -> bool:
    """Runs a target and prints a line. Returns whether it found nothing."""
    for folder in (CORPUS / target, FINDS / target):
        folder.mkdir(parents=True, exist_ok=True)
    folders = [str(CORPUS / target), str(FUZZ / "seeds" / target)]
    before = set((FINDS / target).iterdir())
    log = TARGET_DIR / f"{target}.log"
    with log.open("w", encoding="utf-8") as file:
        limit = f"-max_total_time={seconds}"
        code = cargo_fuzz("run", target, *folders, "--", limit, *options(target), output=file)
    status = [
        [*map(int, found.groups())] for found in STATUS.finditer(log.read_text(encoding="utf-8", errors="replace"))
    ]
    executions, edges, features = status[-1] if status else (0, 0, 0)
    late = edges - max((reached for at, reached, _ in status if at <= executions / 2), default=0)
    finds = sorted(path.name for path in set((FINDS / target).iterdir()) - before)
    print(
        f"{target:16} {executions:>12,} executions {edges:>7,} edges, {late} in the second half "
        f"{features:>7,} features {len(finds):>3} finds",
        flush=True,
    )
    passed = code == 0 and executions > 0
    if not passed:
        print(f"  see {log}; the inputs are in {FINDS / target}: {', '.join(finds) or 'none'}", flush=True)
    return passed


def main(arguments: list[str]) -> int:
    """Runs the targets of the command line, or all."""
    seconds, names = int(arguments[0]), arguments[1:]
    if code := cargo_fuzz("build"):
        return code
    manifest = tomllib.loads((FUZZ / "Cargo.toml").read_text(encoding="utf-8"))
    outcomes = [run(target, seconds) for target in names or [each["name"] for each in manifest["bin"]]]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
