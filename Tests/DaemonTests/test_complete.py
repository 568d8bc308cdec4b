"""Complete: a task reports its own outcome."""

import pytest

from client import fails
from daemon import finished
from processes import alive


@pytest.fixture
def task(daemon):
    """A task that passes its token to the test, and ends when the test allows it."""
    return Task(daemon)


class Task:
    def __init__(self, daemon):
        self.daemon = daemon
        self.tokens, self.go = daemon.pipe("tokens"), daemon.pipe("go")
        self.start = f"echo $REFRESH_TOKEN > {self.tokens}; "

    def run(self, shell, **keys):
        """Runs the task until it passes its token; returns the stream."""
        self.daemon.app({"name": "work", "shell": self.start + shell}, **keys)
        self.daemon.start()
        stream = self.daemon.run()
        self.token = self.tokens.line()
        return stream

    def complete(self, outcome, **message):
        self.daemon.call("App.Complete", token=self.token, outcome=outcome, **message)


# The reported outcome, the exit code, and the recorded outcome.
SAID = [
    ("new_data", 100, "new_data", None),
    ("no_data", 0, "no_data", None),
    ("new_data", 1, "new_data", None),
    ("failed", 0, "failed", "reported"),
]


@pytest.mark.parametrize("said, code, outcome, kind", SAID)
def test_the_word_of_a_task_counts_more_than_its_exit(daemon, task, said, code, outcome, kind):
    stream = task.run(f"read _ < {task.go}; echo printed; exit {code}")
    task.complete(said, message="two letters")
    assert daemon.show()["verdict"] == "refreshing"
    task.go.let_go()
    refresh = finished(stream)
    assert (refresh["outcome"], refresh.get("cause", {}).get("kind")) == (outcome, kind)
    assert refresh["tasks"][0]["message"] == "two letters"
    assert refresh["extra_completions"] == 0


def test_the_first_word_counts_and_others_are_counted(daemon, task):
    stream = task.run(f"read _ < {task.go}; exit 1")
    task.complete("no_data")
    for outcome in ["new_data", "failed"]:
        with fails("org.refreshd.App.AlreadyCompleted", outcome="no_data"):
            task.complete(outcome)
    task.go.let_go()
    refresh = finished(stream)
    assert (refresh["outcome"], refresh["extra_completions"]) == ("no_data", 2)
    assert daemon.history()[0]["extra_completions"] == 2


def test_without_a_message_the_last_line_is_kept(daemon, task):
    stream = task.run(f"echo printed; read _ < {task.go}")
    task.complete("new_data")
    task.go.let_go()
    assert finished(stream)["tasks"][0]["message"] == "printed"


def test_a_token_that_never_was(daemon):
    daemon.start()
    for token in ["", "0" * 32, "org.example.todo"]:
        with fails("org.refreshd.NoSuchToken"):
            daemon.call("App.Complete", token=token, outcome="new_data")


def test_a_token_ends_with_its_refresh(daemon, task):
    stream = task.run("exit 100")
    assert finished(stream)["outcome"] == "no_data"
    with fails("org.refreshd.NoSuchToken"):
        task.complete("new_data")
    assert daemon.history()[0]["outcome"] == "no_data"


def test_a_word_outlives_the_deadline(daemon, task):
    """The task reported its outcome in time; the processes that went on are killed."""
    stream = task.run("exec sleep 100", deadline="1s")
    task.complete("new_data")
    refresh = finished(stream)
    assert (refresh["outcome"], refresh["stop_reason"]) == ("new_data", "deadline")
    assert alive(str(daemon.socket), "REFRESH_ID=1-1") == []


def test_a_word_after_the_stop_is_too_late(daemon, task):
    events = daemon.pipe("events")
    trap = f"trap 'echo told > {events}; read _ < {task.go}; exit 0' TERM; echo armed > {events}"
    stream = task.run(f"{trap}; while :; do sleep 0.1; done")
    assert events.line() == "armed"
    daemon.tell("logout")
    assert events.line() == "told"
    with fails("org.refreshd.App.AlreadyCompleted", outcome="failed"):
        task.complete("new_data")
    task.go.let_go()
    refresh = finished(stream)
    assert (refresh["outcome"], refresh["stop_reason"], refresh["extra_completions"]) == ("failed", "logout", 0)


def test_each_task_of_a_group_has_its_own_token(daemon, task):
    daemon.app(*[{"name": name, "shell": f"{task.start} read _ < {task.go}"} for name in ["one", "two"]])
    daemon.start()
    stream = daemon.run()
    first, second = task.tokens.lines(2)
    assert first != second
    for token in [first, second]:
        daemon.call("App.Complete", token=token, outcome="no_data")
    task.go.let_go(2)
    assert finished(stream)["outcome"] == "no_data"


def test_a_long_message_is_cut_like_a_printed_line(daemon, task):
    stream = task.run(f"read _ < {task.go}")
    task.complete("failed", message="ä" * 100_000)
    task.go.let_go()
    refresh = finished(stream)
    assert refresh["tasks"][0]["message"] == refresh["cause"]["text"] == "ä" * 100
