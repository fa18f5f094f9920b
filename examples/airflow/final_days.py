"""Each day is loaded once it is final, an hour after its end: an asset watcher starts the run, and no schedule does."""

from airflow.sdk import Asset, AssetWatcher, dag

from dataaccess.airflow import DataAccessEventTrigger, DataAccessScanOperator

final_day = Asset("final_day", watchers=[AssetWatcher("final_day", trigger=DataAccessEventTrigger(settle=3600))])
# Of all events that have come since the last run.
DAYS = """
{%- set days = triggering_asset_events.values() | first | map(attribute="extra.payload.day") | list -%}
days('{{ days | min }}', '{{ macros.ds_add(days | max, 1) }}')
"""


@dag(schedule=[final_day], catchup=False)
def final_days():
    """The codes of the days of the events that started the run."""
    DataAccessScanOperator(task_id="codes", folder="{{ var.value.warehouse }}/codes", allocated_time=DAYS)


final_days()
