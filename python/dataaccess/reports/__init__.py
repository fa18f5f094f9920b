"""What a client, a scan and a run report: figures and progress."""

from dataaccess.reports._client import ClientStats, Setting
from dataaccess.reports._folder import FolderStatus, PartStatus
from dataaccess.reports._run import ScanReport, TaskReport
from dataaccess.reports._scan import Progress, ScanStats
from dataaccess.reports._scan import ProgressArgument as ProgressArgument

__all__ = [
    "ClientStats",
    "FolderStatus",
    "PartStatus",
    "Progress",
    "ScanReport",
    "ScanStats",
    "Setting",
    "TaskReport",
]
