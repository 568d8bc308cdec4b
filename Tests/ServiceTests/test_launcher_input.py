"""The launcher alone, for features that no app's file uses yet, such as standard input."""

import subprocess

from conftest import BIN_DIR


def test_the_launchers_own_tests():
    bundle = BIN_DIR / "refreshdPackageTests.xctest"
    command = [bundle, "--testing-library", "swift-testing", "--filter", "SystemdLauncherTests"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "Suite SystemdLauncherTests passed" in answer.stdout + answer.stderr
