"""What a client, a scan and a run report: figures and progress."""

from dataaccess.reports._figures import ClientStats, Progress, ScanStats, Setting
from dataaccess.reports._figures import ProgressArgument as ProgressArgument
from dataaccess.reports._folder import FileReport, FolderReport

__all__ = [
    "ClientStats",
    "FileReport",
    "FolderReport",
    "Progress",
    "ScanStats",
    "Setting",
]
