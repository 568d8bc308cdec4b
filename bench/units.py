"""refreshd with the systemd launcher, as a service of the throwaway systemd; each task is a transient unit."""

import measure
from refreshd import Refreshd
from timers import Timers


class Units(Refreshd):
    LAUNCHER = "systemd"

    def __init__(self, timers: Timers, *arguments):
        super().__init__(*arguments)
        self.timers = timers

    def start(self) -> float:
        self.timers.ask("serve", self.arguments)
        if (launcher := self.call("Manager.Status")["status"]["launcher"]) != self.LAUNCHER:
            raise RuntimeError(f"cannot measure the systemd launcher: refreshd chose {launcher}")
        return 0

    def stop(self) -> None:
        if self.client is not None:
            self.hang_up()
            self.timers.ask("unserve")

    def cpu_us(self) -> int:
        """CPU time of all processes in that systemd: the daemon, PID 1, the bus, the journal and the tasks."""
        return self.timers.ask("cpu_us")
