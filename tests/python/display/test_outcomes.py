"""How segment exports, reports of runs and errors look."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da
from dataaccess.types import SegmentStatus

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def status() -> SegmentStatus:
    with da.Sandbox() as sandbox:
        return sandbox.client().download_segment(sandbox.start_export(rows=1_234, entries=2, seconds=0))


def test_a_status_is_a_dict_wherever_it_goes(status: SegmentStatus) -> None:
    plain = {name: status[name] for name in status}
    assert status == plain
    assert plain == status
    assert isinstance(status, dict)
    assert repr(status) == repr(plain)
    assert json.loads(json.dumps(status)) == plain
    for copied in (pickle.loads(pickle.dumps(status)), copy.deepcopy(status), copy.copy(status), dict(status)):
        assert type(copied) is dict
        assert copied == plain


def test_a_status_shows_a_row_for_each_entry(status: SegmentStatus) -> None:
    first, second = status["entries"]
    begin = {"startTime": "2024-01-15T08:00:00.000Z"}
    second.update({**begin, "endTime": None, "responseCode": None, "responseMessage": EVIL})  # type: ignore[typeddict-item] # plain
    first.update({**begin, "endTime": "2024-01-15T08:05:02.500Z"})  # type: ignore[typeddict-item] # likewise
    lines = str(status).splitlines()
    assert lines[0] == "2 entries: 1 running, 1 finished"
    assert lines[1].split() == ["entry", "state", "rows", "message", "started", "took"]
    assert lines[3].split() == ["1", "finished", "1,234", "200", "OK", "2024-01-15", "08:00:00Z", "5", "min", "2", "s"]
    assert lines[4].split() == ["2", "running", "1,234", *EVIL.split(), "2024-01-15", "08:00:00Z", "–"]  # noqa: RUF001 - a dash
    html = status._repr_html_()
    assert '<span class="good">finished</span>' in html
    assert '<span class="busy">running</span>' in html
    assert "<script>" not in html


def test_entries_of_any_shape_are_shown(status: SegmentStatus) -> None:
    changes = {"startTime": "soon", "endTime": "later", "responseCode": 500, "exportedRows": None}
    status["entries"][0].update(changes)  # type: ignore[typeddict-item] # what a service may send
    assert str(status).splitlines()[3].split() == ["1", "failed", "–", "500", "OK", "soon", "–"]  # noqa: RUF001 - a dash
    status["entries"] = []
    assert str(status) == "no entries yet"
    assert "no entries yet" in status._repr_html_()


def test_a_report_shows_states_retries_and_doubts(tmp_path: Path) -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        client = sandbox.client()
        january = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04"))
        january.to_folder(tmp_path)
        with sandbox.fault("status", status=503, times=1):
            longer = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-06"))
            report = longer.to_folder(tmp_path)
    assert "<th>open</th>" not in report._repr_html_()
    open_report = dataclasses.replace(report, open_days=["2024-01-05"])
    assert "1 day was not over: 2024-01-05; the next run requests it again" in open_report._repr_html_()
    lines = str(report).splitlines()
    requested = f"{report.tasks[0].requested_at:%Y-%m-%d}"
    assert lines[0] == f"{report.rows} rows in 5 tasks: 2 new, 3 kept (requested {requested})"
    assert lines[1] == f"folder:    {tmp_path}"
    assert [line.split(":")[0] for line in lines[2:5]] == ["size", "time", "retries"]
    assert lines[4] == "retries:   1"
    html = report._repr_html_()
    assert '<span class="good">2 new</span><br><span class="dim">3 kept (requested ' in html
    assert html.count("<tr>") == 6 + 1 + 5
    assert ">nothing</td>" in html


def test_what_is_doubtful_is_marked(tmp_path: Path) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"day_zone": "Asia/Ho_Chi_Minh"}) as sandbox:
        scan = sandbox.client().scan_codes(["id", "allocated_time"], allocated_time=da.days("2024-01-01", "2024-01-03"))
        with pytest.warns(da.StrayDayWarning):
            report = scan.to_folder(tmp_path)
    assert "doubtful:  rows outside the requested day" in str(report)
    assert '<span class="doubt wide">rows outside the requested day' in report._repr_html_()


def refused(**arguments: Any) -> da.ValidationError:
    with pytest.raises(da.ValidationError) as caught:
        da.validate_codes(**{"allocated_time": da.after("2024-01-01"), **arguments})
    return caught.value


def test_a_refused_request_is_a_tree_with_its_problems() -> None:
    error = refused(attrs=["id", "nam"], code_status=["sent", 7], limit=0)
    assert error.explain().splitlines() == [
        "├─ attrs = ['id', 'nam']",
        "│  └─ [1] = 'nam'",
        '│     ✗ "nam" is not an attribute of promotion codes; did you mean "name"?',
        "├─ allocated_time = after('2024-01-01')",
        "├─ code_status = ['sent', 7]",
        "│  └─ [1] = 7",
        '│     ✗ 7 is not a value of code_status: 1 ("available"), 3 ("sent"), 4 ("used")',
        "└─ limit = 0",
        "   ✗ 0 is less than 1: leave limit out for all records",
    ]
    html = error._repr_html_()
    assert html.count('class="bad"') == 3
    assert html.count("<ul>") == html.count("</ul>") == 3
    assert "3 problems; nothing was sent" in html
    assert pickle.loads(pickle.dumps(error)).explain() == error.explain()


def test_the_path_to_a_raw_condition_is_one_line() -> None:
    where = {"OR": [{"AND": [{"column": "x", "operator": "equals", "data_type": "string", "value": 3}, {}]}]}
    with pytest.raises(da.ValidationError) as caught:
        da.validate_items("customer", ["customer_id"], where)
    lines = caught.value.explain().splitlines()
    assert lines[:3] == ["├─ item_type_name = 'customer'", "├─ attrs = ['customer_id']", '└─ where["OR"][0]["AND"]']
    assert lines[3].startswith("   ├─ [0]")
    assert lines[4:6] == ['   │  └─ ["value"] = 3', "   │     ✗ must be a list: write [3]"]
    assert lines[6] == "   └─ [1] = {}"


def test_values_of_a_tree_are_escaped_and_cut() -> None:
    error = refused(code_status=[EVIL, "x" * 10_000, "\x1b[2J"])
    html = error._repr_html_()
    assert "<script>" not in html
    assert len(html) < 6_000
    assert "\x1b" not in error.explain()
    assert max(map(len, error.explain().splitlines())) < 400


def test_an_error_of_one_argument_has_a_tree_too(sandbox: da.Sandbox) -> None:
    with pytest.raises(da.ValidationError) as caught:
        sandbox.client().scan_codes(allocated_time=da.on("2024-01-15"), on_suspected_cap="x")  # type: ignore[arg-type] # the mistake
    assert caught.value.explain() == "└─ on_suspected_cap = 'x'\n   ✗ must be 'warn' or 'split', not 'x'"


def test_any_error_can_be_shown(sandbox: da.Sandbox, tmp_path: Path) -> None:
    client = sandbox.client(retry_for=0)
    scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-03"))
    with sandbox.fault("status", status=400, times=1), pytest.raises(da.ScanIncompleteError) as caught:
        scan.to_folder(tmp_path)
    html = caught.value._repr_html_()
    assert "ScanIncompleteError" in html
    assert html.count("RequestRejectedError") == 1
    (failed,) = caught.value.failed.values()
    assert '<th class="dim">sent</th><td class="wide">1 request in ' in failed._repr_html_()
    assert '<summary class="dim">each of 1 failed request</summary>' in failed._repr_html_()


def test_ipython_shows_the_tree_below_the_traceback() -> None:
    shell_class = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell
    config = pytest.importorskip("traitlets.config").Config(HistoryManager={"enabled": False})
    shell = shell_class.instance(config=config)
    try:
        shown: list[str] = []
        shell._showtraceback = lambda _kind, _error, lines: shown.extend(lines)
        done = shell.run_cell("import dataaccess as da\nda.validate_codes(allocated_time=da.on('2024-01-15'), limit=0)")
        assert isinstance(done.error_in_exec, da.ValidationError)
        assert shown[-1].splitlines()[-1] == "   \x1b[1m✗ 0 is less than 1: leave limit out for all records\x1b[0m"
        assert "ValidationError" in shown[-3]
        text = "\n".join(shown)
        assert "dataaccess/_client" not in text
        assert text.count("limit = 0") == 1
    finally:
        shell.clear_instance()
