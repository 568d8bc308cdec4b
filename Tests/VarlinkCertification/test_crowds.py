"""Many connections do nothing to other clients, and little to the service."""

import contextlib
import pathlib
import resource
import socket
import subprocess
import time

import pytest


def connect(path: str) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(10)
    client.connect(path)
    return client


def ask(client: socket.socket) -> bytes:
    client.sendall(b'{"method":"org.varlink.service.GetInfo"}\0')
    answer = b""
    while not answer.endswith(b"\0"):
        part = client.recv(65536)
        if not part:
            raise ConnectionResetError("closed without an answer")
        answer += part
    return answer


def resident_kib(service: subprocess.Popen) -> int:
    status = pathlib.Path(f"/proc/{service.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def cpu_seconds(service: subprocess.Popen) -> float:
    fields = pathlib.Path(f"/proc/{service.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def is_at_rest(service: subprocess.Popen) -> bool:
    """Whether it takes no time of the processor for half a second."""
    before = cpu_seconds(service)
    time.sleep(0.5)
    return cpu_seconds(service) - before < 0.1


def limit_descriptors(service: subprocess.Popen, more: int) -> None:
    """Leaves the service so many descriptors beyond those that it has."""
    last = max(int(entry.name) for entry in pathlib.Path(f"/proc/{service.pid}/fd").iterdir())
    hard = resource.prlimit(service.pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(service.pid, resource.RLIMIT_NOFILE, (last + 1 + more, hard))


@pytest.fixture
def many_descriptors():
    """Ten thousand connections take as many descriptors here."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 11_000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_ten_thousand_silent_connections(serve, socket_path, many_descriptors):
    service = serve()
    with contextlib.ExitStack() as connections:
        ask(connections.enter_context(connect(socket_path)))
        before = resident_kib(service)
        for _ in range(100):
            for _ in range(100):
                connections.enter_context(connect(socket_path))
            ask(connections.enter_context(connect(socket_path)))
        assert resident_kib(service) - before < 4096
        assert is_at_rest(service)


def test_unfinished_messages_take_bounded_memory(serve, socket_path):
    service = serve()
    before = resident_kib(service)
    with contextlib.ExitStack() as connections:
        for _ in range(100):
            client = connections.enter_context(connect(socket_path))
            with contextlib.suppress(ConnectionError):  # those beyond the bound are cut off
                client.sendall(b" " * 1_000_000)
        ask(connections.enter_context(connect(socket_path)))
        # 16 MiB by the bounds, and twice as much because an array that grows takes room in advance.
        assert resident_kib(service) - before < 40 * 1024


def test_silent_connections_give_way_when_there_are_no_descriptors(serve, socket_path):
    service = serve()
    limit_descriptors(service, more=5)
    with contextlib.ExitStack() as connections:
        for _ in range(50):
            ask(connections.enter_context(connect(socket_path)))
        assert is_at_rest(service)


def test_clients_are_turned_away_when_there_is_no_descriptor_at_all(serve, socket_path):
    service = serve()
    limit_descriptors(service, more=0)
    for _ in range(3):
        with connect(socket_path) as client, pytest.raises(ConnectionError):
            ask(client)
    assert is_at_rest(service)
    limit_descriptors(service, more=5)
    with connect(socket_path) as client:
        ask(client)
