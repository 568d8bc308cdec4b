"""The bridge under test: its push.toml, its process and its costs."""

from daemon import REFRESHD, TODO, toml
from processes import cpu
from program import Program
from waiting import Bound

REFRESH_PUSH = REFRESHD.with_name("refresh-push")
# The settings of an app that every push wakes at once.
UNLIMITED = {"push_burst": 100, "push_per_hour": 3600}


def push(id=None, **more):
    """A payload that wakes an app, as JSON without spaces."""
    aps = '{"aps":{"content-available":1}'
    if id is not None:
        aps += f',"content-id":{id}' if isinstance(id, int) else f',"content-id":"{id}"'
    return aps + "".join(f',"{key}":{toml(value)}' for key, value in more.items()) + "}"


class Bridge(Program):
    """The bridge shares the daemon's configuration directory and has a state directory of its own."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.state = daemon.directory / "bridge"
        super().__init__(daemon.directory / "notify.bridge")

    @property
    def command(self):
        daemon = self.daemon
        return [REFRESH_PUSH, "--config", daemon.config, "--socket", daemon.socket, "--state", self.state]

    def configure(self, **sources):
        """Writes push.toml: for each kind, the table of a source or a list of them."""
        lines = []
        for kind, tables in sources.items():
            for table in tables if isinstance(tables, list) else [tables]:
                lines += [f"[[{kind}]]"] + [f"{key} = {toml(value)}" for key, value in table.items()]
        file = self.daemon.config / "push.toml"
        file.write_text("\n".join(lines) + "\n")
        file.chmod(0o600)

    def source(self, name):
        """The entry of a source in the daemon's status, None for no entry."""
        sources = self.daemon.status().get("push", {}).get("sources", [])
        return next((source for source in sources if source["name"] == name), None)

    def wait_for(self, name, what, condition, within=15):
        """Waits until the status of a source meets the condition, and returns it."""
        bound = Bound(within)
        while not (condition(source) if (source := self.source(name)) else False):
            assert bound.left, f"the source {name} is not {what} within {within} s: {source}"
            self.turn()
        return source

    def wait_for_count(self, name, **counts):
        """Waits until the status has these counts of messages; the bridge reports once a second."""
        self.wait_for(name, f"at {counts}", lambda source: counts.items() <= source.items())

    def turn(self):
        """Waits for a message to the service manager, or a moment."""
        if self.notices.is_waiting(0.05):
            self.notices.next()

    def wait_until_connected(self, name):
        return self.wait_for(name, "connected", lambda source: source["is_connected"])

    def wait_until_remembered(self, name):
        """Waits until the bridge has stored a position for this source."""
        file, bound = self.state / "sources.json", Bound()
        while not file.exists() or name not in file.read_text():
            assert bound.left, f"nothing of {name} is remembered"
            self.turn()

    def wait_until_lost(self, name):
        return self.wait_for(name, "lost", lambda source: not source["is_connected"] and source.get("problem"))

    def wait_until_retrying(self, name):
        """Waits until the source has a time for its next try: it has none while a try lasts."""
        return self.wait_for(name, "lost, with a next try", lambda source: source.get("retry_us") and source["problem"])

    def cpu(self):
        """The processor time of the bridge, in seconds."""
        return cpu(self.pid)


class App:
    """An app that pushes wake, and that records its payloads for the test."""

    def __init__(self, daemon, id=TODO, **keys):
        self.daemon = daemon
        self.id = id
        self.wakes = daemon.pipe(f"wakes.{id}")
        task = f"printf '%s %s %s\\n' $REFRESH_TRIGGER \"${{REFRESH_CONTENT_ID:--}}\" \"$(cat)\" > {self.wakes}"
        daemon.app(task, id=id, **{**UNLIMITED, **keys})

    def delivered(self, count=1):
        """Waits for the next wakes by push, and returns their payloads."""
        payloads = []
        for line in self.wakes.lines(count):
            trigger, _, payload = line.split(" ", 2)
            assert trigger == "push", line
            payloads.append(payload)
        return payloads

    def ids(self, count=1):
        """Waits for the next wakes by push, and returns their content ids."""
        lines = [line.split(" ", 2) for line in self.wakes.lines(count)]
        assert {trigger for trigger, *_ in lines} == {"push"}, lines
        return [id for _, id, _ in lines]

    def no_more(self):
        """Asserts that no wake is pending: a refresh requested now ends after all pending ones."""
        self.daemon.refresh(self.id)
        lines = self.wakes.lines_so_far()
        assert [line.split(" ")[0] for line in lines] == ["manual"], lines
