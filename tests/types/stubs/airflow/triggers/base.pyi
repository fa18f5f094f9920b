from typing import Any

class BaseTrigger:
    def __init__(self) -> None: ...

class BaseEventTrigger(BaseTrigger): ...

class TriggerEvent:
    payload: Any
    def __init__(self, payload: Any) -> None: ...
