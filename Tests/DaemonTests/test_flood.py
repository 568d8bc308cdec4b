"""A task that prints without end costs itself: others are answered, and the log keeps their lines."""

import re
import time

from daemon import MAIL, finished

ALLOWED = 1000
# The longest that a call may take beside it, in seconds: without the bound it was up to 40. Other tests run beside it.
PATIENCE = 8


def test_an_endless_output_is_bounded_and_costs_others_nothing(daemon):
    told = daemon.pipe("told")
    daemon.app(f"trap 'exit 0' TERM; echo > {told}; yes '' & wait", deadline="4s", grace="1s")
    daemon.app("echo hello", id=MAIL)
    daemon.start()
    stream = daemon.run()
    told.line()
    slowest = 0
    for _ in range(50):
        start = time.monotonic()
        daemon.status()
        slowest = max(slowest, time.monotonic() - start)
    assert [answer["event"].get("text") for answer in daemon.run(MAIL)].count("hello") == 1
    assert slowest < PATIENCE, slowest
    lines = [answer["event"]["text"] for answer in stream if answer["event"]["kind"] == "output"]
    notes = [line for line in lines if line.startswith("refreshd dropped ")]
    # A task of 4 s gets its allowance, what comes back meanwhile, and no more before a quarter has come back.
    assert len(lines) - len(notes) <= 1.3 * ALLOWED
    assert len(notes) <= 2 and int(re.search(r"dropped (\d+) lines", notes[-1])[1]) > 1000, notes


def test_the_last_line_counts_whatever_was_dropped(daemon):
    daemon.app("yes '' | head -n 200000; echo the end")
    daemon.start()
    stream = daemon.run()
    assert finished(stream)["tasks"][0]["message"] == "the end"
