"""Hostile values: the edges of numbers and texts, and changes to valid bytes."""

NUMBERS = [
    0, 1, -1, 2, 63, 64, 100, 1000, 4096, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53 + 1, 10**15, 10**18,
    2**63 - 1, -(2**63), 2**63, 2**64, -(2**64), 10**30,
]  # fmt: skip
TEXTS = [
    "", " ", "x", "default", "0", "-1", "null", "\0", "\n", "\r\n", "\t", "a\nb", "..", ".", "/", "//", "/..", "~", "$HOME", "%n",
    "{app}", "é", "\u202e", "\ufeff", "\U0001f600", "\ud7ff", "a" * 200, "a" * 255, "a" * 256, "a" * 4097, "é" * 2000,
    "\\", '"', "'", "--", "-x", "org.example", "org.example.", ".org.example", "org..example", "org.example.none",
    "12-345", "0-0", "99999999999999999999-1", "1s", "5min", "never", "bytes=0-1", "\x7f", "\u0085", "﷐",
]  # fmt: skip
# Bytes that mean something to JSON, TOML, HTTP or the framing of messages.
MEANING = b'{}[]:,"\\/\0\r\n\t =-+.eE019truefalsn#\'\x80\xc3\xe2\xf0\xff'


def number(random):
    if random.random() < 0.3:
        return random.randint(-(2 ** random.randint(1, 66)), 2 ** random.randint(1, 66))
    return random.choice(NUMBERS)


def text(random):
    chance = random.random()
    if chance < 0.6:
        return random.choice(TEXTS)
    if chance < 0.62:
        return random.choice("aé\n") * random.randint(1, 60_000)
    return "".join(chr(random.choice([random.randint(0, 127), random.randint(0, 0xD7FF)])) for _ in range(random.randint(0, 30)))


def value(random, depth=3):
    """Any JSON value."""
    kind = random.randint(0, 7 if depth else 4)
    if kind == 0:
        return None
    if kind == 1:
        return random.random() < 0.5
    if kind == 2:
        return number(random)
    if kind == 3:
        return random.choice([0.5, -0.0, 1e308, 1e-320, 3.7])
    if kind == 4:
        return text(random)
    count = random.choice([0, 1, 2, 3, 20])
    if kind in (5, 6):
        return {text(random)[:50]: value(random, depth - 1) for _ in range(count)}
    return [value(random, depth - 1) for _ in range(count)]


def mutated(random, data, times=8):
    """The bytes with a few changes."""
    data = bytearray(data)
    for _ in range(random.randint(1, times)):
        place = random.randint(0, len(data))
        end = min(len(data), place + random.choice([1, 1, 1, 2, 8, 64, 4096]))
        kind = random.randint(0, 7)
        if kind == 0:
            del data[place:end]
        elif kind == 1:
            data[place:place] = bytes([random.choice(MEANING)])
        elif kind == 2 and data:
            data[place % len(data)] = random.choice(MEANING)
        elif kind == 3 and data:
            data[place % len(data)] ^= 1 << random.randint(0, 7)
        elif kind == 4:
            data[place:place] = data[place:end] * random.choice([1, 2, 100])
        elif kind == 5:
            data[place:place] = bytes([random.choice(MEANING)]) * random.choice([2, 10, 300, 3000])
        elif kind == 6:
            data[place:place] = str(random.choice(NUMBERS)).encode()
        else:
            data[place:place] = random.choice(TEXTS).encode(errors="surrogatepass")
    return bytes(data)
