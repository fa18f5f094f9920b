"""The benches run and check what they time; how fast they are is not looked at here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

BENCHES = Path(__file__).parents[2] / "benches"

RUST_BENCH = """\
decode                fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ decoder                          │               │               │               │         │
│  ├─ Contract        9.527 ms      │ 11.27 ms      │ 9.7 ms        │ 9.8 ms        │ 20      │ 20
│  │                  3.1 GB/s      │ 2.2 GB/s      │ {median} │ 2.7 GB/s      │         │
│  ╰─ Escapes         54.05 ms      │ 54.05 ms      │ 54.05 ms      │ 54.05 ms      │ 1       │ 1
│                     503.2 MB/s    │ 503.2 MB/s    │ 503.2 MB/s    │ 503.2 MB/s    │         │
╰─ serde_visitor                    │               │               │               │         │
   ├─ Contract        40 ms         │ 40 ms         │ 40 ms         │ 40 ms         │ 1       │ 1
   │                  650 MB/s      │ 650 MB/s      │ 650 MB/s      │ 650 MB/s      │         │
   ╰─ Escapes         128.7 ms      │ 128.7 ms      │ 128.7 ms      │ 128.7 ms      │ 1       │ 1
                      1.006 GB/s    │ 1.006 GB/s    │ 1.006 GB/s    │ 1.006 GB/s    │         │
