from typing import Any

class BaseTrigger:
    def __init__(self) -> None: ...

class TriggerEvent:
    payload: Any
    def __init__(self, payload: Any) -> None: ...
