"""Where the program is; not in conftest.py, of which other folders have one too."""

import os
import pathlib

PROGRAM = pathlib.Path(os.environ["BIN_DIR"]) / "varlink-certification"
