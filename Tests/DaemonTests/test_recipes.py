"""The files of docs/recipes.md: all are valid, and those for git and restic do what the page says."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from daemon import REPOSITORY
from test_json import REFRESHCTL

PAGE = (REPOSITORY / "docs/recipes.md").read_text()
RECIPES = {
    section.split("\n", 1)[0]: re.search("```toml\n(.*?)```", section, re.DOTALL).group(1)
    for section in PAGE.split("\n## ")[1:]
}


def sh(command, **places):
    environment = {
        **os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org",
        "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org",
    }  # fmt: skip
    done = subprocess.run(["sh", "-ec", command], env={**environment, **places}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Recipe:
    """A recipe in a folder in the place of the home."""

    def __init__(self, daemon, scratch, name):
        self.daemon, self.home = daemon, scratch / "home"
        self.home.mkdir()
        self.text = RECIPES[name].replace("~/", f"{self.home}/")
        self.id = re.search('id = "(.*?)"', self.text).group(1)

    def start(self, **variables):
        # Only the test needs these: a home has them in its files.
        extra = "".join(f', {name} = "{value}"' for name, value in variables.items())
        text = re.sub(r"(environment = \{.*?) \}", rf"\1{extra} }}", self.text)
        # The day's first refresh comes when the test asks.
        text = re.sub('background_interval = ".*?"', 'background_interval = "never"', text)
        # The machine of the test has no network manager.
        text = re.sub('(network|power) = ".*?"\n', "", text)
        self.daemon.file(self.id).write_text(text)
        self.daemon.start()

    def run(self):
        task = self.daemon.refresh(self.id)["tasks"][0]
        return task["outcome"], task["message"]


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_is_valid(name, scratch):
    (scratch / "apps.d").mkdir()
    text = RECIPES[name]
    id = re.search('id = "(.*?)"', text).group(1)
    (scratch / "apps.d" / f"{id}.toml").write_text(text)
    done = subprocess.run([REFRESHCTL, "check", "--config", scratch], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_git_carries_both_ways(daemon, scratch):
    recipe = Recipe(daemon, scratch, "git")
    there, here = scratch / "there.git", recipe.home / "notebook"
    sh(
        f"""git init --quiet --bare --initial-branch=main {there}
        git clone --quiet {there} {scratch}/other; cd {scratch}/other; git checkout --quiet -b main
        echo one > one; git add .; git commit --quiet -m one; git push --quiet -u origin main
        git clone --quiet {there} {here}"""
    )
    recipe.start(
        GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@example.org", GIT_COMMITTER_NAME="t",
        GIT_COMMITTER_EMAIL="t@example.org",
    )  # fmt: skip
    assert recipe.run()[0] == "no_data"
    (here / "two").write_text("two\n")
    sh(f"cd {scratch}/other; echo three > three; git add .; git commit --quiet -m three; git push --quiet")
    assert recipe.run()[0] == "new_data"
    assert (here / "three").read_text() == "three\n"
    sh(f"cd {scratch}/other; git pull --quiet --rebase")
    assert (scratch / "other/two").read_text() == "two\n"
    assert recipe.run()[0] == "no_data"
    # A conflict leaves the folder as it was.
    (here / "one").write_text("ours\n")
    sh(f"cd {scratch}/other; echo theirs > one; git commit --quiet -a -m theirs; git push --quiet")
    outcome, said = recipe.run()
    assert outcome == "failed" and "rebase it by hand" in said
    assert (here / "one").read_text() == "ours\n" and not (here / ".git/rebase-merge").exists()
    # No network: the refresh is retried.
    there.rename(scratch / "gone")
    assert recipe.run()[0] == "failed"
    assert daemon.show(recipe.id)["due_trigger"] == "retry"


def test_restic_backs_up(daemon, scratch):
    if shutil.which("restic") is None:
        pytest.fail("restic is not there: run make test-setup")
    recipe = Recipe(daemon, scratch, "restic")
    repository, password = scratch / "repository", scratch / "password"
    password.write_text("mellon\n")
    places = {"RESTIC_REPOSITORY": str(repository), "RESTIC_PASSWORD_FILE": str(password)}
    sh("restic --quiet init", **places)
    (recipe.home / "Documents").mkdir()
    (recipe.home / "Documents/letter").write_text("dear\n")
    recipe.text = recipe.text.replace("/srv/backup/documents", str(repository)).replace(
        "/etc/restic.password", str(password)
    )
    recipe.start(RESTIC_CACHE_DIR=str(scratch / "cache"))
    assert recipe.run()[0] == "no_data"
    sh(f"restic --quiet restore latest --target {scratch}/restored", **places)
    restored = pathlib.Path(f"{scratch}/restored{recipe.home}/Documents/letter")
    assert restored.read_text() == "dear\n"
    repository.rename(scratch / "gone")
    assert recipe.run()[0] == "failed"
    assert daemon.show(recipe.id)["due_trigger"] == "retry"
