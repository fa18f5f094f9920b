"""A standalone Spark cluster on the loopback address: one master, and workers of one core each."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

# What every Spark process of the tests gets: the loopback address, and this Python for its workers.
LOCAL = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost", "PYSPARK_PYTHON": sys.executable}
# For JVMs that live for seconds.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_SECONDS_TO_START = 90


@dataclass(frozen=True)
class Cluster:
    """A running cluster, and the folder that has all its logs."""

    master: str
    master_page: str
    folder: Path
    environment: Mapping[str, str]

    def submit(self, script: Path, *arguments: str, **settings: str) -> str:
        """Runs a script as `spark-submit` does. Returns what it printed."""
        settings = {"spark.executor.memory": "512m", "spark.executor.extraJavaOptions": QUICK_START, **settings}
        options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        submit: list[str | Path] = [_spark_home() / "bin" / "spark-submit", "--master", self.master]
        done = subprocess.run(
            [*submit, *options, script, *arguments],
            env=dict(self.environment),
            cwd=self.folder,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def logs(self) -> str:
        """All that its processes wrote, as text."""
        files = [path for path in sorted(self.folder.rglob("*")) if path.is_file() and path.suffix != ".jar"]
        return "".join(path.read_text(encoding="utf-8", errors="replace") for path in files)


@contextmanager
def spark_cluster(folder: Path, workers: int, environment: Mapping[str, str]) -> Iterator[Cluster]:
    """Runs a master and workers, and ends them with their executors."""
    daemons = {"SPARK_DAEMON_MEMORY": "512m", "SPARK_DAEMON_JAVA_OPTS": QUICK_START}
    environment = {**os.environ, **LOCAL, **daemons, "SPARK_SUBMIT_OPTS": QUICK_START, **environment}
    folder.mkdir()
    with ExitStack() as stack:
        deploy = "org.apache.spark.deploy"
        ports = ["--host", "127.0.0.1", "--webui-port", "0"]
        log = folder / "master.log"
        stack.enter_context(_running(log, environment, f"{deploy}.master.Master", *ports, "--port", "0"))
        master = _wait_for(log, r"Starting Spark master at (spark://\S+)")
        page = "http://127.0.0.1:" + _wait_for(log, r"'MasterUI' on port (\d+)")
        for number in range(workers):
            log = folder / f"worker-{number}.log"
            own = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work-{number}"), master]
            stack.enter_context(_running(log, environment, f"{deploy}.worker.Worker", *ports, *own))
            _wait_for(log, r"(Successfully registered) with master")
        yield Cluster(master, page, folder, environment)


def _spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


@contextmanager
def _running(log: Path, environment: Mapping[str, str], *command: str) -> Iterator[None]:
    """A Spark process, which `spark-class` becomes, so that its pid is ours to end."""
    with (
        log.open("w") as output,
        subprocess.Popen(
            [_spark_home() / "bin" / "spark-class", *command],
            env=dict(environment),
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_for(log: Path, pattern: str) -> str:
    """What a log says, once it does."""
    for _ in range(_SECONDS_TO_START * 10):
        text = log.read_text(encoding="utf-8")
        if found := re.search(pattern, text):
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"{pattern} is not in {log}: {text}")
