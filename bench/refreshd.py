"""refreshd as a service under measurement: its configuration and a client of its socket."""

import json
import socket
import time
from pathlib import Path

import measure
from service import Service, TooLate

APP = """\
id = "{id}"
foreground_interval = "never"
background_interval = "never"
on_foreground = "never"

[[task]]
run = {run}
"""


def app(number: int) -> str:
    return f"org.example.app{number:04}"


def write_configuration(directory: Path, apps: int, task: list[str], launcher: str) -> None:
    """Writes apps of one task each, which no refresh starts until an interval is set at run time."""
    (directory / "apps.d").mkdir(parents=True)
    bounds = 'foreground_floor = "1ms"\nbackground_floor = "1ms"\nmax_concurrent = 1000\n'
    (directory / "refreshd.toml").write_text(f'{bounds}launcher = "{launcher}"\n')
    for number in range(apps):
        run = json.dumps([argument.replace("%04d", f"{number:04}") for argument in task])
        (directory / "apps.d" / f"{app(number)}.toml").write_text(APP.format(id=app(number), run=run))


def message(method: str, **parameters) -> str:
    """A call as the socket carries it, without the final NUL."""
    return json.dumps({"method": f"org.refreshd.{method}", "parameters": parameters}, separators=(",", ":"))


class Client:
    """A connection to refreshd."""

    def __init__(self, path: Path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(30)
        self.connection.connect(str(path))

    def call(self, method: str, **parameters) -> dict:
        self.connection.sendall(message(method, **parameters).encode() + b"\0")
        answer = b""
        while not answer.endswith(b"\0"):
            part = self.connection.recv(1 << 20)
            if not part:
                raise EOFError("refreshd closed the connection")
            answer += part
        decoded = json.loads(answer[:-1])
        if "error" in decoded:
            raise RuntimeError(f"refreshd answered {method} with {decoded}")
        return decoded.get("parameters", {})

    def close(self) -> None:
        self.connection.close()


class Refreshd(Service):
    LAUNCHER = "spawn"

    def __init__(self, binary: Path, scratch: Path, name: str, apps: int, task: list[str], starts, notify):
        directory = scratch / name
        write_configuration(directory / "config", apps, task, self.LAUNCHER)
        path = scratch / f"{name}.socket"
        arguments = ["--config", str(directory / "config"), "--state", str(directory / "state"), "--socket", str(path)]
        super().__init__(name, [str(binary), *arguments], path, starts, notify)
        self.apps = [app(number) for number in range(apps)]
        self.client: Client | None = None

    def call(self, method: str, **parameters) -> dict:
        """Makes one call on a connection that stays open."""
        if self.client is None:
            self.client = Client(self.socket)
        try:
            return self.client.call(method, **parameters)
        except EOFError as reason:
            self.hang_up()
            raise RuntimeError(f"{reason}; {self.last_words()}") from reason
        except OSError:
            self.hang_up()  # the reply to a call that timed out would be taken for that of the next one
            raise

    def hang_up(self) -> None:
        if self.client is not None:
            self.client.close()
            self.client = None

    def stop(self) -> None:
        self.hang_up()
        super().stop()

    def set_interval(self, apps: list[str], interval: str) -> None:
        """Sets the foreground interval, which is exact; background refreshes may wait to be grouped with others."""
        self.call("Manager.Set", apps=apps, foreground_interval=interval)

    def enter_foreground(self, apps: list[str]) -> None:
        for each in apps:
            self.call("App.Signal", app=each, signal="foreground")

    def make_due(self, count: int, in_us: int) -> dict[str, int]:
        """Makes apps due at one instant. Each gets its own interval, because that begins at the app's last start."""
        apps = self.apps[:count]
        at = measure.now_us() + in_us
        for each in apps:
            last_start = self.call("Manager.Show", app=each)["app"]["fresh_us"]
            self.set_interval([each], f"{at - last_start}us")
        shown = [self.call("Manager.Show", app=each)["app"] for each in apps]
        if measure.now_us() > at:
            raise TooLate(f"cannot measure: it took more than {in_us / 1e6:g} s to make {count} apps due")
        return {each["id"][-4:]: each["due_us"] for each in shown}

    def make_busy(self, every_us: int) -> None:
        self.set_interval(self.apps, f"{every_us}us")

    def make_quiet(self) -> None:
        """Makes nothing due and waits for running refreshes; those stopped by shutdown would run again."""
        self.set_interval(self.apps, "never")
        end = time.monotonic() + 60
        while running := self.call("Manager.Status")["status"]["refreshing"]:
            if time.monotonic() > end:
                raise RuntimeError(f"cannot measure {self.name}: {running} refreshes still run after 60 s")
            time.sleep(0.02)

    def start_for_the_first_time(self) -> None:
        """Starts on an empty store and refreshes every app once, so that the store knows each app's last start."""
        self.start()
        self.enter_foreground(self.apps)
        self.make_busy(every_us=100_000)
        # Some apps start again before the last one has started once.
        self.starts.wait_for(3 * len(self.apps), patience=120)
        self.make_quiet()
        # The apps are weighed as their files have them, by which nothing is due.
        self.call("Manager.Reset", apps=self.apps)