"""


def run(script: str, *arguments: str, given: str = "") -> str:
    done = subprocess.run(  # noqa: S603 - our own bench
        [sys.executable, str(BENCHES / script), *arguments],
        input=given,
        capture_output=True,
        encoding="utf-8",
        timeout=55,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def measures(path: Path) -> dict[str, Any]:
    return {each["name"]: each for each in json.loads(path.read_text(encoding="utf-8"))["measures"]}


def test_the_bench_of_the_embedded_service_works(tmp_path: Path) -> None:
    printed = run("sandbox.py", "--smoke", "--out", str(tmp_path))
    found = measures(tmp_path / "sandbox.json")
    for name in ("one customer: searches", "codes of a member: searches", "2,000 rows: rows"):
        assert found[name]["value"] > 0
        assert found[name]["unit"] == "1/s"
        assert name in printed


@pytest.mark.parametrize(
    ("part", "names"),
    [
        (
            "frames",
            ["2,000 rows to pandas: requests over dataaccess", "2,000 rows over the wire: to nowhere over recv"],
        ),
        ("rows", ["2,000 rows to dicts on two cores: urllib3+msgspec over dataaccess"]),
        ("calls", ["one record: requests over dataaccess", "one record, 16 threads: pyreqwest over dataaccess"]),
        ("growth", ["time of a row when streamed: slowest over quickest"]),
        ("start", ["import in a new process: requests"]),
    ],
)
def test_the_benches_of_the_client_work(part: str, names: list[str], tmp_path: Path) -> None:
    printed = run("client.py", "--smoke", "--only", part, "--out", str(tmp_path))
    found = measures(tmp_path / "client.json")
    for name in names:
        assert found[name]["value"] > 0
        assert name in printed


def test_the_bench_of_scans_works(tmp_path: Path) -> None:
    printed = run("scans.py", "--smoke", "--out", str(tmp_path))
    found = measures(tmp_path / "scans.json")
    name = "40 requests of 50 ms, 32 at once: over the ideal"
    assert found[name]["value"] >= 1
    assert name in printed
    if sys.platform == "linux":
        assert found["1,000 rows in 2 requests into a folder of Parquet: size of the files"]["value"] > 0


def test_the_capacity_follows_from_the_figures(tmp_path: Path) -> None:
    task = "10,000,000 rows in 100 requests"
    results(
        tmp_path,
        "scans",
        (f"{task} into a folder of Parquet: rows", 1e6, "1/s", None),
        (f"{task} into a folder of Parquet: size of the answers", 250.0, "bytes a row", None),
        (f"{task} into a folder of Parquet: size of the files", 25.0, "bytes a row", None),
        (f"{task} into a folder of Parquet: highest memory", 150.0, "MB", None),
    )
    page = tmp_path / "capacity.md"
    page.write_text((BENCHES.parent / "docs/capacity.md").read_text(encoding="utf-8"), encoding="utf-8")
    by_hand = page.read_text(encoding="utf-8").partition("## What is assumed")[2]
    for _ in range(2):
        run("capacity.py", "--figures", str(tmp_path), "--page", str(page))
        text = page.read_text(encoding="utf-8")
        assert text.count("| answers (JSON) | 250 GB |") == 1
        assert text.count("| files (Parquet, zstd) | 25 GB |") == 1
        # 8 x 5,000 rows a second of the service: a billion in 25,000 seconds.
        assert text.count("| 8 | 6.9 h |") == 1
        assert text.partition("## What is assumed")[2] == by_hand


def test_the_figures_of_the_rust_bench_are_the_medians_of_its_runs(tmp_path: Path) -> None:
    runs = "".join(RUST_BENCH.format(median=median) for median in ("2.6 GB/s", "900 MB/s", "2.9 GB/s"))
    run("decode.py", "--out", str(tmp_path), given=runs)
    found = measures(tmp_path / "decode.json")
    assert {name: (each["value"], each["is_reached"]) for name, each in found.items()} == {
        "decoder: Contract": (2.6, True),
        "decoder: Escapes": (pytest.approx(0.5032), False),
        "serde_visitor: Contract": (0.65, None),
        "serde_visitor: Escapes": (1.006, None),
        "decoder over serde_visitor: Contract": (pytest.approx(4.0), True),
        "decoder over serde_visitor: Escapes": (pytest.approx(0.5, rel=0.01), False),
    }


def results(folder: Path, bench: str, *found: tuple[str, float, str, float | None]) -> None:
    keys = ("name", "value", "unit", "reach")
    results = {
        "version": "9.8.7",
        "time": "2026-01-02T03:04:05+00:00",
        "machine": {"processors": 2, "system": "Linux", "python": "3.11"},
        "measures": [{**dict(zip(keys, each, strict=True)), "less_is_better": False} for each in found],
    }
    (folder / f"{bench}.json").write_text(json.dumps(results), encoding="utf-8")


def test_the_figures_go_into_the_page_and_its_picture(tmp_path: Path) -> None:
    results(
        tmp_path,
        "client",
        ("1,000,000 rows to pandas: dataaccess", 100.0, "ms", None),
        ("1,000,000 rows to pandas: requests", 3000.0, "ms", None),
        ("1,000,000 rows to pandas: requests over dataaccess", 30.0, "x", 20.0),
    )
    results(tmp_path, "scans", ("500 requests of 50 ms, 32 at once: over the ideal", 1.1, "x", 1.15))
    results(tmp_path, "decode", ("decoder: Contract", 2.0, "GB/s", 2.5))
    results(tmp_path, "sandbox", ("one customer: searches", 4000.0, "1/s", 2000))
    page = tmp_path / "performance.md"
    page.write_text((BENCHES.parent / "docs/performance.md").read_text(encoding="utf-8"), encoding="utf-8")
    by_hand = page.read_text(encoding="utf-8").partition("## How it is measured")[2]
    for _ in range(2):
        run("page.py", "--figures", str(tmp_path), "--page", str(page))
        text = page.read_text(encoding="utf-8")
        row = "| 1,000,000 rows to pandas: requests over dataaccess | 30.00 x | at least 20.0 | reached |"
        assert text.count(row) == 1
        assert text.count("| decoder: Contract | 2.00 GB/s | at least 2.5 | MISSED |") == 1
        assert text.partition("## How it is measured")[2] == by_hand
    assert "2026-01-02, version 9.8.7" in text
    drawn = ET.parse(tmp_path / "performance.svg")  # noqa: S314 - our own
    widths = [float(bar.attrib["width"]) for bar in drawn.iter("{http://www.w3.org/2000/svg}rect")][1:]
    assert widths[1] == pytest.approx(widths[0] * 30, rel=0.01)
