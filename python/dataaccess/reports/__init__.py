"""What a client, a scan and a run report: figures and progress."""

from dataaccess.reports._client import ClientCheck, ClientStats, Setting
from dataaccess.reports._folder import FolderStatus, PartStatus
from dataaccess.reports._scan import Progress, ScanReport, ScanStats, TaskReport

__all__ = [
    "ClientCheck",
    "ClientStats",
    "FolderStatus",
    "PartStatus",
    "Progress",
    "ScanReport",
    "ScanStats",
    "Setting",
    "TaskReport",
]
