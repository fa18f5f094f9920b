"""The sandbox of a test: arguments of the marker `dataaccess`, and the options of all tests, as a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from dataaccess import Sandbox


def options_of(request: pytest.FixtureRequest, of_all: dict[str, Any]) -> dict[str, Any]:
    """The options of a test; the closest marker wins.

    Paths of a marker are relative to the file of the test, paths of all tests to the root folder of pytest.
    """
    options = with_paths(of_all, request.config.rootpath)
    for marker in reversed(list(request.node.iter_markers("dataaccess"))):
        if "scenario" in marker.kwargs:
            # The file decides about these, whatever other tests have.
            options = {name: options[name] for name in options if name not in ("platform", "switches", "until")}
        options |= with_paths(marker.kwargs, request.path.parent)
    return options


def with_paths(options: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The options, with relative paths below a folder. The name of a platform has no suffix."""
    platform = options.get("platform")
    files = {"scenario", "platform"} if platform and Path(platform).suffix else {"scenario"}
    return {name: str(folder / value) if name in files else value for name, value in options.items()}


def started(options: dict[str, Any], *, is_demo: bool) -> Sandbox:
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
    content = scenario.content
    faults = [{"preset": fault} if isinstance(fault, str) else fault for fault in _several(given.pop("faults", []))]
    content["seeds"] = [*content.get("seeds", []), *_several(given.pop("seed", []))]
    content["faults"] = [*content.get("faults", []), *faults]
    # The table of keys refuses other names.
    content.update(given)
    return scenario.started(Sandbox)


def _several(given: Any) -> list[Any]:
    return [given] if isinstance(given, str | dict) else list(given)
