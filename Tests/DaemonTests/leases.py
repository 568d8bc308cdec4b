"""A program whose owner must agree before it is loaded."""

import fcntl
import signal
import sys

import pytest


@pytest.fixture
def leased(daemon):
    """A program of whose loading its owner is asked first (F_SETLEASE), and never agrees."""
    program = daemon.directory / "program"
    program.write_text(f"#!{sys.executable}\n")
    program.chmod(0o755)
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    with open(program) as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        yield program
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    signal.signal(signal.SIGIO, before)
