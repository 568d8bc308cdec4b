"""A network namespace for the daemon under test, with a cable that a test can pull; needs root."""

import os
import subprocess

import pytest


@pytest.fixture
def cable():
    """A network namespace for the daemon, joined to this one by a cable that a test can pull."""
    cable = Cable()
    try:
        cable.lay()
        yield cable
    finally:
        cable.close()


class Cable:
    NAME = f"refreshd{os.getpid()}"

    def __init__(self):
        # A network for measurements (RFC 2544), which reaches nobody; each process of tests has its own.
        network, host = f"198.18.{os.getpid() % 256}", 4 * (os.getpid() // 256 % 63)
        self.near_address, self.far_address = f"{network}.{host + 1}", f"{network}.{host + 2}"
        self.near, self.far = f"rn{os.getpid()}", f"rf{os.getpid()}"

    def lay(self):
        self.ip("netns", "add", self.NAME)
        self.ip("link", "add", self.near, "type", "veth", "peer", "name", self.far, "netns", self.NAME)
        self.ip("address", "add", f"{self.near_address}/30", "dev", self.near)
        self.ip("-n", self.NAME, "address", "add", f"{self.far_address}/30", "dev", self.far)
        self.ip("-n", self.NAME, "link", "set", "lo", "up")
        self.ip("-n", self.NAME, "link", "set", self.far, "up")
        self.plug()
        self.ip("-n", self.NAME, "route", "add", "default", "via", self.near_address)

    def plug(self):
        self.ip("link", "set", self.near, "up")

    def pull(self):
        self.ip("link", "set", self.near, "down")

    def close(self):
        self.ip("link", "delete", self.near, check=False)
        self.ip("netns", "delete", self.NAME, check=False)

    def ip(self, *words, check=True):
        subprocess.run(["ip", *words], check=check, timeout=30)
