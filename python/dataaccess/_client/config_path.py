"""Where the file with the profiles is, and what it says. Apart from the checks, as completion imports no core."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dataaccess._core.regular import read_file

if TYPE_CHECKING:
    from typing import Any

# Each part of a dotted key is a level, and takes the parser longer than the one before.
_MOST_DOTS = 100
# Strings and comments.
_TEXT = re.compile(
    r""""{3}(?:\\.|[^\\])*?(?:"{3}|\Z)|'{3}.*?(?:'{3}|\Z)|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|\#[^\n]*""", re.DOTALL
)


def config_path() -> Path:
    """The file with the profiles, whether it exists or not."""
    if sys.platform == "win32":
        folder = os.environ.get("APPDATA") or os.path.expanduser(r"~\AppData\Roaming")  # noqa: PTH111 - as below
    else:
        folder = os.environ.get("XDG_CONFIG_HOME", "")
        # A relative path is invalid: https://specifications.freedesktop.org/basedir-spec
        folder = folder if os.path.isabs(folder) else os.path.expanduser("~/.config")  # noqa: PTH111, PTH117 - never raises
    return Path(folder) / "dataaccess" / "config.toml"


def parsed(path: Path) -> tuple[dict[str, Any], int]:
    """The tables of the file, which are not checked, and the mode of the file.

    Raises:
        OSError: The file cannot be opened or read.
        ValueError: It is no file of profiles; the text says why. No frame of the error holds a part of the file.
    """
    import tomllib

    content, mode = read_file(path)
    problem = None
    try:
        text = content.decode()
        # The parser takes seconds for one key of thousands of levels.
        if any(key.count(".") > _MOST_DOTS for key in re.split("[,\n]", _TEXT.sub("", text))):
            raise RecursionError
        return tomllib.loads(text), mode
    except UnicodeDecodeError:
        problem = "is not valid UTF-8; save it as UTF-8"
    except tomllib.TOMLDecodeError as error:
        # The rest of the text may quote the file.
        place = re.search(r"\(at [^()]*\)$", str(error))
        problem = f"is not TOML {place[0] if place else ''}".rstrip()
    except RecursionError:
        problem = "is nested too deeply; settings are in [profiles.NAME]"
    except ValueError:
        problem = "has a number of too many digits"
    # The other errors hold the whole file, which may have a token.
    text, content = "", b""
    raise ValueError(problem)
