"""All messages of errors, warnings and logs, as users see them: `messages.txt`, for a reader to review as prose.

`ACCEPT_MESSAGES=1 pytest tests/python/messages` writes the file. No other test asserts a sentence.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path

import pytest
from messages.commands import COMMANDS
from messages.conditions import CONDITIONS
from messages.exports import EXPORTS
from messages.files import FILES
from messages.folders import FOLDERS
from messages.items import ITEMS
from messages.logs import LOGS
from messages.network import NETWORK
from messages.not_shown import NOT_SHOWN
from messages.sandboxes import SANDBOXES
from messages.scans import SCANS
from messages.searches import SEARCHES
from messages.settings import SETTINGS
from messages.statuses import RESPONSES, STATUSES
from messages.zones import ZONES
from support.message_places import noting_lines, places
from support.messages import Cases, entry, messages_of

import dataaccess as da

FILE = Path(__file__).with_name("messages.txt")
HEADINGS: dict[str, Cases] = {
    "Settings": SETTINGS,
    "A search of codes": SEARCHES,
    "Items": ITEMS,
    "Conditions in Python and as text": CONDITIONS,
    "Time zones": ZONES,
    "The network": NETWORK,
    "Statuses of the service": STATUSES,
    "Responses that break the contract": RESPONSES,
    "Scans and tables": SCANS,
    "Files": FILES,
    "Folders": FOLDERS,
    "Exports": EXPORTS,
    "The sandbox": SANDBOXES,
    "The command": COMMANDS,
    "The log": LOGS,
}
TO_DO = "messages changed: read them, and accept them with ACCEPT_MESSAGES=1 pytest tests/python/messages"
NOW = "2024-03-01T12:00:00+00:00"


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.skipif(sys.platform != "linux", reason="messages of the system differ elsewhere")
def test_the_messages_are_the_reviewed_ones_and_no_place_has_another(
    sandbox: da.Sandbox, tmp_path: Path, now: Callable[[str], None]
) -> None:
    now(NOW)
    known = places()
    parts, silent = [], []
    lines_of_places, ran = set().union(*known.values()), set[tuple[str, int]]()
    for heading, cases in HEADINGS.items():
        parts.append(f"{heading}\n{'=' * len(heading)}")
        for case in cases.cases:
            with noting_lines(lines_of_places, ran):
                lines = messages_of(case, sandbox, tmp_path)
            parts.append(entry(case.label, lines))
            silent += [] if lines else [f"{heading}: {case.label}"]
    text = "\n\n".join(parts) + "\n"
    if os.environ.get("ACCEPT_MESSAGES"):
        FILE.write_text(text, encoding="utf-8")
    assert silent == [], "these say nothing"
    changes = list(
        unified_diff(FILE.read_text(encoding="utf-8").splitlines(), text.splitlines(), "accepted", "now", lineterm="")
    )
    assert not changes, "\n".join([TO_DO, *changes])
    unseen = [place for place, lines in known.items() if not lines & ran]
    assert [place for place in unseen if not place.startswith(tuple(NOT_SHOWN))] == [], "no case shows these"
    assert [place for place in NOT_SHOWN if not any(each.startswith(place) for each in unseen)] == [], "shown, or gone"
