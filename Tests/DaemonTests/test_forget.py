"""The daemon forgets an app that is not in the configuration, by a call or after a time."""

import time

import pytest
from client import fails
from daemon import MAIL, TODO
from pushing import payload, push


def test_an_app_that_is_out_of_the_configuration_can_be_forgotten(daemon):
    daemon.app("exit 100")
    daemon.app("exit 100", id=MAIL)
    daemon.start()
    daemon.refresh()
    with fails("org.refreshd.Manager.InUse", app=TODO):
        daemon.call("Manager.Erase", app=TODO)
    text = daemon.file().read_text()
    daemon.call("Manager.Disable", apps=[TODO])
    daemon.file().unlink()
    daemon.call("Manager.Reload")
    daemon.notices.wait("READY")
    daemon.call("Manager.Erase", app=TODO)
    with fails("org.refreshd.NoSuchApp", app=TODO):
        daemon.call("Manager.Erase", app=TODO)
    daemon.restart()
    daemon.file().write_text(text)
    daemon.call("Manager.Reload")
    assert daemon.history() == []
    assert daemon.show()["holds"][0]["name"] == "never"
    assert len(daemon.call("Manager.List")["apps"]) == 2


def test_what_waits_to_be_told_keeps_no_app(daemon):
    daemon.app("exit 100")
    daemon.start()
    daemon.call("Manager.Disable", apps=[TODO])
    push(daemon, payload(42))
    transfer = {"url": "http://127.0.0.1:9/film", "path": "/nowhere/film"}
    ids = daemon.call("Transfers.Enqueue", app=TODO, transfers=[transfer])["ids"]
    daemon.file().unlink()
    daemon.call("Manager.Reload")
    daemon.notices.wait("READY")
    with fails("org.refreshd.Manager.InUse", app=TODO, remedy="cancel its transfers"):
        daemon.call("Manager.Erase", app=TODO)
    daemon.call("Transfers.Cancel", ids=ids)
    daemon.call("Manager.Erase", app=TODO)
    assert daemon.call("Transfers.List")["transfers"] == []
    daemon.kill()
    daemon.start()
    assert daemon.call("Transfers.List")["transfers"] == []
    with fails("org.refreshd.NoSuchApp", app=TODO):
        daemon.call("Manager.Erase", app=TODO)


def test_an_app_that_was_never_known_cannot_be_forgotten(daemon):
    daemon.start()
    with fails("org.refreshd.NoSuchApp", app=TODO):
        daemon.call("Manager.Erase", app=TODO)


@pytest.mark.parametrize("reason, fits", [("é" * 250, True), ("é" * 251, False), ("x" * 100_000, False)])
def test_the_reason_of_a_scheduled_refresh_is_a_sentence(daemon, reason, fits):
    daemon.app("exit 100")
    daemon.start()
    later = int(time.time() + 3600) * 1_000_000
    if fits:
        daemon.call("Manager.Schedule", app=TODO, earliest_us=later, reason=reason)
        return
    with fails("org.varlink.service.InvalidParameter", parameter="reason"):
        daemon.call("Manager.Schedule", app=TODO, earliest_us=later, reason=reason)
