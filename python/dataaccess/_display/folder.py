"""What a folder holds, in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._display.text import cell, counted, shorten

if TYPE_CHECKING:
    from dataaccess.reports import FolderStatus, PartStatus

# Files that are named.
_NAMED = 5


def status_text(status: FolderStatus) -> str:
    """The status for a terminal."""
    facts = [("rows", f"{status.rows:,} in {counted(len(status.parts), 'file')}")]
    if days := status.days:
        facts.append(("days", f"{len(days):,}, {days[0]} to {days[-1]}"))
    if status.oldest is not None and status.newest is not None:
        facts.append(("requested", f"{status.oldest:%Y-%m-%d %H:%M} to {status.newest:%Y-%m-%d %H:%M} UTC"))
    facts += [("service", cell(status.service, 200))] if status.service else []
    for name, found in (("missing", status.missing_days), ("open", status.open_days)):
        facts += [(name, f"{counted(len(found), 'day')}: {shorten(found)}")] if found else []
    facts += [("doubtful", f"{_name(part)}: {'; '.join(part.doubts)}") for part in status.doubtful[:_NAMED]]
    facts += [("damaged", f"{_name(part)}: {part.damage}") for part in status.damaged[:_NAMED]]
    for name, parts in (("doubtful", status.doubtful), ("damaged", status.damaged)):
        facts += [(name, f"{len(parts) - _NAMED} more")] if len(parts) > _NAMED else []
    return "\n".join([cell(status.folder, 500), *(f"{name + ':':<11}{value}" for name, value in facts)])


def _name(part: PartStatus) -> str:
    return part.day or cell(part.path, 200)
