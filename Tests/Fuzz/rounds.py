"""The rounds of a part of the fuzzer: as many as its share of the time allows, each from a seed of its own."""

import os
import pathlib
import random
import time

SECONDS = float(os.environ.get("REFRESH_FUZZ_SECONDS", 60))
SEED = os.environ.get("REFRESH_FUZZ_SEED", "1")
# Rounds that found a mistake once: a part and a seed in each line.
KEPT = pathlib.Path(__file__).parent / "seeds.txt"


def rounds(part, share, limit=None):
    """Yields the name and the random numbers of each round: the kept ones first, then new ones.

    A failing test names the last round. To keep it, add it to seeds.txt.
    """
    for line in KEPT.read_text().splitlines():
        words = line.partition("#")[0].split()
        if words[:1] == [part]:
            yield line, random.Random(words[1])
    end = time.monotonic() + SECONDS * share
    number = 0
    while time.monotonic() < end and number != limit:
        number += 1
        name = f"{SEED}-{number}"
        yield f"{part} {name}", random.Random(name)
