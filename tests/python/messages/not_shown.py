"""What raises or warns and is in no case, with the reason."""

from __future__ import annotations

# By the beginning of `file: function: statement`.
NOT_SHOWN: dict[str, str] = {
    "airflow/": "needs Airflow, which has an environment of its own",
    "spark/": "needs Spark, which has an environment of its own",
    # Shown, and not seen to run.
    "_client/profiles.py: Profile.token": "runs on the thread of tokens, which Python does not trace",
    "_core/embedded.py: warn_of_service": "is issued once in a process, so the case runs one",
    "_core/embedded.py: embedded: warn_caller": "is issued once in a process, so the case runs one",
    # Hard to reach.
    "_client/segment.py: Wait.arguments: raise ClientClosedError": "a fork in a callback, as `test_fork.py` has it",
    "_core/paths.py: location: raise invalid": "an object store",
    "_scan/files.py: output_path: raise invalid('storage_options'": "an object store",
    "_sandbox/control.py: Control._response: raise SandboxError(f'the rows": "rows of 1 GiB",
    "_scan/lazy.py: Source.__init__": "an older polars",
    "cli/rows.py: _into_folder": "Ctrl-C",
    "cli/rows.py: _kind_of: raise click.UsageError('Parquet": "a terminal",
    # Answers of a check, which are no errors.
    "_client/check.py: Check._rows_of_day: raise _OpenError": "api/test_check.py",
    "_client/check.py: Check._comparison: raise _OpenError": "api/test_check.py",
    "_client/check.py: Check._form_of_attributes: raise _OpenError": "api/test_check.py",
    "_client/check.py: Check._time_left: raise _OpenError": "api/test_check.py",
    "_client/check.py: end_of_day: raise _OpenError": "api/test_check.py",
    # Files and commands of the sandbox with tests of their own.
    "cli/sandbox.py": "the command that serves",
    # Queries of polars.
    "_scan/lazy.py: Source._checked": "queries of polars",
    "cli/rows.py: _Judge.check_report": "several files that look wrong together",
}
