"""The asynchronous classes of scans: written by hand."""
