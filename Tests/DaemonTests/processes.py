"""Processes of the machine, as /proc shows them."""

import os
import pathlib
import signal

from waiting import Bound, wait_for


def alive(*marks):
    """The processes that have all the marks in their environment or command line, as it was when they began.

    What has ended and merely waits to be reaped has neither.
    """
    found = []
    for directory in pathlib.Path("/proc").iterdir():
        if not directory.name.isdigit() or int(directory.name) == os.getpid():
            continue
        try:
            text = (directory / "environ").read_bytes() + b"\0" + (directory / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if all(mark.encode() in text for mark in marks):
            found.append(int(directory.name))
    return sorted(found)


def wait_for_end(pid):
    """Waits until a process has ended, whoever's child it is."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        wait_for([descriptor], f"the end of process {pid}")
    finally:
        os.close(descriptor)


def end_all(mark):
    """Kills all processes with the mark, so that a test that failed leaves none."""
    bound = Bound()
    while found := alive(mark):
        assert bound.left, f"cannot end {found}"
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            wait_for_end(pid)


def threads(pid):
    """The ids of the threads of a process."""
    return sorted(int(entry) for entry in os.listdir(f"/proc/{pid}/task"))


def status(pid, name):
    """A number of /proc/PID/status, such as VmRSS (kB) or voluntary_ctxt_switches."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0])
    raise KeyError(name)
