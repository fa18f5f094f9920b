from collections.abc import Sequence
from logging import Logger
from typing import Any, NoReturn, TypeAlias

Context: TypeAlias = dict[str, Any]

class Connection:
    conn_id: str
    conn_type: str
    host: str | None
    port: int | None
    schema: str | None
    login: str | None
    password: str | None
    extra: str | None
    extra_dejson: dict[str, Any]

class BaseHook:
    log: Logger
    def __init__(self, logger_name: str | None = None) -> None: ...
    @classmethod
    def get_connection(cls, conn_id: str) -> Connection: ...
    @classmethod
    async def aget_connection(cls, conn_id: str) -> Connection: ...

class BaseOperator:
    log: Logger
    outlets: list[Any]
    template_fields: Sequence[str]
    def __init__(self, *, task_id: str, **options: Any) -> None: ...
    def execute(self, context: Context) -> Any: ...
    def defer(self, *, trigger: Any, method_name: str, timeout: Any = None) -> NoReturn: ...
    def on_kill(self) -> None: ...

class BaseSensorOperator(BaseOperator):
    poke_interval: float
    timeout: float
    def poke(self, context: Context) -> bool | PokeReturnValue: ...

class PokeReturnValue:
    is_done: bool
    xcom_value: Any
    def __init__(self, is_done: bool, xcom_value: Any = None) -> None: ...

class Asset: ...

class ObjectStoragePath:
    name: str
    path: str
    protocol: str
    fs: Any
    def __init__(self, path: str) -> None: ...
    def __truediv__(self, name: str) -> ObjectStoragePath: ...

class conf:
    @classmethod
    def getboolean(cls, section: str, key: str, *, fallback: bool) -> bool: ...
