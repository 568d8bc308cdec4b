"""A file that is nested as deep as it can be is refused, also by a daemon that runs."""

import pytest

from client import fails


@pytest.mark.parametrize(
    "text",
    [".".join("a" * 1996) + " = 1", "a = " + "[" * 250 + "]" * 250, "a = " + "{ b = " * 250 + "1" + " }" * 250],
    ids=["dots", "arrays", "tables"],
)
def test_a_deep_file_is_refused(daemon, text):
    daemon.app("exit 100")
    daemon.start()
    daemon.file("org.example.deep").write_text(text + "\n")
    with fails("org.refreshd.Manager.BadConfiguration"):
        daemon.call("Manager.Reload")
    assert daemon.status()["apps"] == 1
