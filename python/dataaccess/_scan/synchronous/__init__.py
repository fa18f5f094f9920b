"""The synchronous classes of scans."""
