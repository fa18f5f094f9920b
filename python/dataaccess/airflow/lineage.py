"""Where the rows of an operator go, for the link in the web UI and for lineage.

The provider of OpenLineage reads the lineage of hooks, as others do, and makes data sets of their asset URIs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from dataaccess.airflow.compat import BaseOperatorLink, get_hook_lineage_collector

if TYPE_CHECKING:
    from dataaccess.airflow.hook import DataAccessHook

# Whose URLs may have the id of an Airflow connection before the bucket; other stores have a container there.
_WITH_CONNECTION = ("s3", "s3a", "gs", "gcs")


def asset_uri(target: object) -> str:
    """The URI of the `Asset` of a folder or file: without the id of an Airflow connection, and absolute.

    Examples:
        >>> asset_uri("s3://aws_default@warehouse/codes/")
        's3://warehouse/codes'
        >>> asset_uri("/data/codes")
        'file:///data/codes'
    """
    text = str(target).rstrip("/")
    url = urlsplit(text)
    if url.scheme in ("", "file"):
        # Not quoted, as in the assets of Airflow's own file provider.
        return f"file://{Path(url.path if url.scheme else text).absolute()}"
    if url.scheme in _WITH_CONNECTION:
        url = url._replace(netloc=url.netloc.rpartition("@")[2])
    return url.geturl()


def record_lineage(hook: DataAccessHook, base_url: str, target: object) -> None:
    """Reports that a task read the service and wrote a folder or file."""
    collector = get_hook_lineage_collector()
    collector.add_input_asset(context=hook, uri=base_url)
    collector.add_output_asset(context=hook, uri=asset_uri(target))


class FolderLink(BaseOperatorLink):
    """The button "Folder" of a task: its folder or file in the console of Amazon or Google. Local paths have none."""

    name = "Folder"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """The address, of the rendered arguments. Airflow calls it."""
        target = getattr(operator, "folder", None) or getattr(operator, "path", None)
        url = urlsplit(asset_uri(target) if target else "")
        key = url.path.strip("/")
        if url.scheme in ("s3", "s3a"):
            return f"https://console.aws.amazon.com/s3/buckets/{url.netloc}?prefix={quote(key)}"
        if url.scheme in ("gs", "gcs"):
            return f"https://console.cloud.google.com/storage/browser/{url.netloc}/{quote(key)}"
        return ""
