"""Airflow in a folder of its own, with the provider as installed. Import it before Airflow."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import tomllib
from importlib.metadata import version
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "airflow"
# Airflow 3.1 takes the form of a connection from WTForms, which only the provider of FAB brings.
READS_FORMS = Version(version("apache-airflow-core")) >= Version("3.2")
HOME = Path(tempfile.mkdtemp(prefix="airflow-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)

# Airflow reads these at its import.
os.environ.update(
    {
        "AIRFLOW_HOME": str(HOME),
        "AIRFLOW__CORE__DAGS_FOLDER": str(EXAMPLES),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "INFO",
    }
)


def install_provider(folder: Path) -> None:
    """Writes what `pip` makes of the entry points in pyproject.toml, as these tests import from the source tree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / f"{project['name']}-0.0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.0.1\n")
    group = "apache_airflow_provider"
    points = "".join(f"{name} = {target}\n" for name, target in project["entry-points"][group].items())
    (info / "entry_points.txt").write_text(f"[{group}]\n{points}")


install_provider(HOME / "site")
sys.path.append(str(HOME / "site"))
