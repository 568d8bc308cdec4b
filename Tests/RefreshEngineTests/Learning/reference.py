"""Prints the numbers of ReferenceTests.swift. Run it where planner.py, the reference planner, can be imported.

The inputs are those of the tests: a source that has something new at a steady pace, a user who comes in the morning and
in the evening of every day, and a machine that refreshes now more, now less than its budget."""
import numpy as np
from planner import App, Device, OFF, kde

def show(name, numbers, digits=4): print(name, "[" + ", ".join(f"{float(x):.{digits}g}" for x in numbers) + "]")

def prices():
    device = Device(4, 5.0)
    for day, refreshes in enumerate((60, 40, 10, 20, 20, 5, 30), 1):
        device.n = refreshes
        device.midnight(day)
        yield device.price

def rate(every):          # slots between two updates; a sync each 7 slots in turn with each 19 slots, for 60 days
    device = Device(1, 5.0)
    device.midnight(0)
    app, now, turn = device.apps[0], 0, 0
    while now < 60 * 144:
        last, now, turn = now, now + (7, 19)[turn % 2], turn + 1
        app.synced(now, now // every > last // every, False)
    app.rates()
    return app.l * 144    # updates a day

def openings():           # expected in each half hour of a day
    morning, evening = np.arange(48) - 16, np.arange(48) - 40
    return 2 * np.exp(-.5 * (morning / 2.) ** 2) / 5 + 3 * np.exp(-.5 * (evening / 3.) ** 2) / 7 + .01

def planned(per_day, price, shape=np.ones(8)):
    device = Device(1, 5.0)
    device.price = price
    app, blocks = device.apps[0], per_day / 144 * shape
    app.l = blocks.mean()
    app.rates = lambda: blocks
    app.usage = lambda day: np.tile(openings(), 3)
    app.midnight(0)
    return app, blocks

def main():
    show("prices", prices())
    show("rates", [rate(every) for every in (30, 72, 288)])
    counts = np.zeros(48)
    for day in range(28):
        counts[16 + day % 3] += 1
        counts[40 + day * 5 % 7] += 1
    show("shape", kde(counts, np.ones(48) / 48, 3.5))
    for per_day, price, shape in ((24, 12, np.ones(8)), (4, 75, np.ones(8)), (24, 12, np.arange(8) / 3.5)):
        app, blocks = planned(per_day, price, shape)
        show("future", app.F[::4] * 10)
        show("rise", [app.g * 10])
        for start, age in ((0, 0), (84, 0), (102, 24)):
            costs = app.plan(start, age, blocks)[1:] * 10
            show(f"wait, cost at {start * 10} min, age {age * 10}", [OFF[1 + costs.argmin()] * 10, costs.min()])

main()
