#!/usr/bin/python3 -B
"""Records what refreshctl prints for the first page: `session.py PROGRAMS DIRECTORY`.

A real refreshd lives through two weeks of a wall clock of its own (Tests/DaemonTests/wall.c). The outputs and the picture of the time line go into the directory as files.
"""

import datetime
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MONDAY = datetime.datetime(2027, 1, 4, tzinfo=datetime.timezone.utc).timestamp()
DAY, HOUR = 86400, 3600
DAYS = 14
MAIL, MIRROR, NEWS = "org.example.mail", "org.example.mirror", "org.example.news"
COMMANDS = {
    "list": ["list"],
    "why": ["why", MAIL],
    "foreground": ["foreground", MAIL],
    "run": ["run", MIRROR],
    "history": ["history", MIRROR, "--limit", "3"],
}


def main(programs: Path, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="refreshd-site-") as scratch:
        with Life(programs, Path(scratch)) as life:
            life.live()
            life.refreshctl("timeline", "--hours", "12", "--svg", str(directory / "timeline.svg"))
            for name, words in COMMANDS.items():
                (directory / f"{name}.txt").write_text(life.refreshctl(*words))


class Life:
    """A daemon with three apps and a clock of its own."""

    def __init__(self, programs: Path, scratch: Path):
        self.programs, self.scratch = programs, scratch
        self.socket = scratch / "socket"
        self.offset = scratch / "offset"
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notices.bind(str(scratch / "notify"))
        library = scratch / "wall.so"
        source = ROOT / "Tests/DaemonTests/wall.c"
        subprocess.run(["gcc", "-O", "-shared", "-fPIC", "-o", library, source], check=True)
        self.environment = {
            "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC", "LD_PRELOAD": str(library),
            "WALL_OFFSET": str(self.offset), "REFRESH_SOCKET": str(self.socket),
        }  # fmt: skip
        apps = scratch / "config/apps.d"
        apps.mkdir(parents=True)
        (scratch / "config/refreshd.toml").write_text('launcher = "spawn"\nsettle = "0s"\n')
        self.app(apps, MAIL, "Mail", "1h")
        self.app(apps, MIRROR, "Git mirror", "4h")
        self.app(apps, NEWS, "News", "30min", quiet="22:00-07:00")

    def app(self, folder: Path, id: str, name: str, floor: str, **keys: str) -> None:
        """An app with new data at every refresh."""
        values = {"id": id, "name": name, "background_floor": floor, "network": "none", **keys}
        lines = [f'{key} = "{value}"' for key, value in values.items()]
        (folder / f"{id}.toml").write_text("\n".join(lines) + '\n[[task]]\nrun = ["true"]\n')

    def __enter__(self):
        self.set(MONDAY)
        command = [self.programs / "refreshd", "--config", self.scratch / "config", "--state", self.scratch / "state"]
        self.process = subprocess.Popen(
            [*command, "--socket", self.socket], env={**self.environment, "NOTIFY_SOCKET": self.notices.getsockname()},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.notices.settimeout(60)
        while b"READY=1" not in self.notices.recv(4096):
            pass
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.notices.close()

    def set(self, moment: float) -> None:
        """Sets the wall clock."""
        part = self.offset.with_suffix(".part")
        part.write_text(f"{round(moment - time.time())}\n")
        part.rename(self.offset)

    def live(self) -> None:
        """Mail around noon and the mirror in the afternoon of working days, news in the morning and in the evening."""
        for day in range(DAYS):
            self.live_through(MONDAY + day * DAY, day, end=DAY)
        today = MONDAY + DAYS * DAY
        self.live_through(today, DAYS, end=9 * HOUR)
        self.set(today + 9 * HOUR + 20 * 60)
        for app in (MAIL, NEWS, MIRROR):
            self.refreshctl("run", app)

    def live_through(self, start: float, day: int, end: float) -> None:
        works, shift = day % 7 < 5, (day * 7 % 11 - 5) * 60
        moments = [(7 * HOUR + 40 * 60 + shift, "open", NEWS), (20 * HOUR + shift, "open", NEWS)]
        moments += [(hour * HOUR, "refresh", NEWS) for hour in (7, 10, 13, 16, 19)]
        moments += [(hour * HOUR + 40 * 60, "refresh", MAIL) for hour in (8, 11, 15, 18)]
        moments += [(hour * HOUR + 20 * 60, "refresh", MIRROR) for hour in (6, 14, 22)]
        if works:
            moments += [(12 * HOUR + shift, "open", MAIL), (15 * HOUR - shift, "open", MIRROR)]
        for moment, act, app in sorted(moments):
            if moment >= end:
                return
            self.set(start + moment)
            if act == "refresh":
                self.refreshctl("run", app)
            else:
                self.refreshctl("foreground", app)
                self.set(start + moment + 6 * 60)
                self.refreshctl("background", app)

    def refreshctl(self, *words: str) -> str:
        """The text that a terminal shows: `run` tells its progress on standard error."""
        return subprocess.run(
            [self.programs / "refreshctl", *words], env=self.environment, check=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=60,
        ).stdout  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute())
