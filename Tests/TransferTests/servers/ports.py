"""Ports that nobody listens on."""

import socket


def free_port(address="127.0.0.1"):
    """A free port of this address."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]
