"""Scans, their tasks, and the forms their rows take. The classes of `synchronous` are generated from `asynchronous`."""
