"""The one seam between the benchmark and whatever runs its work."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Outcome(Generic[Task, Result]):
    """What became of a task: its result, or why its worker died without one."""

    task: Task
    result: Result | None = None
    death: str = ""


class Engine(Protocol):
    """Applies a function to tasks, many at a time, each in a process that may die on its own."""

    def run(
        self, tasks: Sequence[Task], work: Callable[[Task], Result]
    ) -> Generator[Outcome[Task, Result], None, None]:
        """Outcomes as they come. Closing the iterator early ends the work that is under way."""
        ...
