"""The story of an app that comes due, is held, and is refreshed."""

import pathlib
import time

from agreement import ask, disagreements
from answers import headline
from service import TODO, app
from waiting import BOUND

# Short enough that an app comes due while the test waits.
HURRY = 'foreground_floor = "1ms"\nbackground_floor = "1ms"\nsettle = "0s"\n'


class Story:
    """An app that comes due, is held, and is refreshed, and the answers to "why" on the way."""

    def __init__(self, refreshd, journal, answers):
        (self.refreshd, self.journal, self.answers) = (refreshd, journal, answers)

    def begin(self, shell="exit 0", settings=HURRY, **keys):
        """Starts the service with an app that is due in an hour, because its first refresh has ended."""
        self.refreshd.configure(app(shell, **{"background_interval": "1h", **keys}))
        pathlib.Path("/etc/refreshd/refreshd.toml").write_text(settings)
        self.refreshd.start()
        self.wait("refreshFinished")

    def wait(self, kind, **fields):
        self.journal.wait(kind, REFRESH_APP=TODO, **fields)
        self.journal.cursor = self.journal._newest()

    def tell(self, *words, **options):
        """The output of refreshctl, and behind it its messages."""
        done = self.refreshd.refreshctl(*words, **options)
        return done.stdout + done.stderr

    def call(self, method, **parameters):
        return self.refreshd.call(method, **parameters)

    def due(self):
        self.call("Set", apps=[TODO], background_interval="1s")

    def is_held(self, *holds):
        """Waits until the app is due and held by these."""
        self._until(lambda app: app["verdict"] == "held" and {hold["name"] for hold in app["holds"]} == set(holds))

    def is_refreshed(self):
        """Waits for a refresh, and has the app rest for an hour again."""
        self.wait("refreshStarted")
        self.call("Set", apps=[TODO], background_interval="1h")
        self._until(lambda app: app["verdict"] == "not_due")

    def _until(self, holds):
        end = time.monotonic() + BOUND
        while not holds(app := self.refreshd.app()):
            assert time.monotonic() < end, app

    def waits(self):
        """Waits until nothing but time keeps it from its next refresh."""
        self._until(lambda app: app["verdict"] == "not_due")

    def restart(self):
        self.refreshd.systemctl("restart", "refreshd.service")

    @property
    def why(self):
        return self.tell("why", TODO)

    def answer(self, when, text=headline, *more):
        """Adds an answer of `why`; for a headline, all other views must say the same."""
        if text is not headline:
            return self.answers.add(when, text(self.why, *more))
        views = ask(["refreshctl"], TODO)
        assert disagreements(views, TODO) == [], views
        self.answers.add(when, headline(views["why"]))
