"""What every layer uses: checks of arguments, warnings, log records, and what a process has once."""
