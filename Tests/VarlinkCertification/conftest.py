"""Runs the program `varlink-certification` out of $BIN_DIR."""

import subprocess

import pytest
from certification import PROGRAM


@pytest.fixture
def socket_path(tmp_path, monkeypatch):
    """A path that is short enough for a socket, wherever pytest keeps its files."""
    monkeypatch.chdir(tmp_path)
    return "socket"


@pytest.fixture
def serve(socket_path):
    """Starts the service; it is killed at the end, and must live until then."""
    services = []

    def start() -> subprocess.Popen:
        service = subprocess.Popen([PROGRAM, "serve", socket_path], stdout=subprocess.PIPE, text=True)
        services.append(service)
        assert service.stdout.readline() == "ready\n"
        return service

    yield start
    for service in services:
        alive = service.poll() is None
        service.kill()
        service.wait()
        service.stdout.close()
        assert alive, f"the service ended by itself with {service.returncode}"
