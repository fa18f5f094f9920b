"""Appends the NOTICE files of the crates in a wheel to `licenses/crates.txt`: Apache-2.0 asks for them.

make licenses
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import licensed

LINE = "=" * 80


def main() -> None:
    """Appends each text once, below the crates that have it."""
    text = licensed.PAGE.read_text(encoding="utf-8")
    crates = licensed.crates()
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1"]
    found = subprocess.run(command, cwd=licensed.ROOT, capture_output=True, text=True, check=True)
    notices: dict[str, list[str]] = {}
    for crate in json.loads(found.stdout)["packages"]:
        if (crate["name"], crate["version"]) in crates:
            for path in sorted(Path(crate["manifest_path"]).parent.glob("NOTICE*")):
                notices.setdefault(path.read_text(encoding="utf-8").strip(), []).append(
                    f"  {crate['name']} {crate['version']}"
                )
    for notice, of in notices.items():
        text += "\n".join([LINE, "Notice", *sorted(of), "-" * 80, notice, "", ""])
    licensed.PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
