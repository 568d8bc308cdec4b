"""The path of the program; not in conftest.py, because other folders have a conftest.py too."""

import os
import pathlib

PROGRAM = pathlib.Path(os.environ["BIN_DIR"]) / "varlink-certification"
