"""A server does its worst to what one user fetches and downloads; another user's calls and refreshes go on."""

import pytest

from client import as_user
from processes import alive, status
from stand import BAD, CULPRIT

FAULTS = ["endless_header", "large_head", "slow_body", "endless_body", "endless_redirect", "gzip_bomb"]
# The most that a worker may have in memory, in MB: its unit has 256, for 8 transfers at once.
WORKER = 64


def peak(pid):
    """The peak memory of a process, in kB; 0 if it has ended."""
    try:
        return status(pid, "VmHWM")
    except (FileNotFoundError, ProcessLookupError, KeyError):
        return 0


@pytest.mark.parametrize("fault", FAULTS)
def test_a_web_server_costs_only_who_asks_it(stand, fault):
    folder = stand.daemon.directory / "files"
    folder.mkdir()
    folder.chmod(0o777)
    with stand.server(fault) as server:
        url = f"http://127.0.0.1:{server.port}/0"
        stand.start(
            {"name": "fetch", "http": {"url": url, "to": str(folder / "fetched"), "max_size": "20MB"}},
            foreground_interval="300ms",
        )  # fmt: skip
        with as_user(CULPRIT):
            stand.daemon.tell("foreground", BAD)
            stand.daemon.call("Transfers.Enqueue", app=BAD, transfers=[
                {"url": url, "path": str(folder / f"file{number}"), "network": "none",
                 "max_rate": 1_000_000}
                for number in range(4)
            ])  # fmt: skip
        server.wait_until_met()
        peaks = []
        measured = stand.measure(
            look=lambda: peaks.extend(peak(pid) for pid in alive("refresh-worker", str(stand.daemon.socket)))
        )
        measured.within_bounds()
        most = max(peaks, default=0)
        assert most, "no worker was seen"
        assert most <= WORKER << 10, f"a worker had {most >> 10} MB"
        assert [file.name for file in folder.iterdir() if not file.name.endswith("part")] == []
    stand.holds_afterwards()
