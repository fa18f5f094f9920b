"""Asynchronous scans that write their rows into one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.checks import boolean_argument
from dataaccess._core.paths import checked, hidden
from dataaccess._core.progress import follow
from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._public import CLIENT_ZONE
from dataaccess._scan.doubt import decide, on_doubt_argument
from dataaccess._scan.output import Format, copy_into, output_path, parquet_format, text_format
from dataaccess._scan.plan import BaseScan
from dataaccess._scan.variants import convert_async

if TYPE_CHECKING:
    from dataaccess._core.paths import StorageOptions as Hidden
    from dataaccess._types import Compression, FileTarget, OnDoubt, ResultZone, StorageOptions
    from dataaccess.reports import ProgressArgument


@short_tracebacks
class AsyncWriting(BaseScan):
    """Methods that write the rows into a file. Each use sends the requests anew."""

    async def to_parquet(
        self,
        target: FileTarget,
        *,
        tz: ResultZone = CLIENT_ZONE,
        private: bool = False,
        on_doubt: OnDoubt = "warn",
        progress: ProgressArgument = None,
        storage_options: StorageOptions | None = None,
    ) -> None:
        """Writes the rows into a Parquet file (zstd), in bounded memory. Atomic: the file appears only when complete.

        In a scan of several requests, a response longer than a batch cannot be retried once it was cut off.
        `to_folder` can retry each request, and keeps what is done.

        Args:
            target: The file: a path, or a `file://`, `s3://`, `gs://` or `az://` URL; an existing one is replaced at
                the end. Or a file opened in binary mode, which gets the rows once all have arrived.
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if
                you gave it one: the file has instants. None leaves times as the service wrote them, without a zone.
            private: Whether only you may read the file; otherwise the umask decides.
            on_doubt: What happens if the data look wrong, before the file replaces another: "warn" warns and writes it,
                "error" does not write it. A function decides: it gets the `ScanStats` of every result and returns
                whether to write it, as `lambda stats: stats.rows > 0` does.
            progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
                gets a `Progress` at first, as rows arrive and after each response, in the thread of the event loop.
            storage_options: Credentials and options of the object store, as text by name (`aws_endpoint_url`); those
                of the environment (`AWS_ACCESS_KEY_ID`) otherwise.

        Raises:
            ValidationError: The path is a URL of another kind, or has the suffix of another format.
            FileError: The file cannot be written; also an `OSError`.
            ConfigError: The URL or an option of the store cannot be used.
            DoubtfulDataError: `on_doubt` does not accept the result. The file is as before.
            DataAccessError: Any failure of `batches`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> await client.scan_codes(allocated_time=da.on("2024-01-15")).to_parquet("codes.parquet")
        """
        storage_options = hidden(storage_options)
        await self._write(target, "to_parquet", parquet_format(), tz, private, on_doubt, progress, storage_options)

    async def to_csv(
        self,
        target: FileTarget,
        *,
        separator: str | None = None,
        escape_formulas: bool = False,
        compression: Compression | None = "infer",
        tz: ResultZone = CLIENT_ZONE,
        private: bool = False,
        on_doubt: OnDoubt = "warn",
        progress: ProgressArgument = None,
        storage_options: StorageOptions | None = None,
    ) -> None:
        """Writes the rows into a CSV file: a line of names, then one line per row.

        CSV does not distinguish a missing value from an empty string; Parquet and JSON lines do. A spreadsheet may
        take a string that begins with `=`, `+`, `-` or `@` for a formula and run it: values are written as they are,
        unless you pass `escape_formulas=True`.

        Args:
            target: The file: a path, or a `file://`, `s3://`, `gs://` or `az://` URL; an existing one is replaced at
                the end. Or a file opened in binary mode, which gets the rows once all have arrived.
            separator: The ASCII character between two fields. None is a tab in a `.tsv` file, and a comma in others.
            escape_formulas: Whether names and strings that a spreadsheet may take for a formula get a `'` before them.
                For files that people open; a program then reads another value.
            compression: "infer" follows the suffix of the path, `.gz` or `.zst`; "gzip", "zstd" or None are for names
                without one, and for open files.
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if
                you gave it one. None leaves times as the service wrote them, without a zone.
                A time of a zone has its offset, as in `2024-01-31 09:30:00+01:00`.
            private: Whether only you may read the file; otherwise the umask decides.
            on_doubt: What happens if the data look wrong, before the file replaces another: "warn" warns and writes it,
                "error" does not write it. A function decides: it gets the `ScanStats` of every result and returns
                whether to write it, as `lambda stats: stats.rows > 0` does.
            progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
                gets a `Progress` at first, as rows arrive and after each response, in the thread of the event loop.
            storage_options: Credentials and options of the object store, as text by name (`aws_endpoint_url`); those
                of the environment (`AWS_ACCESS_KEY_ID`) otherwise.

        Raises:
            ValidationError: The path is a URL of another kind, or has the suffix of another format; `separator` or
                `compression` is invalid.
            FileError: The file cannot be written; also an `OSError`.
            ConfigError: The URL or an option of the store cannot be used.
            DoubtfulDataError: `on_doubt` does not accept the result. The file is as before.
            DataAccessError: Any failure of `batches`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> await client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_csv("codes.csv")
        """
        storage_options = hidden(storage_options)
        escapes = boolean_argument("escape_formulas", escape_formulas)
        file_format = text_format("csv", target, compression, separator, escapes=escapes)
        await self._write(target, "to_csv", file_format, tz, private, on_doubt, progress, storage_options)

    async def to_jsonl(
        self,
        target: FileTarget,
        *,
        compression: Compression | None = "infer",
        tz: ResultZone = CLIENT_ZONE,
        private: bool = False,
        on_doubt: OnDoubt = "warn",
        progress: ProgressArgument = None,
        storage_options: StorageOptions | None = None,
    ) -> None:
        """Writes the rows into a file of JSON lines: one object per row, with the values of `to_dicts`; times in `tz`.

        Args:
            target: The file: a path, or a `file://`, `s3://`, `gs://` or `az://` URL; an existing one is replaced at
                the end. Or a file opened in binary mode, which gets the rows once all have arrived.
            compression: "infer" follows the suffix of the path, `.gz` or `.zst`; "gzip", "zstd" or None are for names
                without one, and for open files.
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if
                you gave it one. None leaves times as the service wrote them, without a zone.
                A time of a zone has its offset, as in `2024-01-31 09:30:00+01:00`.
            private: Whether only you may read the file; otherwise the umask decides.
            on_doubt: What happens if the data look wrong, before the file replaces another: "warn" warns and writes it,
                "error" does not write it. A function decides: it gets the `ScanStats` of every result and returns
                whether to write it, as `lambda stats: stats.rows > 0` does.
            progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
                gets a `Progress` at first, as rows arrive and after each response, in the thread of the event loop.
            storage_options: Credentials and options of the object store, as text by name (`aws_endpoint_url`); those
                of the environment (`AWS_ACCESS_KEY_ID`) otherwise.

        Raises:
            ValidationError: The path is a URL of another kind, or has a suffix that is not written; `compression` is
                invalid, or not what the suffix says.
            FileError: The file cannot be written; also an `OSError`.
            ConfigError: The URL or an option of the store cannot be used.
            DoubtfulDataError: `on_doubt` does not accept the result. The file is as before.
            DataAccessError: Any failure of `batches`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> await client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_jsonl("codes.jsonl")
        """
        storage_options = hidden(storage_options)
        file_format = text_format("jsonl", target, compression)
        await self._write(target, "to_jsonl", file_format, tz, private, on_doubt, progress, storage_options)

    async def _write(
        self,
        target: FileTarget,
        method: str,
        file_format: Format,
        tz: ResultZone,
        private: object,
        on_doubt: object,
        progress: ProgressArgument,
        storage_options: Hidden | None,
    ) -> int:
        """Writes the rows into a file. Returns its size."""
        scan = self._in_zone_of_files(tz)
        is_private, accepted = boolean_argument("private", private), on_doubt_argument(on_doubt)
        with output_path(target, method, storage_options, private=is_private) as (path, file):
            options = checked(storage_options)
            with follow(progress, self._call, self._progress) as report:
                outcome, unpublished = await scan.write_async(path, file_format, is_private, report, options)
            decide(accepted, outcome, unpublished)
            size = await unpublished.publish_async()
            if file is not None:
                await convert_async(copy_into, file, path)
            return size
