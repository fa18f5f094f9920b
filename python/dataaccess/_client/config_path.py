"""Where the file with the profiles is. Apart from those that read it, as completion imports no core."""

import os
import sys
from pathlib import Path


def config_path() -> Path:
    """The file with the profiles, whether it exists or not."""
    if sys.platform == "win32":
        folder = os.environ.get("APPDATA") or os.path.expanduser(r"~\AppData\Roaming")  # noqa: PTH111 - as below
    else:
        folder = os.environ.get("XDG_CONFIG_HOME", "")
        # A relative path is invalid: https://specifications.freedesktop.org/basedir-spec
        folder = folder if os.path.isabs(folder) else os.path.expanduser("~/.config")  # noqa: PTH111, PTH117 - never raises
    return Path(folder) / "dataaccess" / "config.toml"
