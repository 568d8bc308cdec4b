"""Ports that nobody listens on."""

import socket


def free_port(address="127.0.0.1"):
    """A port that is free on this address now."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]
