"""Services on the system bus that stand for hardware of a real machine: python-dbusmock, one unit each."""

import pathlib
import signal
import subprocess

# dbusmock's services run as root; the policy of the bus knows only the installed services.
POLICY = """\
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <policy user="root"><allow own="*"/></policy>
  <policy context="default"><allow send_destination="*"/></policy>
</busconfig>
"""
TEMPLATES = pathlib.Path(__file__).parent / "mocks"


def busctl(*words):
    """Runs busctl and returns its output."""
    command = ["busctl", "--system", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


class Mock:
    """A service whose properties the test sets."""

    def __init__(self, template, name, path):
        """`template` is a file in mocks/ or one of dbusmock's own."""
        own = TEMPLATES / f"{template}.py"
        self.template = str(own) if own.exists() else template
        self.unit = f"mock-{template.replace('_', '-')}"
        self.name = name
        self.path = path

    def start(self):
        """Starts the service and waits until it owns its name."""
        command = ["/usr/bin/python3", "-m", "dbusmock", "--system", "--template", self.template]
        unit = ["systemd-run", "--quiet", "--collect", "--service-type=dbus", f"--property=BusName={self.name}"]
        subprocess.run([*unit, f"--unit={self.unit}", *command], check=True, timeout=60)
        return self

    def stop(self):
        """Stops the service, frozen or not, if it runs."""
        subprocess.run(["systemctl", "kill", "--signal=KILL", self.unit], capture_output=True, timeout=60)
        subprocess.run(["systemctl", "stop", self.unit], capture_output=True, timeout=60)

    def set(self, path=None, interface=None, **properties):
        """Changes properties, each a pair of type and value, and signals the change.

        A path is given as a string: dbusmock 0.28 cannot change one.
        """
        words = [word for name, (kind, value) in properties.items() for word in (name, kind, str(value))]
        busctl(
            "call", self.name, path or self.path, "org.freedesktop.DBus.Mock", "UpdateProperties", "sa{sv}",
            interface or self.name, str(len(properties)), *words,
        )

    def freeze(self):
        """Freezes the service: it stays on the bus and does not reply."""
        self._kill(signal.SIGSTOP)

    def thaw(self):
        self._kill(signal.SIGCONT)

    def _kill(self, number):
        subprocess.run(["systemctl", "kill", f"--signal={number}", self.unit], check=True, timeout=60)
