"""`--strict` and `--fail-empty`: a result that looks wrong replaces nothing, and ends the command with 65."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dataaccess import errors
from dataaccess.cli.ending import CommandError
from dataaccess.cli.parts import all_of, option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataaccess import FolderReport

# As in `sysexits.h`: the data are wrong.
DOUBTFUL = 65


def options(section: str) -> Callable[[Any], Any]:
    """Both options."""
    return all_of(
        [
            option(
                "--strict", is_flag=True, section=section, help="Write nothing, and exit with 65, if data look wrong."
            ),
            option(
                "--fail-empty", is_flag=True, section=section, help="Write nothing, and exit with 65, without any row."
            ),
        ]
    )


@dataclass(frozen=True, slots=True)
class Doubts:
    """What the options say."""

    strict: bool
    fail_empty: bool

    @contextmanager
    def judged(self) -> Iterator[None]:
        """What a call warns of is an error, before it has written anything."""
        kinds = (
            errors.AbsentAttributeWarning,
            errors.EmptyResultWarning,
            errors.IncompleteWarning,
            errors.MissingIdsWarning,
            errors.StrayDayWarning,
        )
        with warnings.catch_warnings():
            for kind in kinds if self.strict else ():
                warnings.simplefilter("error", kind)
            try:
                yield
            except kinds as doubt:
                raise CommandError(f"nothing was written: {doubt}", DOUBTFUL) from None

    @property
    def of_run(self) -> dict[str, Any]:
        """The argument of a run. Its files are judged one by one."""
        if self.fail_empty:
            return {"on_doubt": lambda file: file.rows > 0 and not (self.strict and file.doubts)}
        return {"on_doubt": "error"} if self.strict else {}

    def check_report(self, report: FolderReport) -> None:
        """Refuses a run that has no rows, or whose tasks together look wrong.

        Raises:
            CommandError: It is one.
        """
        if self.fail_empty and not report.rows:
            raise CommandError(f"{report.folder} has no rows of this scan", DOUBTFUL, report)
        if self.strict and report.warnings:
            raise CommandError(f"{report.folder} has its files, but {'; '.join(report.warnings)}", DOUBTFUL, report)

    def check_rows(self, rows: int) -> None:
        """Refuses a result without rows.

        Raises:
            CommandError: There are none.
        """
        if self.fail_empty and not rows:
            raise CommandError("nothing was written: the result has no rows", DOUBTFUL)

    def accept(self, stats: Any) -> bool:
        """Whether a file may be written: `on_doubt=` of a scan."""
        self.check_rows(stats.rows)
        return True
