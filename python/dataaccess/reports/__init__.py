"""What a client, a scan and a run report: figures and progress."""

from dataaccess.reports._figures import ClientStats, Progress, ScanStats, Setting
from dataaccess.reports._figures import ProgressArgument as ProgressArgument
from dataaccess.reports._folder import FolderStatus, PartStatus
from dataaccess.reports._run import ScanReport, TaskReport

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
