"""What the sandbox of a test has: the arguments of the marker `dataaccess`, and the options of all tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from dataaccess import Sandbox

_OF_SCENARIO = ("platform", "switches", "until")


def options_of(request: pytest.FixtureRequest, of_all: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a test: of its markers the closest one, by name.

    Paths of a marker are relative to the file of the test, paths of all tests to the root folder of pytest.
    """
    options = with_paths(of_all, request.config.rootpath)
    for marker in reversed(list(request.node.iter_markers("dataaccess"))):
        if "scenario" in marker.kwargs:
            # The file decides about these, whatever other tests have.
            options = {name: value for name, value in options.items() if name not in _OF_SCENARIO}
        options |= with_paths(marker.kwargs, request.path.parent)
    return options


def with_paths(options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The options, with relative paths below a folder. The name of a platform has no suffix."""
    return {
        name: str(folder / value)
        if name == "scenario" or (name == "platform" and value and Path(value).suffix)
        else value
        for name, value in options.items()
    }


def started(options: Mapping[str, Any], *, is_demo: bool) -> Sandbox:
    """A sandbox with these options."""
    from dataaccess import Sandbox
    from dataaccess._sandbox.scenario import Scenario

    given = dict(options)
    if "scenario" in given:
        scenario = Scenario.read(given.pop("scenario"))
    else:
        # A test does the same every day.
        until = given.pop("until", "2024-02-29")
        demo = is_demo and (True if until is None else {"until": until})
        scenario = Scenario("the marker dataaccess", {"demo": demo})
    faults = [{"preset": fault} if isinstance(fault, str) else fault for fault in _several(given.pop("faults", []))]
    for name, added in (("seeds", _several(given.pop("seed", []))), ("faults", faults)):
        scenario.content[name] = [*scenario.content.get(name, []), *added]
    # The table of keys refuses other names.
    scenario.content.update(given)
    return scenario.started(Sandbox)


def _several(given: Any) -> list[Any]:
    """One or several."""
    return [given] if isinstance(given, str | dict) else list(given)
