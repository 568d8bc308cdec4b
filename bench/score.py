"""Scores refreshd's plans on generated fleets: `make score`, or

    score.py --refreshctl PROGRAM [--rows habits noon] [--profiles balanced] [--seeds 1 2] [--apps 200] [--jobs 2]

`refreshctl rehearse` runs the engine over each fleet with default settings. A score of 1 is as good as the best schedule
that knows all rates; freshness.py explains score, cost and the fleets that it generates. The rows:

    public   people with a morning and an evening peak
    regime   the same, and half of the sources change their rate by a factor of eight at half time
    habits   people who open an app at times of their own, and apps with intervals of 20 minutes to 4 hours
    noon     five apps, opened at 12:00, 2 minutes early or late
    mixed    intervals of 15 minutes to 24 hours, each app beside the same app among apps of its own interval
    guest    five apps of 4 hours, beside the same five with another app: quick, failing, or gone after three weeks
    cold     the first seven days, beside a fixed interval of the same number of refreshes that day; on the first day
             both refresh an app at once

The optimum of a fleet is computed once and kept in .build/score.
"""

import argparse
import functools
import multiprocessing
import os
import statistics
import sys
from pathlib import Path

import fleets
import freshness
import numpy
from fleets import DAY, INTERVALS

PROFILES = {"thrifty": 2, "balanced": 5, "fresh": 12}
"""Refreshes an app and day, at most (Sources/RefreshEngine/Learning/DeviceHabits.swift)."""
SCORES = {
    "public": {"thrifty": 0.94, "balanced": 0.92, "fresh": 0.93},
    "regime": {"thrifty": 0.93, "balanced": 0.91, "fresh": 0.92},
    "habits": {"thrifty": 0.90, "balanced": 0.86, "fresh": 0.85},
}
COSTS = {"thrifty": 1.15, "balanced": 1.3, "fresh": 1.5}
ENOUGH = 3
"""Refreshes a day with which the optimum meets people of habit well: more of them gain little."""
CALM = 1.05
"""How much older what an app gets may become through another app."""
FLOORS = ("15min", "1h", "4h")
GUESTS = ("quick", "failing", "failed three weeks", "left after three weeks")
ROWS = ("public", "regime", "habits", "noon", "mixed", "guest", "cold")


def fleet(options, kind: str, profile: str, seed: int) -> dict:
    generated, refreshes, ages = fleets.optimum(kind, options.apps, options.days, seed)
    apps = fleets.generated(generated)
    schedule = fleets.rehearse(options.refreshctl, apps, options.days, profile)
    plan = [schedule[app.name] for app in apps]
    figures = freshness.measure(generated, plan)
    best = functools.partial(numpy.interp, xp=refreshes, fp=ages)
    even = freshness.measure(generated, fleets.fixed(generated, figures["refreshes"]))
    return figures | {
        "score": float(numpy.exp(best(numpy.log(figures["refreshes"])))) / figures["age"],
        "fixed": float(numpy.exp(best(numpy.log(even["refreshes"])))) / even["age"],
        "cost": figures["refreshes"]
        / float(numpy.exp(numpy.interp(-numpy.log(figures["age"]), -numpy.array(ages), refreshes))),
        "enough": float(numpy.exp(best(numpy.log(ENOUGH)))),
        "early": sum(
            int((numpy.diff(times) < 10 * floor - 1).sum())
            for times, floor in zip(plan, generated.floor, strict=True)
        ),
        "first days": first_days(generated, plan),
    }


def first_days(generated: freshness.Fleet, plan) -> list[tuple[float, float, float, int]]:
    """Of each day: refreshes an app, the ages met added up, these with a fixed interval, the openings."""

    def of_day(times, day):
        return (times >= day * DAY) & (times < (day + 1) * DAY)

    result = []
    for day in range(7):
        count = sum(of_day(times, day).sum() for times in plan) / generated.apps
        sums = []
        even = fleets.fixed(generated, max(count, 0.01)) if day else fleets.fixed_at_first(generated, count)
        for each in (plan, even):
            pairs = (freshness.met(*generated.events(number), each[number]) for number in range(generated.apps))
            ages = [age[is_open & of_day(when, day)] for when, is_open, age in pairs]
            sums.append(float(sum(some.sum() for some in ages)))
        result.append((float(count), *sums, sum(map(len, ages))))
    return result


