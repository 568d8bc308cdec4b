"""The figures, their goals, and the table that shows which goals are met."""

import dataclasses
import statistics
from collections import defaultdict
from collections.abc import Callable

from measure import Missing

REFRESHD, YARDSTICK, SYSTEMD = COLUMNS = ("refreshd", "yardstick", "systemd")


@dataclasses.dataclass(frozen=True)
class Goal:
    text: str
    is_met: Callable[[dict[str, float]], bool]
    """Takes the values by column."""


def at_most(bound: float) -> Goal:
    return Goal(f"≤ {bound:,g}", lambda value: value[REFRESHD] <= bound)


def at_least(bound: float) -> Goal:
    return Goal(f"≥ {bound:,g}", lambda value: value[REFRESHD] >= bound)


def times_yardstick(bound: float) -> Goal:
    return Goal(f"≤ {bound:g} × yardstick", lambda value: value[REFRESHD] <= bound * value[YARDSTICK])


def share_of_yardstick(bound: float) -> Goal:
    return Goal(f"≥ {bound:g} × yardstick", lambda value: value[REFRESHD] >= bound * value[YARDSTICK])


def as_systemd() -> Goal:
    return Goal("≤ systemd", lambda value: value[REFRESHD] <= value[SYSTEMD])


def times_systemd(bound: float) -> Goal:
    return Goal(f"≤ {bound:g} × systemd", lambda value: value[REFRESHD] <= bound * value[SYSTEMD])


FIGURES = {
    "alone, 1 app: anonymous, MB": at_most(4),
    "alone, 1 app: file, MB": at_most(8),
    "alone, 1 app: PSS, MB": at_most(12),
    "alone, 1,000 apps: anonymous, MB": at_most(4),
    "alone, 1,000 apps: file, MB": at_most(8),
    "alone, 1,000 apps: PSS, MB": at_most(12),
    "PSS idle with 1,000 apps, MB": at_most(8),
    "bytes an app": at_most(1800),
    "threads at rest with 1,000 apps": at_most(1),
    "wakes in 60 idle s beyond keep-alives": at_most(0),
    "exec to READY=1 with 1,000 apps, ms": at_most(50),
    "1 due: lateness p99, ms": times_yardstick(2),
    "1,000 due: lateness p99, ms": times_yardstick(2),
    "1,000 due: CPU a refresh, ms": times_yardstick(3),
    "a unit a task, 1 due: lateness p50, ms": times_systemd(2),
    "a unit a task, 100 due: lateness p99, ms": times_systemd(2),
    "a unit a task, 100 due: CPU a refresh, ms": times_systemd(2),
    "refreshes/s sustained, static task": at_least(3000),
    "refreshes/s sustained, sh -c": at_least(1200),
    "change the interval of 1 app, ms": at_most(1),
    "change the interval of 1,000, ms": at_most(20),
    "Signal, 1 client p50, us": times_yardstick(3),
    "Show, 1 client p50, us": times_yardstick(3),
    "Signal, 50 clients, calls/s": share_of_yardstick(0.2),
    "Show, 50 clients, calls/s": share_of_yardstick(0.2),
    "status of one, as a process p50, ms": as_systemd(),
    "attached app: perform to Complete p50, us": at_most(200),
    "attached app at rest: RSS, MB": at_most(16),
}


class Table(Missing):
    """Values by figure and column, one for each round; the table prints their median, and notes below it."""

    def __init__(self):
        super().__init__()
        self.values: dict[str, dict[str, list[float]]] = {figure: defaultdict(list) for figure in FIGURES}

    def add(self, figure: str, column: str, value: float) -> None:
        self.values[figure][column].append(value)

    def rows(self) -> list[list[str]]:
        rows = []
        for figure, goal in FIGURES.items():
            value = {column: statistics.median(taken) for column, taken in self.values[figure].items()}
            shares = REFRESHD in value and value.get(YARDSTICK)
            ratio = f"{value[REFRESHD] / value[YARDSTICK]:.2f}" if shares else "-"
            try:
                met = "yes" if goal.is_met(value) else "NO"
            except KeyError:
                met = "?"
            rows.append([figure, *(shown(value.get(column)) for column in COLUMNS), ratio, goal.text, met])
        return rows

    def __str__(self) -> str:
        rows = [["figure", *COLUMNS, "ratio", "goal", "met"], *self.rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(align(cells, widths)).rstrip() for cells in rows)


def align(cells: list[str], widths: list[int]) -> list[str]:
    """Aligns numbers to the right and words to the left."""
    return [
        cell.rjust(width) if 1 <= column <= 4 else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]


def shown(value: float | None) -> str:
    """Formats with three significant digits."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 or value == 0 else f"{value:#.3g}"
