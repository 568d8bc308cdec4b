"""The memory of a refreshd that is alone on the machine, after calls and a reload."""

import os
from pathlib import Path

import measure
from refreshd import Refreshd

ROUNDS = 10
"""Of five calls each, before the reload and again after it: 100 calls."""


def weigh(refreshd: Refreshd) -> measure.Memory:
    """Starts the daemon, whose store knows its apps, calls it and has it reload, and reads its memory.

    A page that several processes map counts in part only, so no other process may run the same program.
    """
    refreshd.start()
    try:
        refuse_company(refreshd.process)
        use(refreshd)
        return measure.memory(refreshd.process)
    finally:
        refreshd.stop()


def use(refreshd: Refreshd) -> None:
    """Calls, a reload, and calls again, because a reload ends with giving back pages that the next calls need."""
    call(refreshd)
    refreshd.call("Manager.Reload")
    call(refreshd)


def call(refreshd: Refreshd) -> None:
    app = refreshd.apps[0]
    for number in range(ROUNDS):
        refreshd.call("Manager.Version")
        refreshd.call("Manager.List")
        refreshd.call("Manager.Show", app=app)
        refreshd.call("Manager.Why", app=app)
        refreshd.call("App.Signal", app=app, signal="background" if number % 2 == 0 else "foreground")


def refuse_company(process: int) -> None:
    """Raises RuntimeError if another process runs the program of this one."""
    program = os.stat(f"/proc/{process}/exe")
    for other in Path("/proc").glob("[0-9]*"):
        try:
            runs_it = os.path.samestat(os.stat(other / "exe"), program)
        except OSError:
            continue  # it has ended, or is a thread of the kernel
        if runs_it and other.name != str(process):
            raise RuntimeError(f"cannot weigh refreshd: process {other.name} shares the pages of its program")
