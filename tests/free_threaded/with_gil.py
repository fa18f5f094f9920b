"""Free-threaded CPython: the package works there, with the GIL, which its import enables. Python warns of that."""

from __future__ import annotations

import sys
import sysconfig
import warnings


def main() -> None:
    """Fails unless this is free-threaded CPython and the import does what docs/versions.md says."""
    assert sysconfig.get_config_var("Py_GIL_DISABLED"), f"{sys.version} is not free-threaded"
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        import dataaccess as da

        rows = da.Client("sandbox:demo").search_codes(allocated_time=da.last_days(2))
    texts = [str(warning.message) for warning in raised if warning.category is RuntimeWarning]
    assert any("GIL" in text and "dataaccess._native" in text for text in texts), texts
    assert getattr(sys, "_is_gil_enabled")()  # noqa: B009 (other Pythons do not have it)
    assert rows


if __name__ == "__main__":
    main()
