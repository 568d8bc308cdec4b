"""Configuration files with changes: refreshctl check ends by itself and names each mistake with its file."""

import resource
import subprocess

import hostile
from daemon import REFRESHD, REPOSITORY
from rounds import rounds

REFRESHCTL = REFRESHD.parent / "refreshctl"
APPS = sorted((REPOSITORY / "config/apps.d").glob("*.toml"))
# Address space of a debug build, and far more than a file of some kilobytes needs.
MOST = 4 << 30


def test_no_file_harms_the_reader(scratch):
    folder = scratch / "config"
    (folder / "apps.d").mkdir(parents=True)
    settings = (REPOSITORY / "config/refreshd.toml").read_bytes()
    for what, random in rounds("files", 0.15):
        app = random.choice(APPS)
        is_app = random.random() < 0.8
        text = hostile.mutated(random, app.read_bytes() if is_app else settings)
        (folder / "apps.d" / app.name).write_bytes(text if is_app else app.read_bytes())
        (folder / "refreshd.toml").write_bytes(settings if is_app else text)
        done = subprocess.run(
            [REFRESHCTL, "check", "--config", folder], capture_output=True, timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST)),
        )  # fmt: skip
        said = (done.stdout + done.stderr).decode(errors="replace")
        assert done.returncode in (0, 1), (done.returncode, said[-2000:], what)
        # A mistake is named with its file.
        assert done.returncode == 0 or ".toml" in said, (said[-2000:], what)
        for file in (folder / "apps.d").iterdir():
            file.unlink()
