"""`segment`: the status of an export, and the wait for its end."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("demo")


def test_an_export_without_entries_is_a_line_in_a_terminal(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert run("segment", "5637055", terminal=True).output == "no entries yet\n"


def test_the_status_is_json_in_a_pipe_with_and_without_a_wait(run: Any, demo: Any) -> None:
    for words in ((), ("--wait", "--timeout", "1m")):
        ended = run("segment", "5637051", *words)
        status = json.loads(ended.output)
        assert (ended.code, ended.reported, status["message"]) == (0, "", "Success")
        assert (status["entries"][0]["responseCode"], bool(status["entries"][0]["endTime"])) == (200, True)
    # The service learns that the command asks.
    assert demo.requests[-1].headers["user-agent"].endswith(") cli")


def test_a_wait_that_is_too_short_prints_the_last_status(run: Any) -> None:
    ended = run("segment", "5637052", "--wait", "--timeout", "0.2s")
    assert ended.code == 75
    assert json.loads(ended.output)["entries"][0]["endTime"] is None
    assert re.fullmatch(r"dataaccess: .* 5637052 .* 0\.2 s.* raise timeout\n", ended.reported)


def test_a_failed_export_is_an_error_with_its_entries(run: Any, demo: Any) -> None:
    export = demo.start_export(rows=1, seconds=0, succeeds=False)
    ended = run("segment", str(export), "--wait", "--timeout", "30")
    assert ended.code == 69
    assert json.loads(ended.output)["entries"][0]["responseCode"] == 500
    assert ended.reported.count("\n") == 1
    assert ".entries" not in ended.reported
