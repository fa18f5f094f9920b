"""What the sandbox of a test has: the arguments of the marker `dataaccess`, and the options of all tests."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataaccess import Sandbox

_NAMES = ("seed", "scenario", "platform", "switches", "until", "faults")
_OF_SCENARIO = ("platform", "switches", "until")
# A test does the same every day.
_UNTIL = "2024-02-29"


def options_of(request: pytest.FixtureRequest, of_all: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a test: of its markers the closest one, by name.

    Paths of a marker are relative to the file of the test, paths of all tests to the root folder of pytest.
    """
    options = with_paths(of_all, request.config.rootpath)
    for marker in reversed(list(request.node.iter_markers("dataaccess"))):
        if marker.args:
            raise pytest.UsageError("the marker dataaccess takes names: @pytest.mark.dataaccess(seed=…)")
        _refuse_unknown(marker.kwargs)
        if "scenario" in marker.kwargs:
            # The file decides about these, whatever other tests have.
            options = {name: value for name, value in options.items() if name not in _OF_SCENARIO}
        options |= with_paths(marker.kwargs, request.path.parent)
    return options


def with_paths(options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The options, with relative paths below a folder."""
    found = dict(options)
    if found.get("scenario") is not None:
        found["scenario"] = folder / found["scenario"]
    if "seed" in found:
        found["seed"] = [seed if isinstance(seed, dict) else folder / seed for seed in _several(found["seed"])]
    platform = found.get("platform")
    # The name of a platform has no suffix.
    if isinstance(platform, str | Path) and Path(platform).suffix:
        found["platform"] = folder / platform
    return found


@contextmanager
def started(options: dict[str, Any], *, is_demo: bool) -> Iterator[Sandbox]:
    """A sandbox with these options, while the block runs."""
    from dataaccess import Sandbox

    _refuse_unknown(options)
    given = {name: options[name] for name in _OF_SCENARIO if name in options}
    if options.get("scenario") is not None:
        if given:
            raise pytest.UsageError(f"scenario has {', '.join(given)} in its file: leave {', '.join(given)} out")
        made = Sandbox.scenario(options["scenario"])
    elif is_demo:
        made = Sandbox.demo(**{"until": _UNTIL, **given})
    else:
        given.pop("until", None)
        made = Sandbox(**given)
    with made as sandbox:
        with sandbox._starting():
            for seed in _several(options.get("seed")):
                sandbox.seed(seed)
            for fault in _several(options.get("faults")):
                # For the whole test: a preset by its name, or a fault as in a scenario file.
                body = {"preset": fault} if isinstance(fault, str) else fault
                sandbox._control.call("POST", "/faults", body)
        yield sandbox


def _several(given: Any) -> list[Any]:
    """One or several."""
    if given is None:
        return []
    return [given] if isinstance(given, str | dict | Path) else list(given)


def _refuse_unknown(options: Mapping[str, Any]) -> None:
    from dataaccess._public import did_you_mean

    for name in options:
        if name not in _NAMES:
            advice = did_you_mean(name, _NAMES) or f"; there are {', '.join(_NAMES)}"
            raise pytest.UsageError(f"the marker dataaccess has no argument {name!r}{advice}")
