"""What `with` and `async with` close. The wrong one of them says which to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import NoReturn, Self


class Managed:
    """What `with` closes."""

    if TYPE_CHECKING:

        def close(self) -> None: ...

    def __enter__(self) -> Self:
        """The object itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()


class AsyncManaged:
    """What `async with` closes."""

    if TYPE_CHECKING:

        async def close(self) -> None: ...

    async def __aenter__(self) -> Self:
        """The object itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Closes it."""
        await self.close()

    if not TYPE_CHECKING:  # so that type checkers report it

        def __enter__(self) -> NoReturn:
            """Raises a `TypeError` that says what to write."""
            raise TypeError(f"{type(self).__name__} is closed by an event loop: write `async with`")

        def __exit__(self, *_error: object) -> None:
            """Never called; `with` looks for it first."""


class ManagedIterator(Managed):
    """What `for` reads, and `with` closes."""

    def __iter__(self) -> Self:
        """The iterator itself."""
        return self


class AsyncManagedIterator(AsyncManaged):
    """What `async for` reads, and `async with` closes."""

    def __aiter__(self) -> Self:
        """The iterator itself."""
        return self

    if not TYPE_CHECKING:

        def __iter__(self) -> NoReturn:
            """Raises a `TypeError` that says what to write."""
            raise TypeError(f"{type(self).__name__} is awaited: write `async for`")
