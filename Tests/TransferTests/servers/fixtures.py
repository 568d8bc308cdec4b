"""The servers as fixtures. All tests share one of each, because no server keeps state that another test would see. The
misbehaving server records its requests, so each test has its own."""

import os
import pathlib
import shutil
import tempfile

import pytest

from .apache import Apache
from .certificates import Certificates
from .misbehaving import Misbehaving
from .nginx import Nginx


@pytest.fixture(scope="session")
def servers_directory():
    """A folder that every user may enter, with a path short enough for a socket."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="refreshd-servers-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def certificates(servers_directory):
    return Certificates(servers_directory / "certificates")


@pytest.fixture(scope="session")
def nginx_of_all(servers_directory, certificates):
    server = Nginx(servers_directory / "nginx", certificates, os.geteuid() == 0)
    yield server
    server.close()


@pytest.fixture
def nginx(nginx_of_all):
    """nginx, without the recorded requests of other tests."""
    nginx_of_all.requests()
    return nginx_of_all


@pytest.fixture(scope="session")
def apache(servers_directory):
    server = Apache(servers_directory / "apache", os.geteuid() == 0)
    yield server
    server.close()


@pytest.fixture(scope="session")
def tus(servers_directory):
    from .tus import Tus

    server = Tus(servers_directory / "tus")
    yield server
    server.close()


@pytest.fixture
def misbehaving():
    server = Misbehaving()
    yield server
    server.close()


@pytest.fixture
def misbehaving_tls(certificates):
    server = Misbehaving(certificates=certificates)
    yield server
    server.close()
