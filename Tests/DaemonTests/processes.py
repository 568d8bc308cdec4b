"""Processes of the machine, read from /proc."""

import os
import pathlib
import signal

from waiting import Bound, wait_for


def alive(*marks):
    """The processes with all these marks in the environment or command line that they started with.

    A zombie has neither.
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
    """Waits for the end of a process, which may be the child of any process."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        wait_for([descriptor], f"the end of process {pid}")
    finally:
        os.close(descriptor)


def end_all(mark):
    """Kills all processes with the mark, so that a failed test leaves none."""
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


def children(pid):
    """The processes that a process has started or that were left to it, running or not yet reaped."""
    return [int(child) for task in threads(pid) for child in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split()]


def status(pid, name):
    """A number of /proc/PID/status, such as VmRSS (kB) or voluntary_ctxt_switches."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0])
    raise KeyError(name)


def cpu(pid):
    """The processor time of a process, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
