"""The rows of a table in a file: Parquet, CSV, JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.checks import boolean_argument
from dataaccess._core.paths import checked, hidden
from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._scan.output import copy_into, output_path, parquet_format, text_format
from dataaccess._scan.rows import Rows

if TYPE_CHECKING:
    from dataaccess._core.paths import StorageOptions as Hidden
    from dataaccess._scan.output import Format
    from dataaccess._types import Compression, FileTarget, StorageOptions


@short_tracebacks
class TableFiles(Rows):
    """Methods that write a table into a file. Atomic: the file appears only when complete."""

    __slots__ = ()

    def to_parquet(
        self,
        target: FileTarget,
        *,
        private: bool = False,
        storage_options: StorageOptions | None = None,
    ) -> None:
        """Writes the rows into a Parquet file (zstd). Atomic: the file appears only when complete.

        Args:
            target: The file: a path, or a `file://`, `s3://`, `gs://` or `az://` URL; an existing one is replaced at
                the end. Or a file opened in binary mode.
            private: Whether only you may read the file; otherwise the umask decides.
            storage_options: As in `Scan.to_parquet`.

        Raises:
            ValidationError: The path is a URL of another kind, or has the suffix of another format.
            FileError: The file cannot be written; also an `OSError`.
            ConfigError: The URL or an option of the store cannot be used.

        Examples:
            >>> import dataaccess as da
            >>> scan = da.Client("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> scan.collect().to_parquet("codes.parquet")
        """
        storage_options = hidden(storage_options)
        self._write(target, "to_parquet", parquet_format(), private, storage_options)

    def to_csv(
        self,
        target: FileTarget,
        *,
        separator: str | None = None,
        escape_formulas: bool = False,
        compression: Compression | None = "infer",
        private: bool = False,
        storage_options: StorageOptions | None = None,
    ) -> None:
        """Writes the rows into a CSV file as `Scan.to_csv` does: a line of names, then one line per row.

        Args:
            target: The file: a path, or a `file://`, `s3://`, `gs://` or `az://` URL; an existing one is replaced at
                the end. Or a file opened in binary mode.
            separator: The ASCII character between two fields. None is a tab in a `.tsv` file, and a comma in others.
            escape_formulas: Whether names and strings that a spreadsheet may take for a formula get a `'` before them.
            compression: "infer" follows the suffix of the path, `.gz` or `.zst`; "gzip", "zstd" or None are for names
                without one, and for open files.
            private: Whether only you may read the file; otherwise the umask decides.
            storage_options: As in `Scan.to_parquet`.

        Raises:
            ValidationError: The path is a URL of another kind, or has the suffix of another format; `separator` or
                `compression` is invalid.
            FileError: The file cannot be written; also an `OSError`.
            ConfigError: The URL or an option of the store cannot be used.

        Examples:
            >>> import dataaccess as da
            >>> scan = da.Client("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> scan.collect().to_csv("codes.csv")
        """
        storage_options = hidden(storage_options)
        escapes = boolean_argument("escape_formulas", escape_formulas)
        file_format = text_format("csv", target, compression, separator, escapes=escapes)
        self._write(target, "to_csv", file_format, private, storage_options)

    def to_jsonl(
        self,
        target: FileTarget,
        *,
        compression: Compression | None = "infer",
        private: bool = False,
        storage_options: StorageOptions | None = None,
    ) -> None:
        """Writes the rows into a file of JSON lines: one object per row, with the values of `to_dicts`.

        Args:
            target: The file: a path, or a `file://`, `s3://`, `gs://` or `az://` URL; an existing one is replaced at
                the end. Or a file opened in binary mode.
            compression: "infer" follows the suffix of the path, `.gz` or `.zst`; "gzip", "zstd" or None are for names
                without one, and for open files.
            private: Whether only you may read the file; otherwise the umask decides.
            storage_options: As in `Scan.to_parquet`.

        Raises:
            ValidationError: The path is a URL of another kind, or has a suffix that is not written; `compression` is
                invalid, or not what the suffix says.
            FileError: The file cannot be written; also an `OSError`.
            ConfigError: The URL or an option of the store cannot be used.

        Examples:
            >>> import dataaccess as da
            >>> scan = da.Client("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> scan.collect().to_jsonl("codes.jsonl")
        """
        storage_options = hidden(storage_options)
        self._write(target, "to_jsonl", text_format("jsonl", target, compression), private, storage_options)

    def _write(
        self, target: FileTarget, method: str, file_format: Format, private: object, storage_options: Hidden | None
    ) -> int:
        """Writes the rows into a file. Returns its size."""
        is_private = boolean_argument("private", private)
        with output_path(target, method, storage_options, private=is_private) as (path, file):
            size: int = self._raw.write(path, file_format, is_private, checked(storage_options))
            if file is not None:
                copy_into(file, path)
            return size
