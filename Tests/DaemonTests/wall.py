"""A wall clock of the daemon's own, by wall.c; its boot clock is the machine's."""

import time

import pytest

SECOND = 1_000_000
DAY = 24 * 3600 * SECOND


class Wall:
    """The wall clock of the daemon."""

    def __init__(self, daemon, library):
        self.file = daemon.directory / "wall"
        self.environment = {"LD_PRELOAD": str(library), "WALL_OFFSET": str(self.file)}
        self.set_off(0)

    def set_off(self, days):
        """Sets the clock this number of days away from the machine's."""
        self.days = days
        part = self.file.with_suffix(".part")
        part.write_text(f"{round(days * DAY / SECOND)}\n")
        part.rename(self.file)

    def set_to(self, moment):
        """Sets the clock to a moment, in seconds of Unix time."""
        self.set_off((moment - time.time()) * SECOND / DAY)

    @property
    def now(self):
        return int(time.time() * SECOND) + round(self.days * DAY)


@pytest.fixture
def wall(daemon, preload):
    return Wall(daemon, preload("wall"))