def ages(options, apps: list[fleets.App], begin: int) -> dict[str, tuple[float, float]]:
    """The mean age that openings of each app met, and its refreshes a day, from a day on."""
    schedule = fleets.rehearse(options.refreshctl, apps, options.days, None)
    result = {}
    for app in apps:
        when, is_open, age = freshness.met(app.updates, app.opens, schedule[app.name])
        late = when >= begin * DAY
        count = float((~is_open & late).sum()) / (options.days - begin)
        result[app.name] = (float(age[is_open & late].mean()) if (is_open & late).any() else 0.0, count)
    return result


def noon(options, floor: str, seed: int):
    return ages(options, fleets.five("noon", options.days, seed, floor), options.days // 3)


def guest(options, kind: str, host: str, seed: int):
    apps = fleets.five(host, options.days, seed) + fleets.visitor(kind, options.days, seed)
    return ages(options, apps, 28 if "weeks" in kind else 14)


def mixed(options, interval: str, seed: int):
    generated = freshness.Fleet(options.apps, options.days, seed, False)
    return ages(options, fleets.mixed(generated, interval), options.days // 3)


PARTS = {"fleet": fleet, "noon": noon, "guest": guest, "mixed": mixed}


def parts(options) -> list[tuple]:
    """All that is to be measured, each thing once; the first word of each is a key of PARTS."""
    wanted: dict[tuple, None] = {}
    for row in options.rows:
        kinds = ("public", "habits") if row == "cold" else (row,) if row in SCORES else ()
        some = [("fleet", kind, profile, seed) for kind in kinds for seed in options.seeds for profile in options.profiles]
        if row == "noon":
            some = [(row, floor, seed) for floor in FLOORS for seed in options.seeds]
        elif row == "mixed":
            some = [(row, interval, seed) for seed in options.seeds for interval in ("all", *INTERVALS)]
        elif row == "guest":
            kinds = ("nobody", *GUESTS)
            some = [(row, kind, host, seed) for host in ("noon", "day") for kind in kinds for seed in options.seeds]
        wanted |= dict.fromkeys(some)
    return list(wanted)


def measured(options, part: tuple):
    return part, PARTS[part[0]](options, *part[1:])


def mark(is_met: bool) -> str:
    return "yes" if is_met else "NO"


def fleet_lines(options, results, kind: str):
    for profile in options.profiles:
        of = [results["fleet", kind, profile, seed] for seed in options.seeds]
        score, cost, refreshes, age, enough, by_chance = (
            statistics.mean(each[key] for each in of)
            for key in ("score", "cost", "refreshes", "age", "enough", "fixed")
        )
        goal = SCORES[kind][profile]
        by_seed = " ".join(f"{each['score']:.3f}" for each in of)
        note = f"{refreshes:.2f} a day, by seed {by_seed}, fixed interval {by_chance:.2f}"
        is_met = score >= goal and refreshes <= 1.1 * PROFILES[profile]
        if kind != "habits":
            yield kind, profile, "score", f"{score:.3f}", f"≥ {goal:.2f}", mark(is_met), note
            continue
        early = sum(each["early"] for each in of)
        note += f", {early} before the floor" if early else ""
        is_met = (is_met or age <= enough) and not early
        value, text = f"{score:.3f}, {age:.1f} min", f"≥ {goal:.2f}, or ≤ {enough:.1f} min"
        yield kind, profile, "score, or age", value, text, mark(is_met), note
        yield kind, profile, "cost", f"{cost:.2f}", f"≤ {COSTS[profile]}", mark(cost <= COSTS[profile]), ""


def noon_lines(options, results):
    for floor in FLOORS:
        of = [figures for seed in options.seeds for figures in results["noon", floor, seed].values()]
        age, refreshes = (statistics.mean(column) for column in zip(*of, strict=True))
        oldest, most = (max(column) for column in zip(*of, strict=True))
        value = f"{age:.1f} min, {refreshes:.2f} a day"
        note = f"an app at worst {oldest:.1f} min, {most:.2f} a day"
        yield f"noon, {floor}", "", "age, refreshes", value, "≤ 10 min, ≤ 3", mark(age <= 10 and most <= 3), note


def mixed_lines(options, results):
    of_all: list[tuple[float, str]] = []
    for number, interval in enumerate(INTERVALS):
        among, alike, counts = [], [], []
        for seed in options.seeds:
            both = results["mixed", "all", seed], results["mixed", interval, seed]
            for name in list(both[0])[number :: len(INTERVALS)]:
                among.append(both[0][name][0])
                alike.append(both[1][name][0])
                counts.append((both[0][name][1], both[1][name][1]))
        ratio = statistics.mean(among) / max(statistics.mean(alike), 0.1)
        of_all.append((ratio, interval))
        refreshes = [statistics.mean(column) for column in zip(*counts, strict=True)]
        worst = max((here + 1) / (there + 1) for here, there in zip(among, alike, strict=True))
        size = len(among) // len(options.seeds)
        by_seed = " ".join(
            f"{sum(among[first : first + size]) / max(sum(alike[first : first + size]), 0.1):.3f}"
            for first in range(0, len(among), size)
        )
        note = f"{statistics.mean(among):.1f} and {statistics.mean(alike):.1f} min, {refreshes[0]:.2f} and "
        note += f"{refreshes[1]:.2f} a day, by seed {by_seed}; an app at worst × {worst:.2f}"
        yield f"mixed, {interval}", "", "age by that of its like", f"{ratio:.3f}", f"≤ {CALM}", mark(ratio <= CALM), note
    ratio, interval = max(of_all)
    yield "mixed", "", "the worst", f"{ratio:.3f}", f"≤ {CALM}", mark(ratio <= CALM), interval


def guest_lines(options, results):
    for host in ("noon", "day"):
        for kind in GUESTS:
            pairs = [
                (results["guest", kind, host, seed][name], results["guest", "nobody", host, seed][name])
                for seed in options.seeds
                for name in results["guest", "nobody", host, seed]
            ]
            here, there = (
                tuple(statistics.mean(column) for column in zip(*side, strict=True))
                for side in zip(*pairs, strict=True)
            )
            ratio = here[0] / max(there[0], 0.1)
            note = f"{here[0]:.1f} and {there[0]:.1f} min, {here[1]:.2f} and {there[1]:.2f} a day"
            value = f"{ratio:.3f}"
            yield f"guest, {kind}", "", f"age of five, {host}", value, f"≤ {CALM}", mark(ratio <= CALM), note


def cold_lines(options, results):
    for kind in ("public", "habits"):
        for profile in options.profiles:
            of = [results["fleet", kind, profile, seed]["first days"] for seed in options.seeds]
            ratios, notes = [], []
            for day in range(7):
                count, plan, even, opened = (sum(column) for column in zip(*(each[day] for each in of), strict=True))
                ratios.append(plan / even if even else 1.0)
                notes.append(f"{plan / opened:.0f}/{even / opened:.0f} ({count / len(of):.1f})" if opened else "-")
            worst = max(ratios)
            note = "min by day (refreshes): " + " ".join(notes)
            yield f"cold, {kind}", profile, "age by fixed", f"{worst:.2f}", "≤ 1", mark(worst <= 1), note


LINES = {"noon": noon_lines, "mixed": mixed_lines, "guest": guest_lines, "cold": cold_lines} | {
    kind: functools.partial(fleet_lines, kind=kind) for kind in SCORES
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--refreshctl", type=Path, required=True)
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS)
    parser.add_argument("--profiles", nargs="+", choices=PROFILES, default=list(PROFILES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--apps", type=int, default=200)
    parser.add_argument("--days", type=int, default=42)
    parser.add_argument("--jobs", type=int, help="how many processes; one a processor by default")
    options = parser.parse_args()
    options.refreshctl = options.refreshctl.resolve()
    if not os.access(options.refreshctl, os.X_OK):
        parser.error(f"no {options.refreshctl}; build it with: make score")
    if options.days < 35:
        parser.error("the rows measure after four weeks; give --days 35 or more")
    results, todo = {}, parts(options)
    with multiprocessing.Pool(options.jobs) as pool:
        for part, result in pool.imap_unordered(functools.partial(measured, options), todo):
            results[part] = result
            print(f"score: {len(results)} of {len(todo)}: {' '.join(map(str, part))}", file=sys.stderr, flush=True)
    rows = [("fleet", "profile", "figure", "value", "goal", "met", "more")]
    for row in options.rows:
        rows += LINES[row](options, results)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        padded = (f"{cell:{'>' if 3 <= column <= 4 else '<'}{widths[column]}}" for column, cell in enumerate(cells))
        print("  ".join(padded).rstrip())


if __name__ == "__main__":
    main()
