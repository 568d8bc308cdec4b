"""Writes refreshd.order, the functions that refreshd runs after its start, one a line: `make order`, or

    order.py --refreshd PROGRAM --output FILE

The linker puts these functions side by side. The daemon then has fewer pages of its program in memory, because the
kernel maps a file by whole pages, and several at once. PROGRAM is a release build, not stripped. touched.c runs it
through calls, a reload and refreshes, as in weight.py. The linker skips names that are gone, so an old file breaks
nothing: the program only takes more memory. The names are sorted, so that a new file differs in few lines.
"""

import argparse
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import measure
import weight
from refreshd import Refreshd

HERE = Path(__file__).resolve().parent
APPS = 1000
BUSY_APPS = 20


def functions(program: Path) -> list[tuple[str, str]]:
    """The address and the name of each function of the program; several files may have a function of one name."""
    lines = subprocess.run(["nm", "--defined-only", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    symbols = [line.split() for line in lines.splitlines()]
    return [(at, name) for at, kind, name in filter(lambda each: len(each) == 3, symbols) if kind in "tTwW"]


def touched(program: Path, scratch: Path) -> set[str]:
    """The names of the functions that the program enters after its start."""
    programs = {
        "touched": [],
        "task": ["-static", "-nostdlib", "-fno-stack-protector"],
        "keep_pages": ["-shared", "-fPIC"],
    }
    for name, options in programs.items():
        subprocess.run(["cc", "-O2", *options, "-o", str(scratch / name), str(HERE / f"{name}.c")], check=True)
    (scratch / "functions").write_text("".join(f"{at} {name}\n" for at, name in functions(program)))
    starts = measure.Starts(scratch / "starts")
    task = [str(scratch / "task"), str(starts.path), "%04d"]
    notify = measure.Notify(scratch / "notify.socket")
    service = Refreshd(program, scratch, "refreshd", APPS, task, starts, notify)
    service.start_for_the_first_time()
    service.stop()
    output = scratch / "touched.txt"
    names = ("touched", "functions", "touched.txt", "keep_pages")
    service.arguments = [str(scratch / each) for each in names] + service.arguments
    service.start()
    time.sleep(1)  # what the start leaves for later has run too
    try:
        os.kill(service.process, signal.SIGUSR1)
        time.sleep(2)  # to put the breakpoints back takes a moment
        weight.use(service)
        starts.clear()
        busy = service.apps[:BUSY_APPS]
        service.enter_foreground(busy)
        service.set_interval(busy, "100ms")
        starts.wait_for(2 * BUSY_APPS)
        service.make_quiet()
    finally:
        service.stop()
    entered = [line.split() for line in output.read_text().splitlines()]
    return {name for phase, name in entered if phase != "1"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--refreshd", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="refreshd-order.", dir="/var/tmp") as directory:
        names = touched(arguments.refreshd.resolve(), Path(directory))
    arguments.output.write_text("".join(f"{name}\n" for name in sorted(names)))
    print(f"{arguments.output}: {len(names)} functions")


main()
