"""The site of `make site`: every link leads to something, nothing comes from elsewhere, and the search knows each page."""

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from daemon import REFRESHD

ROOT = Path(__file__).resolve().parents[2]


class Page(HTMLParser):
    """The links, the anchors and the loaded files of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.loaded = [], set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            self.anchors.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        self.loaded += [values[name] for name in ("src", "href") if tag in ("script", "link", "img") and name in values]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    refreshctl = REFRESHD.with_name("refreshctl")
    subprocess.run([ROOT / "packaging/man/make", refreshctl, folder / "man"], check=True)
    python = ["/usr/bin/python3", "-B"]
    subprocess.run([*python, ROOT / "packaging/site/session.py", REFRESHD.parent, folder / "session"], check=True)
    subprocess.run(
        [*python, ROOT / "packaging/site/site.py", folder / "man", folder / "session", folder / "site"], check=True
    )
    return folder / "site"


@pytest.mark.bound(240)
def test_every_link_leads_to_something_on_the_site(site):
    pages = {path.name: Page(path) for path in site.glob("*.html")}
    assert {"index.html", "ten-minutes.html", "configuration.html", "refreshd.8.html", "refreshctl-why.1.html"} <= set(pages)
    for name, page in pages.items():
        for link in page.links:
            if "://" in link:
                continue
            path, _, anchor = unquote(link).partition("#")
            assert not path or (site / path).is_file(), f"{name} links to {link}"
            target = pages.get(path or name)
            assert not anchor or target is None or anchor in target.anchors, f"{name} links to {link}"


def test_nothing_comes_from_elsewhere(site):
    for path in site.glob("*.html"):
        for loaded in Page(path).loaded:
            assert (site / loaded).is_file(), f"{path.name} loads {loaded}"
    for file in ("style.css", "search.js", "index.js"):
        assert "@import" not in (site / file).read_text() and "fetch(" not in (site / file).read_text()


def test_the_search_knows_every_page(site):
    entries = json.loads((site / "index.js").read_text().removeprefix("const searchIndex = ").rstrip(";\n"))
    known = {address.partition("#")[0] for _, _, address, _ in entries}
    listed = {path.name for path in site.glob("*.html")} - {"apps-d.html", "manual.html"}
    assert listed == known
    assert any("unmetered" in text for _, heading, address, text in entries if address.startswith("configuration.html"))


def test_the_first_page_has_a_real_session(site):
    page = (site / "index.html").read_text()
    assert re.search(r"It is opened around 1[12]:\d\d on weekdays", " ".join(page.split()))
    assert re.search(r"org\.example\.mirror: new data after \d+ ms", page)
    assert "planned" in (site / "timeline.svg").read_text()
    assert "{{" not in page
