"""A terminal with a program on it: the text that a person sees, keys, sizes and settings."""

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import unicodedata

from waiting import BOUND, Bound

# A control sequence of ECMA-48, or one character.
TOKEN = re.compile(r"\x1b\[([?]?)([0-9;]*)([@-~])|\x1b.|[^\x1b]", re.DOTALL)
# The end of what was read may be the beginning of a sequence.
INCOMPLETE = re.compile(r"\x1b(\[[?]?[0-9;]*)?$")


class Terminal:
    """A program whose standard streams are a terminal, and which is its session's first process.

    It knows the sequences that `refreshctl top` and a shell send. Another sequence fails the test.
    """

    def __init__(self, command, environment, columns=80, lines=24):
        self.own, self.others = os.openpty()
        self.columns, self.lines = columns, lines
        self.size(columns, lines)
        self.before = termios.tcgetattr(self.others)
        self.main, self.alternate = {}, {}
        self.cells, self.at = self.main, (0, 0)
        self.modes = set()
        self.rest = b""
        self.process = subprocess.Popen(
            command, stdin=self.others, stdout=self.others, stderr=self.others, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={"PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8", "TZ": "UTC", **environment},
        )  # fmt: skip

    def size(self, columns, lines):
        """Changes the size; the kernel sends SIGWINCH."""
        fcntl.ioctl(self.own, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.columns, self.lines = columns, lines

    def press(self, keys):
        os.write(self.own, keys.encode())

    @property
    def settings(self):
        return termios.tcgetattr(self.others)

    @property
    def is_alternate(self):
        return self.cells is self.alternate

    @property
    def fits(self):
        """Whether the live screen has no row that the terminal would break, and none that makes it scroll."""
        return not self.is_alternate or all(
            row < self.lines and column < self.columns for row, column in self.cells
        )

    @property
    def rows(self):
        width = max((column for _, column in self.cells), default=0) + 1
        return [
            "".join(self.cells.get((row, column), " ") for column in range(width)).rstrip()
            for row in range(max((row for row, _ in self.cells), default=0) + 1)
        ]

    @property
    def text(self):
        return "\n".join(self.rows)

    def wait_for(self, *texts, without=(), until=lambda: True, within=BOUND):
        """Waits until the screen has all these texts, and none of the others, in rows that fit; returns its rows.

        A frame for the size before may come after a new size, so a row that does not fit is no failure at once.
        """
        bound = Bound(within)
        while not (
            all(text in self.text for text in texts) and not any(text in self.text for text in without) and until()
            and self.fits
        ):
            ready, _, _ = select.select([self.own], [], [], bound.left)
            assert ready, f"{texts} did not come within {within} s, and without {without}:\n{self.text}"
            self.read()
        return self.rows

    def wait(self):
        """Waits for the end of the program, reads its last output, and returns its exit code."""
        end = os.pidfd_open(self.process.pid)
        bound = Bound()
        while True:
            ready, _, _ = select.select([self.own, end], [], [], bound.left)
            assert ready, f"the program did not end:\n{self.text}"
            if self.own not in ready:
                break
            self.read()
        os.close(end)
        return self.process.wait(BOUND)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(BOUND)
        os.close(self.own)
        os.close(self.others)

    # The sequences.

    def read(self):
        data = (self.rest + os.read(self.own, 65536)).decode(errors="surrogateescape")
        cut = INCOMPLETE.search(data)
        # A character may be cut too, as its bytes are read in two parts.
        end = cut.start() if cut else len(data.rstrip("".join(map(chr, range(0xDC80, 0xDD00)))))
        self.rest = data[end:].encode(errors="surrogateescape")
        for token in TOKEN.finditer(data[:end]):
            if token[3]:
                self.control(token[1], token[2], token[3])
            else:
                self.put(token[0])

    def control(self, private, number, letter):
        row, column = self.at
        match private, number, letter:
            case _, _, "m":
                pass
            case "", "", "H":
                self.at = (0, 0)
            case "", "", "K":
                self.erase(lambda at: at[0] == row and at[1] >= column)
            case "", "", "J":
                self.erase(lambda at: at >= (row, column))
            case "?", "1049", "h":
                self.alternate.clear()
                self.cells, self.saved, self.at = self.alternate, self.at, (0, 0)
            case "?", "1049", "l":
                self.cells, self.at = self.main, self.saved
            case "?", _, "h":
                self.modes.add(number)
            case "?", _, "l":
                self.modes.discard(number)
            case _:
                raise AssertionError(f"unknown sequence {private}{number}{letter}")

    def erase(self, lies):
        for at in [at for at in self.cells if lies(at)]:
            del self.cells[at]

    def put(self, character):
        row, column = self.at
        if character == "\r":
            self.at = (row, 0)
        elif character == "\n":
            self.at = (row + 1, column)
        elif character == "\b":
            self.at = (row, max(0, column - 1))
        elif character >= " ":
            width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
            self.cells[row, column] = character
            if width == 2:
                self.cells[row, column + 1] = ""
            self.at = (row, column + width)
