"""Forges each signal that a process listens to. The bus itself lists the match rules, so no signal is left out."""

import contextlib
import json
import re
import select
import subprocess

from waiting import BOUND

BUS = ("/org/freedesktop/DBus", "org.freedesktop.DBus")
PEER = "org.freedesktop.DBus.Peer"
PROPERTIES = "org.freedesktop.DBus.Properties"
LOGIND = "org.freedesktop.login1"
SYSTEMD = "org.freedesktop.systemd1"
MANAGER = "org.freedesktop.NetworkManager"
UPOWER = "org.freedesktop.UPower"

# The arguments of each signal but NameOwnerChanged and PropertiesChanged; believed, they would change something.
SIGNALS = {
    "PrepareForSleep": ("b", "true"),
    "SessionNew": ("so", "77", "/org/freedesktop/login1/session/_377"),
    "SessionRemoved": ("so", "77", "/org/freedesktop/login1/session/_377"),
    "UnitNew": ("so", r"app-forged@1.service", "/org/freedesktop/systemd1/unit/app_2dforged_401_2eservice"),
    "UnitRemoved": ("so", "{unit}", "{unit_path}"),
    "JobRemoved": ("uoss", "1", "/org/freedesktop/systemd1/job/1", "{unit}", "failed"),
    "ActionInvoked": ("us", "1", "pause-today"),
    "NotificationClosed": ("uu", "1", "2"),
}
# The changes of properties: the interface, the property, its type and its forged value.
CHANGES = {
    f"{LOGIND}.Manager": ("IdleHint", "b", "false"),
    f"{LOGIND}.User": ("Display", "(so)", "77", "/org/freedesktop/login1/session/_377"),
    f"{LOGIND}.Session": ("LockedHint", "b", "true"),
    SYSTEMD + ".Service": ("Result", "s", "oom-kill"),
    SYSTEMD + ".Unit": ("ActiveState", "s", "failed"),
    SYSTEMD + ".Manager": ("Version", "s", "0"),
    MANAGER: ("State", "u", "20"),
    f"{MANAGER}.Connection.Active": ("SpecificObject", "o", "/org/freedesktop/NetworkManager/AccessPoint/2"),
    "org.freedesktop.network1.Manager": ("OperationalState", "s", "routable"),
    UPOWER: ("OnBattery", "b", "true"),
    f"{UPOWER}.Device": ("Percentage", "d", "1"),
    f"{UPOWER}.PowerProfiles": ("ActiveProfile", "s", "power-saver"),
    "net.hadess.PowerProfiles": ("ActiveProfile", "s", "power-saver"),
    "org.freedesktop.timedate1": ("Timezone", "s", "Asia/Tokyo"),
    "org.freedesktop.Notifications": ("Inhibited", "b", "true"),
    "org.gnome.Shell": ("ShellVersion", "s", "99"),
    "org.refreshd.Windows": ("Windows", "a(uuas)", "1", "2", "0", "1", "mail-app"),
}
# The interfaces whose changes a rule for all objects below a path lets pass.
BELOW = {f"/{SYSTEMD.replace('.', '/')}/unit": (f"{SYSTEMD}.Service", f"{SYSTEMD}.Unit")}


def escaped(unit):
    """The object path of a unit (sd_bus_path_encode(3))."""
    return f"/{SYSTEMD.replace('.', '/')}/unit/" + "".join(c if c.isalnum() else f"_{ord(c):02x}" for c in unit)


class Forger:
    """Somebody else on a bus; `command` makes a command of the user whose bus it is, and `stranger` one of the forger."""

    def __init__(self, *where, command=lambda *words: words, stranger=lambda *words: ("runuser", "-u", "nobody", "--", *words)):
        self.where, self.command, self.stranger = where, command, stranger

    def ask(self, *words):
        asked = self.command("busctl", *self.where, "--json=short", *words)
        return json.loads(subprocess.run(asked, check=True, capture_output=True, text=True, timeout=60).stdout)

    def connections(self, pid):
        """The unique names of a process on this bus."""
        return [row["name"] for row in self.ask("list", "--unique") if str(row["pid"]) == str(pid)]

    def rules(self, connection):
        """The match rules of a connection."""
        [rules] = self.ask("call", "org.freedesktop.DBus", *BUS[:1], f"{BUS[1]}.Debug.Stats", "GetAllMatchRules")["data"]
        return [dict(re.findall(r"(\w+)='([^']*)'", rule)) for rule in rules.get(connection, [])]

    def forged(self, rule, unit):
        """The signals that a rule would let pass, each as the words of `busctl emit`."""
        member, first, path = rule["member"], rule.get("arg0"), rule.get("path")
        if member == "NameOwnerChanged":
            return [(*BUS, member, "sss", first or "org.example.any", ":1.1", "")]
        if member == "PropertiesChanged":
            interfaces = [first] if first else BELOW.get(rule["path_namespace"], [])
            path = path or escaped(unit)
            if not first and rule["path_namespace"] not in BELOW:
                # The rule is for a single unit.
                path, interfaces = rule["path_namespace"], next(iter(BELOW.values()))
            missing = [interface for interface in interfaces if interface not in CHANGES]
            assert not missing, f"no row in CHANGES of forging.py forges {missing} for the rule {rule}"
            return [
                (path, PROPERTIES, member, "sa{sv}as", each, "1", *CHANGES[each], "0") for each in interfaces
            ]  # fmt: skip
        assert member in SIGNALS, f"no row in SIGNALS of forging.py forges {member} for the rule {rule}"
        words = [word.format(unit=unit, unit_path=escaped(unit)) for word in SIGNALS[member]]
        return [(path, rule["interface"], member, *words)]

    @contextlib.contextmanager
    def heard(self, connection):
        """Returns what a connection says, one message for each call."""
        match = f"--match=sender='{connection}'"
        watch = self.command("busctl", *self.where, "--json=short", match, "monitor")
        # Unbuffered, because select(2) does not know what a buffer holds.
        with subprocess.Popen(watch, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as monitor:

            def read(stream):
                assert select.select([stream], [], [], BOUND)[0], f"busctl heard nothing of {connection}"
                return stream.readline()

            try:
                assert b"Monitoring" in read(monitor.stderr)
                yield lambda: json.loads(read(monitor.stdout))
            finally:
                monitor.terminate()

    def forge(self, pid, unit="none.service", more=()):
        """Forges all that a process listens to on this bus, and returns the names of the forged signals.

        The process must do nothing about them: it says nothing before it answers a call that comes after them.
        """
        names = set()
        for connection in self.connections(pid):
            rules = self.rules(connection)
            signals = [signal for rule in rules for signal in self.forged(rule, unit)] + list(more)
            with self.heard(connection) as hear:
                for signal in signals:
                    words = self.stranger("busctl", *self.where, f"--destination={connection}", "emit", *signal)
                    # The bus refuses to deliver some of them.
                    subprocess.run(words, capture_output=True, timeout=60)
                self.ask("call", connection, "/", PEER, "GetMachineId")
                said = hear()
                assert said["type"] == "method_return", f"a forged signal had an effect: {said}"
            names |= {rule["member"] for rule in rules}
        return names
