"""The C yardstick as a service under measurement: the limit of the machine."""

import socket
from pathlib import Path

import measure
from service import Service


class Yardstick(Service):
    def __init__(self, build: Path, scratch: Path, name: str, tasks: int, task: list[str], starts, notify):
        path = scratch / f"{name}.socket"
        super().__init__(name, [str(build / "yardstick"), str(path), str(tasks), *task], path, starts, notify)
        self.tasks = tasks

    def make_due(self, count: int, in_us: int) -> dict[str, int]:
        at = measure.now_us() + in_us
        self._say(f"due {count} {at} 0")
        return {f"{number:04}": at for number in range(count)}

    def make_busy(self, every_us: int) -> None:
        self._say(f"due {self.tasks} {measure.now_us()} {every_us}")

    def make_quiet(self) -> None:
        self._say("due 0 0 0")

    def _say(self, message: str) -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.socket))
            connection.sendall(message.encode() + b"\0")
            connection.recv(len(message) + 1)
