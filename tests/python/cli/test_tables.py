"""Tables in terminals of 60, 80 and 120 columns: what matters is seen, and the last line says what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.raw_server import EXPORT, RESPONSE, always, http, serving

pytestmark = pytest.mark.usefixtures("demo")
WIDTHS = (60, 80, 120)


def shown(run: Any, monkeypatch: pytest.MonkeyPatch, width: int, *words: str) -> list[str]:
    """The lines in a terminal of so many columns."""
    monkeypatch.setenv("NO_COLOR", "1")
    # The fixture asks for 100 columns.
    monkeypatch.setenv("COLUMNS", str(width))
    ended = run(*words, terminal=True)
    assert ended.code == 0
    lines: list[str] = ended.output.splitlines()
    assert max(map(len, lines[:-1]), default=0) <= width
    return lines


@pytest.mark.parametrize("width", WIDTHS)
def test_ids_are_never_cut(run: Any, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    lines = shown(run, monkeypatch, width, "codes", "--on", "2024-01-15")
    assert [line.split()[0] for line in lines[1:4]] == ["demo-code-00015", "demo-code-00075", "demo-code-00134"]
    assert "columns that do not fit: " in lines[-1]
    assert lines[-1].endswith(" (--json writes all)")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_cause_of_a_failure_is_seen(run: Any, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    lines = shown(run, monkeypatch, width, "segment", "5637054")
    (failed,) = [line for line in lines if " failed " in line and "500 The destination" in line]
    assert failed.split()[:2] == ["2", "failed"]
    left_out = "; columns that do not fit: started, took (--json writes all)" if width == 60 else ""
    assert lines[-1] == f"3 entries: 1 running, 1 finished, 1 failed{left_out}"


# What a terminal acts on: a title, a cleared screen, C1, a change of direction, a mark beyond 16 bits.
HOSTILE = "a\x1b]0;x\x07\x1b[2J\x9b31m\u202e\u200b\x7f\r\U000e0041é\u3000🎁"
UNSAFE = set(HOSTILE) - set("a]0;x[2J31mé\u3000🎁")


ROWS = {**RESPONSE, "data": {"status": True, "data": [{"id": HOSTILE, "name": "=1", HOSTILE: "x" * 70_000}]}}
STATUS = {**EXPORT, "data": {"entries": [{"responseMessage": HOSTILE, "endTime": None}]}}
ITEMS = ("items", "customer", "--attrs", "id,name")


@pytest.fixture
def both(run: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a command for a service with this response: what a pipe and what a terminal gets, which is harmless."""

    def both(response: object, *words: str) -> list[str]:
        with serving(always(http(response))) as server:
            monkeypatch.setenv("DATAACCESS_BASE_URL", server.base_url)
            ended = [run(*words, terminal=terminal) for terminal in (False, True)]
        assert [each.code for each in ended] == [0, 0], ended
        assert not UNSAFE & set(ended[1].output)
        return [each.output for each in ended]

    return both


def test_a_terminal_gets_escapes_in_csv(both: Any) -> None:
    piped, shown = both(ROWS, *ITEMS, "--format", "csv")
    assert HOSTILE in piped
    escaped = "a\\x1b]0;x\\x07\\x1b[2J\\x9b31m\\u202e\\u200b\\x7f\\r\\U000e0041é\u3000🎁"
    assert shown.splitlines()[1] in (f'"{escaped}",=1', f"{escaped},=1")


@pytest.mark.parametrize(
    ("response", "words", "value"),
    [
        (ROWS, ITEMS, lambda row: row["id"]),
        (STATUS, ("segment", "3"), lambda status: status["entries"][0]["responseMessage"]),
    ],
    ids=["items", "segment"],
)
def test_a_terminal_gets_the_same_json(both: Any, response: object, words: tuple[str, ...], value: Any) -> None:
    piped, shown = both(response, *words, "--json")
    assert "\\udb40\\udc41" in shown
    assert "é" in shown
    assert "\u202e" in piped
    assert json.loads(shown) == json.loads(piped)
    assert value(json.loads(piped)) == HOSTILE
