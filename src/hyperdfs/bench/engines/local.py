"""The default engine: processes of this machine, a fresh one for each task.

A fresh process costs a few hundredths of a second, because it is forked from a server that has
imported torch already, and buys isolation: a task that is killed for its memory takes nobody with
it, and the memory of one task is never blamed on the next.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from typing import Any

from hyperdfs.bench.engines.base import Outcome, Result, Task

PRELOADED = "hyperdfs.bench.work"  # brings torch, scikit-learn and all methods
ORPHANED = 1
GRACE = 5.0  # seconds to end after a request


class LocalEngine:
    """Up to `jobs` processes at a time."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or default_jobs()

    def run(
        self, tasks: Sequence[Task], work: Callable[[Task], Result]
    ) -> Generator[Outcome[Task, Result], None, None]:
        context = _context()
        waiting = deque(tasks)
        running: dict[Connection, tuple[Any, Task]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self.jobs:
                    task = waiting.popleft()
                    receiver, process = _start(context, work, task)
                    running[receiver] = process, task
                for receiver in wait(list(running)):
                    process, task = running.pop(receiver)  # type: ignore[call-overload]
                    yield _outcome(process, receiver, task)  # type: ignore[arg-type]
        finally:
            _end([process for process, _ in running.values()])


def default_jobs() -> int:
    """The processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _context() -> BaseContext:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    _start_server()
    return context


def _start_server() -> None:
    """The server and its workers never see Ctrl-C, not even while they import: what is blocked
    when a process starts stays blocked in it."""
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # would unblock signals on its start
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(context: BaseContext, work: Callable[[Task], Result], task: Task) -> Any:
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_main, args=(sender, work, task))  # type: ignore[attr-defined]
    process.start()
    sender.close()  # the child's copy is then the only one: its death ends the pipe
    return receiver, process


def _main(sender: Connection, work: Callable[[Any], Any], task: Any) -> None:
    """In the child. Ctrl-C is the parent's to answer, and a dead parent ends the child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()
    try:
        answer = "", work(task)
    except Exception:
        answer = traceback.format_exc(), None
    sender.send(answer)


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(ORPHANED)


def _outcome(process: Any, receiver: Connection, task: Task) -> Outcome[Task, Any]:
    try:
        death, result = receiver.recv()
    except (EOFError, OSError):  # nothing came, or half of it
        process.join()
        death, result = _cause(process.exitcode), None
    receiver.close()
    process.join()
    process.close()
    return Outcome(task, result, death)


def _cause(code: int) -> str:
    if code >= 0:
        return f"The worker died with exit code {code}."
    name = signal.Signals(-code).name
    memory = ", as a rule for want of memory" if name == "SIGKILL" else ""
    return f"The worker died: it was ended by {name}{memory}."


def _end(processes: Sequence[Any]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(GRACE)
        if process.is_alive():
            process.kill()
            process.join()
        process.close()
