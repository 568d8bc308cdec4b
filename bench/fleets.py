"""The fleets of score.py: apps with their openings, updates and intervals, as `refreshctl rehearse` replays them."""

import dataclasses
import functools
import hashlib
import json
import subprocess
import tempfile
from pathlib import Path

import freshness
import numpy
from numpy.random import Generator

CACHE = Path(__file__).parent.parent / ".build" / "score"
"""Where the optimum of a fleet is kept: it does not depend on refreshd, and takes half a minute."""
INTERVALS = {"15min": 15, "30min": 30, "1h": 60, "2h": 120, "4h": 240, "8h": 480, "12h": 720, "24h": 1440}
DAY = 1440


@dataclasses.dataclass(frozen=True)
class App:
    name: str
    updates: numpy.ndarray
    """Minutes since the trace began, as the others."""
    opens: numpy.ndarray
    interval: str | None = None
    """None for an app that no configuration names."""
    fails: tuple[float, float] | None = None
    """From when to when each refresh fails."""


def rehearse(program: Path, apps: list[App], days: int, profile: str | None) -> dict[str, numpy.ndarray]:
    """The refreshes of each app; the profile is the default if it is None."""
    with tempfile.TemporaryDirectory(prefix="refreshd-score.") as directory:
        trace, folder = Path(directory) / "trace.jsonl", Path(directory) / "apps.d"
        folder.mkdir()
        with trace.open("w") as file:
            print(json.dumps({"days": days}), file=file)
            for app in apps:
                line = {"app": app.name, "updates": list(app.updates), "opens": list(app.opens)}
                print(json.dumps(line | ({"fails": app.fails} if app.fails else {})), file=file)
                if app.interval:
                    text = f'id = "{app.name}"\nbackground_floor = "{app.interval}"\n[[task]]\nrun = ["true"]\n'
                    (folder / f"{app.name}.toml").write_text(text)
        command = [program, "rehearse", "--json", "--trace", trace, "--config", directory]
        command += ["--profile", profile] if profile else []
        answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    lines = map(json.loads, answer.splitlines())
    return {line["app"]: numpy.array(line["refreshes"], float) for line in lines}


def generated(fleet: freshness.Fleet) -> list[App]:
    intervals = [f"{10 * floor}min" if fleet.habits else None for floor in fleet.floor]
    return [App(fleet.name(number), *fleet.events(number), intervals[number]) for number in range(fleet.apps)]


def fixed(fleet: freshness.Fleet, refreshes: float) -> list[numpy.ndarray]:
    """So many refreshes an app and day at intervals that are all alike, but never shorter than an app's floor."""
    floors = fleet.floor * 10 if fleet.habits else numpy.full(fleet.apps, 1)
    short, long = 1.0, 60.0 * DAY
    for _ in range(60):
        minutes = (short * long) ** 0.5
        short, long = (minutes, long) if numpy.mean(DAY / numpy.maximum(minutes, floors)) > refreshes else (short, minutes)
    periods = numpy.maximum(short, floors)
    phases = numpy.random.default_rng(7).random(fleet.apps)
    return [numpy.arange(period * phase, fleet.days * DAY, period) for period, phase in zip(periods, phases, strict=True)]


def fixed_at_first(fleet: freshness.Fleet, refreshes: float) -> list[numpy.ndarray]:
    """The first day of fixed intervals, with so many refreshes an app: all begin with one at once, as refreshd's do.

    The second refresh comes after half an interval to one and a half, so that no result hangs on a hour of the day."""
    floors = fleet.floor * 10 if fleet.habits else numpy.full(fleet.apps, 1)
    phases = numpy.random.default_rng(7).random(fleet.apps)

    def schedule(minutes):
        periods = numpy.maximum(minutes, floors)
        seconds = numpy.maximum(periods * (0.5 + phases), floors)
        return [
            numpy.concatenate([[0.0], numpy.arange(second, DAY, period)])
            for second, period in zip(seconds, periods, strict=True)
        ]

    short, long = 1.0, 60.0 * DAY
    for _ in range(60):
        minutes = (short * long) ** 0.5
        is_many = numpy.mean([len(times) for times in schedule(minutes)]) > refreshes
        short, long = (minutes, long) if is_many else (short, minutes)
    return schedule(long)


@functools.cache
def optimum(kind: str, apps: int, days: int, seed: int) -> tuple[freshness.Fleet, list[float], list[float]]:
    """A generated fleet, and the logarithms of the best refreshes a day and ages that are possible on it."""
    fleet = freshness.Fleet(apps, days, seed, kind == "regime", kind == "habits")
    source = Path(freshness.__file__).read_bytes()
    key = hashlib.sha256(source + repr((kind, apps, days, seed)).encode()).hexdigest()[:16]
    path = CACHE / f"{kind}-{seed}-{key}.json"
    if not path.exists():
        curve = [list(axis) for axis in freshness.optimum_curve(fleet)]
        CACHE.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{id(curve)}")
        part.write_text(json.dumps(curve))
        part.rename(path)
    return fleet, *json.loads(path.read_text())


def poisson(random: Generator, a_day: float, days: int) -> numpy.ndarray:
    return numpy.sort(random.random(random.poisson(a_day * days)) * days * DAY)


def daytime(random: Generator, a_day: float, days: int) -> numpy.ndarray:
    """Openings between 7:00 and 23:00, at any of these times alike."""
    minutes = poisson(random, a_day, days)
    return minutes - minutes % DAY + 420 + minutes % DAY * 960 / DAY


def at_noon(random: Generator, days: int) -> numpy.ndarray:
    """An opening each day at 12:00, 2 minutes early or late."""
    return numpy.sort(numpy.arange(days) * DAY + 720 + random.normal(0, 2, days))


def five(kind: str, days: int, seed: int, interval: str = "4h") -> list[App]:
    """Five apps whose sources are updated 6 to 96 times a day, opened at noon or six times from morning to night."""
    random = numpy.random.default_rng(seed)
    opens = {"noon": lambda: at_noon(random, days), "day": lambda: daytime(random, 6, days)}[kind]
    rates = (6, 12, 24, 48, 96)
    return [App(f"org.example.five{rate}", poisson(random, rate, days), opens(), interval) for rate in rates]


def visitor(kind: str, days: int, seed: int) -> list[App]:
    """An app that must not change what the others get."""
    random = numpy.random.default_rng(1000 + seed)
    updates, opens = poisson(random, 100, days), daytime(random, 20, days)
    interval, end = "15min", days * DAY
    fails = {"failing": (0, end), "failed three weeks": (0, 21 * DAY)}.get(kind)
    if kind == "left after three weeks":
        updates, opens = updates[updates < 21 * DAY], opens[opens < 21 * DAY]
    return [] if kind == "nobody" else [App("org.example.visitor", updates, opens, interval, fails)]


def mixed(fleet: freshness.Fleet, interval: str) -> list[App]:
    """The fleet with one interval, or with each of them in turn ("all")."""
    turn = list(INTERVALS)
    return [
        dataclasses.replace(app, interval=turn[number % len(turn)] if interval == "all" else interval)
        for number, app in enumerate(generated(fleet))
    ]
