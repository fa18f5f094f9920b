"""Runs of DAGs by `dag.test()`, and what is left of them."""

from __future__ import annotations

import runpy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from scratch import EXAMPLES

# What XCom says of rows that nobody doubts.
NO_DOUBTS: dict[str, Any] = {"maybe_capped": False, "warnings": []}


@dataclass(frozen=True)
class Run:
    """A DAG run that has ended."""

    dag_run: Any

    @property
    def states(self) -> dict[str, str]:
        """The state of each task; a mapped one has its index behind its name."""
        return {_name(task): str(task.state) for task in self.dag_run.get_task_instances()}

    def result(self, task_id: str) -> Any:
        return self.xcom(task_id, "return_value")

    def xcom(self, task_id: str, key: str) -> Any:
        """The XCom of a task with a key; of a mapped task a list."""
        from airflow.models.xcom import XComModel
        from airflow.utils.session import create_session

        with create_session() as session:
            found = XComModel.get_many(
                key=key, task_ids=task_id, run_id=self.dag_run.run_id, dag_ids=self.dag_run.dag_id
            )
            values = [XComModel.deserialize_value(row) for row in session.scalars(found.order_by(XComModel.map_index))]
        return values[0] if len(values) == 1 else values


def example(name: str) -> Any:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))[name]()


def register(dag: Any) -> None:
    """Writes a DAG into the database, as the DAG processor does."""
    from airflow.dag_processing.bundles.manager import DagBundlesManager

    try:
        from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db
    except ImportError:  # before Airflow 3.2
        from airflow.models.dagbag import DagBag, sync_bag_to_db
    bag = DagBag(str(EXAMPLES / "none"), collect_dags=False)
    bag.bag_dag(dag)
    DagBundlesManager().sync_bundles_to_db()
    sync_bag_to_db(bag, "dags-folder", None)


def run(dag: Any, *, conf: dict[str, Any] | None = None, logical_date: datetime | None = None) -> Run:
    """Runs a DAG in this process, its tasks without a pause between tries."""
    for task in dag.tasks:
        # Not the minutes of a user.
        (task.partial_kwargs if task.is_mapped else vars(task))["retry_delay"] = timedelta(0)
    register(dag)
    return Run(dag.test(run_conf=conf, logical_date=logical_date))


def tries(done: Any, task_id: str) -> int:
    (task,) = [task for task in done.dag_run.get_task_instances() if task.task_id == task_id]
    return int(task.try_number)


def extras(name: str) -> Any:
    from airflow.models.asset import AssetEvent, AssetModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        events = (
            select(AssetEvent).join(AssetModel, AssetModel.id == AssetEvent.asset_id).where(AssetModel.name == name)
        )
        return session.scalars(events.order_by(AssetEvent.id.desc())).first().extra


def query(statement: str) -> list[tuple[Any, ...]]:
    import duckdb

    found = duckdb.sql(statement)
    assert found is not None
    return found.fetchall()


def _name(task: Any) -> str:
    return str(task.task_id) if task.map_index < 0 else f"{task.task_id}[{task.map_index}]"
