"""A user's tree is so large that each look at it takes long; another user's `changed:` does not wait for it."""

import contextlib
import os
import pwd
import subprocess

import pytest

from client import as_user
from daemon import HURRY, TODO
from processes import status

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")

ENTRIES, APPS = 50_000, 6
MALLORY = pwd.getpwnam("games").pw_uid
# 344 MB in a daemon that kept all entries.
GROWTH = 32 * 1024


@pytest.fixture
def tree(daemon):
    """A folder of Mallory's with many links to one file, in memory."""
    tree = daemon.directory / "tree"
    tree.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,nr_inodes=0,mode=755", "refreshd-test", tree], check=True)
    try:
        (tree / "file").touch()
        folder = os.open(tree, os.O_DIRECTORY)
        for number in range(ENTRIES):
            os.link("file", f"{number}", src_dir_fd=folder, dst_dir_fd=folder)
        os.close(folder)
        yield tree
        daemon.end()
    finally:
        subprocess.run(["umount", "--lazy", tree], check=True)


def test_another_users_look_does_not_wait_for_a_large_tree(daemon, tree):
    inbox = daemon.directory / "inbox"
    inbox.mkdir()
    daemon.configure(HURRY + f"max_concurrent = {APPS + 1}\n")
    daemon.app({"name": "look", "shell": f"touch {inbox}/news", "new_data": f"changed:{inbox}"}, directory="/")
    large = [f"org.example.large{number}" for number in range(APPS)]
    for id in large:
        daemon.app(
            {"name": "look", "shell": "true", "new_data": f"changed:{tree}"}, id=id, owner="games", directory="/",
            deadline="5min",
        )  # fmt: skip
    daemon.start()
    before = status(daemon.pid, "VmHWM")
    with contextlib.ExitStack() as stack:
        with as_user(MALLORY):
            runs = [stack.enter_context(contextlib.closing(daemon.run(id))) for id in large]
        refresh = daemon.refresh()
        waiting = [id for id in large if "running" in daemon.show(id)]
        assert refresh["outcome"] == "new_data", refresh
        assert refresh["duration_us"] < 5_000_000
        assert waiting, "the looks at the large tree are no fault: all have ended already"
        print(f"{refresh['duration_us'] / 1000:.0f} ms, while {len(waiting)} of {APPS} look at the large tree")
        for run in runs:
            assert [answer["event"] for answer in run][-1]["refresh"]["outcome"] == "no_data"
    assert status(daemon.pid, "VmHWM") - before < GROWTH
