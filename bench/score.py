"""Scores refreshd's plans beside a fixed interval of the same cost and the reference planner: `make score`, or

    score.py --refreshctl PROGRAM [--seeds 5] [--planner-seeds 1]

Each seed gives two traces by freshness.py: an ordinary one, and one in which half of the sources change their rate by a
factor of eight at half time. `refreshctl rehearse` runs the engine over both with each profile. A score of 1 is as good
as the best schedule that knows all rates; freshness.py explains it. The planner is slow, so it runs on the first seeds
only. Each trace takes one processor; the defaults take about 15 minutes on two.
"""

import argparse
import dataclasses
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import freshness
import numpy
import planner
from table import align

BUDGETS = {"thrifty": 2, "balanced": 5, "fresh": 12}
"""Refreshes an app and day (Sources/RefreshEngine/Learning/Profile.swift)."""
GOALS = {False: {"thrifty": 0.94, "balanced": 0.91, "fresh": 0.88}, True: {"thrifty": 0.93, "balanced": 0.88, "fresh": 0.86}}
DRIFT = 0.1
"""How far the refreshes may be from the budget."""


@dataclasses.dataclass(frozen=True)
class Trace:
    program: Path
    seed: int
    changes: bool
    apps: int
    days: int
    has_planner: bool


@dataclasses.dataclass(frozen=True)
class Result:
    changes: bool
    profile: str
    seed: int
    refreshes: float
    score: float
    fixed: float
    planner: float | None


def score(curve, measured) -> float:
    """The age of the optimum at the same number of refreshes by the age of the schedule."""
    refreshes, ages = curve
    return float(numpy.exp(numpy.interp(numpy.log(max(measured["refreshes"], 1e-6)), refreshes, ages)) / measured["age"])


def rehearse(trace: Trace, fleet: freshness.Fleet, path: Path, profile: str) -> list[list[float]]:
    command = [trace.program, "rehearse", "--trace", path, "--profile", profile, "--json"]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    refreshes = {line["app"]: line["refreshes"] for line in map(json.loads, answer.splitlines())}
    return [refreshes[fleet.name(number)] for number in range(fleet.apps)]


def results(trace: Trace) -> list[Result]:
    fleet = freshness.Fleet(trace.apps, trace.days, trace.seed, trace.changes)
    curve = freshness.optimum_curve(fleet)
    with tempfile.TemporaryDirectory(prefix="refreshd-score.") as directory:
        path = Path(directory) / "trace.jsonl"
        with path.open("w") as file:
            first = dict(apps=fleet.apps, days=fleet.days, warm=fleet.warm, seed=fleet.seed, regime=fleet.regime)
            print(json.dumps(first), file=file)
            for number in range(fleet.apps):
                app = dict(app=fleet.name(number), updates=fleet.updates(number), opens=fleet.opens(number))
                print(json.dumps(app), file=file)
        return [result(trace, fleet, curve, path, profile) for profile in BUDGETS]


def result(trace: Trace, fleet: freshness.Fleet, curve, path: Path, profile: str) -> Result:
    engine = freshness.measure(fleet, rehearse(trace, fleet, path, profile))
    hours = 24 / engine["refreshes"]
    fixed = freshness.measure(fleet, freshness.run(fleet, freshness.Fixed(fleet, hours)))
    reference = None
    if trace.has_planner:
        device = planner.Device(fleet.apps, BUDGETS[profile])
        reference = score(curve, freshness.measure(fleet, freshness.run(fleet, device)))
    return Result(
        trace.changes, profile, trace.seed, engine["refreshes"], score(curve, engine), score(curve, fixed), reference
    )


def row(changes: bool, profile: str, of: list[Result]) -> list[str]:
    mean = statistics.mean(each.score for each in of)
    refreshes = statistics.mean(each.refreshes for each in of)
    references = [each.planner for each in of if each.planner is not None]
    is_met = (
        mean >= GOALS[changes][profile]
        and all(each.score >= each.fixed for each in of)
        and all(abs(each.refreshes / BUDGETS[profile] - 1) <= DRIFT for each in of)
    )
    return [
        f"{profile}, rates change" if changes else profile,
        f"{mean:.3f}",
        " ".join(f"{each.score:.3f}" for each in of),
        f"{statistics.mean(each.fixed for each in of):.3f}",
        f"{statistics.mean(references):.3f}" if references else "-",
        f"{refreshes:.2f}",
        f"≥ {GOALS[changes][profile]}, {BUDGETS[profile]} ± {DRIFT:.0%}",
        "yes" if is_met else "NO",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--refreshctl", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3, help="how many, from 1")
    parser.add_argument("--planner-seeds", type=int, default=1, help="on how many of them the planner runs too")
    parser.add_argument("--apps", type=int, default=200)
    parser.add_argument("--days", type=int, default=42)
    arguments = parser.parse_args()
    program = arguments.refreshctl.resolve()
    if not os.access(program, os.X_OK):
        parser.error(f"no {program}; build it with: make score")
    traces = [
        Trace(program, seed, changes, arguments.apps, arguments.days, seed <= arguments.planner_seeds)
        for seed in range(1, arguments.seeds + 1)
        for changes in (False, True)
    ]
    everything: list[Result] = []
    with multiprocessing.Pool() as pool:
        for number, some in enumerate(pool.imap(results, traces), 1):
            print(f"score: {number} of {len(traces)} traces", file=sys.stderr, flush=True)
            everything += some
    rows = [["profile", "score", "by seed", "fixed", "planner", "refreshes", "goal", "met"]]
    for changes, goals in GOALS.items():
        for profile in goals:
            of = [each for each in everything if (each.changes, each.profile) == (changes, profile)]
            rows.append(row(changes, profile, of))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print("\n".join("  ".join(align(cells, widths)).rstrip() for cells in rows))


if __name__ == "__main__":
    main()
