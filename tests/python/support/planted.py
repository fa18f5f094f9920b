"""Files as someone makes them who may write to a folder: with right checksums, which are no signature."""

from __future__ import annotations

import json
import zlib
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

KEY = b"dataaccess.task"
_NO_SUM = b"00000000"


def planted(part: bytes, table: pa.Table, **members: Any) -> bytes:
    """A part with other rows than the given one, which passes for it; its record has these members too."""
    record = json.loads(pq.ParquetFile(BytesIO(part)).metadata.metadata[KEY])["record"]
    record |= {"rows": table.num_rows, **members}
    file = BytesIO()
    with pq.ParquetWriter(file, table.schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(table)
        data = bytes(file.getvalue())
        seal = {
            "record": record,
            "data_bytes": len(data),
            "data_crc32": f"{zlib.crc32(data):08x}",
            "tail_crc32": _NO_SUM.decode(),
        }
        writer.add_key_value_metadata({KEY: json.dumps(seal, separators=(",", ":")).encode()})
    content = file.getvalue()
    tail = content[len(data) :]
    start = tail.rindex(b'"tail_crc32":"') + len(b'"tail_crc32":"')
    checksum = f"{zlib.crc32(tail):08x}".encode()
    return data + tail[:start] + checksum + tail[start + len(checksum) :]
