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
            ["2,000 rows to pandas: requests over dataaccess", "2,000 rows to pandas: the best other over dataaccess"],
        ),
        ("rows", ["2,000 rows to dicts on two cores: urllib3+msgspec over dataaccess"]),
        (
            "wire",
            [
                "2,000 rows over the wire: to pyarrow over recv",
                "1,000 rows of one day: to nowhere over recv",
                "1,000 rows in chunks of 8 KiB: to nowhere over recv",
            ],
        ),
        (
            "shapes",
            ["1,000 rows with extras: to nowhere over recv", "1,000 rows with omitted to dicts: dataaccess"],
        ),
        ("tls", ["2,000 rows to pandas by TLS: requests over dataaccess"]),
        (
            "calls",
            ["one record: requests over search_codes", "one record, 16 threads: dataaccess over pyreqwest"],
        ),
        ("asyncio", ["one record, asyncio, 16 at a time: aiohttp over dataaccess"]),
        ("counters", ["instructions: search_codes: context switches"]),
        ("growth", ["time of a row when streamed: slowest over quickest"]),
        ("start", ["import in a new process: requests"]),
    ],
)
def test_the_benches_of_the_client_work(part: str, names: list[str], tmp_path: Path) -> None:
    printed = run("client.py", part, "--smoke", "--out", str(tmp_path))
    found = measures(tmp_path / f"{part}.json")
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
        (f"{task} into a folder of Parquet: rows", 1e6, "1/s"),
        (f"{task} into a folder of Parquet: size of the responses", 250.0, "bytes a row"),
        (f"{task} into a folder of Parquet: size of the files", 25.0, "bytes a row"),
        (f"{task} into a folder of Parquet: highest memory", 150.0, "MB"),
    )
    page = tmp_path / "scale.md"
    page.write_text((BENCHES.parent / "docs/scale.md").read_text(encoding="utf-8"), encoding="utf-8")
    by_hand = page.read_text(encoding="utf-8").partition("## What is assumed")[2]
    for _ in range(2):
        run("capacity.py", "--figures", str(tmp_path), "--page", str(page))
        text = page.read_text(encoding="utf-8")
        assert text.count("| responses (JSON) | 250 GB |") == 1
        assert text.count("| files (Parquet, zstd) | 25 GB |") == 1
        # 8 x 5,000 rows a second of the service: a billion in 25,000 seconds.
        assert text.count("| 8 | 6.9 h |") == 1
        assert text.partition("## What is assumed")[2] == by_hand


def test_the_figures_of_the_rust_bench_are_the_medians_of_its_runs(tmp_path: Path) -> None:
    runs = "".join(RUST_BENCH.format(median=median) for median in ("2.6 GB/s", "900 MB/s", "2.9 GB/s"))
    printed = run("decode.py", "--out", str(tmp_path), given=runs)
    found = measures(tmp_path / "decode.json")
    assert {name: each["value"] for name, each in found.items()} == {
        "decoder: Contract": 2.6,
        "decoder: Escapes": pytest.approx(0.5032),
        "serde_visitor: Contract": 0.65,
        "serde_visitor: Escapes": 1.006,
        "decoder over serde_visitor: Contract": pytest.approx(4.0),
        "decoder over serde_visitor: Escapes": pytest.approx(0.5, rel=0.01),
    }
    verdicts = [line.split()[-1] for line in printed.splitlines() if "over serde_visitor" in line]
    assert verdicts == ["reached", "MISSED"]


def results(folder: Path, bench: str, *found: tuple[str, float, str]) -> None:
    keys = ("name", "value", "unit")
    results = {
        "version": "9.8.7",
        "time": "2026-01-02T03:04:05+00:00",
        "machine": {"processors": 2, "system": "Linux", "python": "3.11"},
        "measures": [dict(zip(keys, each, strict=True)) for each in found],
    }
    (folder / f"{bench}.json").write_text(json.dumps(results), encoding="utf-8")


def test_the_figures_go_into_the_pages_and_the_picture(tmp_path: Path) -> None:
    results(
        tmp_path,
        "frames",
        ("1,000,000 rows to pandas: dataaccess", 100.0, "ms"),
        ("1,000,000 rows to pandas: requests", 3000.0, "ms"),
        ("1,000,000 rows to pandas: urllib3+orjson", 450.0, "ms"),
        ("1,000,000 rows to pandas: requests over dataaccess", 30.0, "x"),
    )
    results(tmp_path, "decode", ("decoder_to_columns: Contract", 2.0, "GB/s"), ("decoder: Floats", 3.0, "GB/s"))
    found: dict[str, str] = {}
    by_hand: dict[str, str] = {}
    for name in ("docs/performance.md", "benches/RESULTS.md"):
        text = (BENCHES.parent / name).read_text(encoding="utf-8")
        by_hand[name] = text.partition("## How it is measured")[2]
        assert by_hand[name]
        (tmp_path / Path(name).name).write_text(text, encoding="utf-8")
    page, all_figures = tmp_path / "performance.md", tmp_path / "RESULTS.md"
    for _ in range(2):
        run("page.py", "--figures", str(tmp_path), "--page", str(page), "--results", str(all_figures))
        found = {name: (tmp_path / Path(name).name).read_text(encoding="utf-8") for name in by_hand}
        assert {name: text.partition("## How it is measured")[2] for name, text in found.items()} == by_hand
        ratios, figures = found.values()
        assert ratios.count("| 1,000,000 rows to pandas | requests | 100 ms | 3,000 ms | 30 x |") == 1
        assert ratios.count("| 1,000,000 rows to pandas | urllib3+orjson | 100 ms | 450 ms | 4.5 x |") == 1
        assert ratios.count("| one record | requests | not measured |  |  |") == 1
        row = "| 1,000,000 rows to pandas: requests over dataaccess | 30.00 x | at least 28 | reached |"
        assert figures.count(row) == 1
        assert figures.count("| decoder_to_columns: Contract | 2.00 GB/s | at least 2.5 | MISSED |") == 1
        assert figures.count("| decoder: Floats | 3.00 GB/s |") == 1
        assert figures.count("| import in a new process: dataaccess | not measured | at most 20 |  |") == 1
    assert "2026-01-02, version 9.8.7" in found["benches/RESULTS.md"]
    drawn = ET.parse(tmp_path / "performance.svg")  # noqa: S314 - our own
    widths = [float(bar.attrib["width"]) for bar in drawn.iter("{http://www.w3.org/2000/svg}rect")][1:]
    assert widths[1] == pytest.approx(widths[0] * 30, rel=0.01)
