"""Functions of the C library that a test replaces in one process (LD_PRELOAD)."""

import pathlib
import subprocess

import pytest


@pytest.fixture(scope="session")
def preload(tmp_path_factory):
    """Builds a C file of this folder, once in a session, and gives the library."""
    folder = tmp_path_factory.mktemp("preload")

    def built(name):
        library = folder / f"{name}.so"
        if not library.exists():
            source = pathlib.Path(__file__).with_name(f"{name}.c")
            subprocess.run(["gcc", "-Wall", "-Werror", "-O", "-shared", "-fPIC", "-o", library, source], check=True)
        return library

    return built
