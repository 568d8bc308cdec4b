#!/usr/bin/python3 -B
"""Renders docs/ and the manual pages as static HTML: `site.py MANUAL-PAGES SESSION DIRECTORY`.

The pages need no server and no script from elsewhere. Without scripts all but the search works.
"""

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from markdown_it import MarkdownIt

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PARTS = [
    ("Start", ["index", "ten-minutes", "adopt", "recipes", "answers"]),
    ("For app authors", ["session", "transfers", "push", "protocol", "json"]),
    ("For administrators", ["configuration", "manual", "packages", "changelog"]),
    ("How it decides", ["scheduling", "design", "glossary"]),
    ("For contributors", ["how-to-extend", "testing"]),
]
NAMES = {"index": "What it is", "manual": "Manual pages", "changelog": "Changelog", "json": "JSON", "answers": "Questions and answers"}
# The recorded output of a command stands in the place of its name; of a longer one the beginning.
MOST_LINES = 14
RECORDED = re.compile(r"^\{\{(\w+)\}\}$", re.MULTILINE)


def main(manual: Path, session: Path, directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    site = Site(directory, manual)
    site.page("index", recorded((HERE / "front.md").read_text(), session), HERE)
    listed = {name for _, names in PARTS for name in names}
    for source in sorted((ROOT / "docs").glob("*.md")):
        assert source.stem in listed, f"{source} is in no part of the site; add it to PARTS"
        site.page(source.stem, source.read_text(), source.parent)
    site.page("changelog", (ROOT / "CHANGELOG.md").read_text(), ROOT)
    site.manual()
    for file in (HERE / "style.css", HERE / "search.js", session / "timeline.svg"):
        shutil.copy(file, directory)
    index = json.dumps(site.index, ensure_ascii=False, separators=(",", ":"))
    (directory / "index.js").write_text(f"const searchIndex = {index};\n")


def recorded(text: str, session: Path) -> str:
    """A page with the recorded outputs in the place of their names."""

    def output(found: re.Match) -> str:
        lines = (session / f"{found[1]}.txt").read_text().rstrip().split("\n")
        return "\n".join(lines[:MOST_LINES] + ["…"] * (len(lines) > MOST_LINES))

    return RECORDED.sub(output, text)


class Site:
    """The folder of the site, and what its search finds."""

    def __init__(self, directory: Path, manual: Path):
        self.directory = directory
        self.pages_of_manual = {path.name: path for path in sorted(manual.glob("*.[1-8]"))}
        self.index = []

    # Pages of docs/.

    def page(self, name: str, text: str, folder: Path) -> None:
        markdown = MarkdownIt("commonmark").enable("table")
        tokens = markdown.parse(text)
        self.prepare(tokens, folder)
        title = next(plain(token) for at, token in enumerate(tokens) if at and tokens[at - 1].type == "heading_open")
        self.index_page(name, title, tokens)
        body = stacked(markdown.renderer.render(tokens, markdown.options, {}))
        self.write(name, title, body, contents(tokens))

    def prepare(self, tokens, folder: Path) -> None:
        """Anchors of headings, and links that lead to pages of the site."""
        for token, inner in zip(tokens, tokens[1:]):
            if token.type == "heading_open":
                token.attrSet("id", anchor(plain(inner)))
        for token in tokens:
            for child in token.children or []:
                if child.type == "link_open":
                    child.attrSet("href", self.target(child.attrGet("href"), folder))

    def target(self, link: str, folder: Path) -> str:
        """The address of a page, or of a copy of a file of the repository."""
        path, hash, place = link.partition("#")
        if "://" in link or not path or path.endswith((".html", ".svg")):
            return link
        file = (folder / path).resolve()
        if file.suffix == ".md" and file.parent in (ROOT / "docs", ROOT):
            name = {"README": "index"}.get(file.stem, file.stem.lower())
            return f"{name}.html{hash}{place}"
        within = file.relative_to(ROOT)
        if file.is_dir():
            return self.listing(file)
        copy = self.directory / "files" / within.parent / (within.name + ("" if within.suffix == ".json" else ".txt"))
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
        return str(copy.relative_to(self.directory))

    def listing(self, folder: Path) -> str:
        """A page with the files of a folder, one below the other."""
        name = folder.name.replace(".", "-")
        if not (self.directory / f"{name}.html").exists():
            files = sorted(path for path in folder.iterdir() if path.is_file())
            body = f"<h1>{folder.relative_to(ROOT)}</h1>" + "".join(
                f"<h2>{html.escape(file.name)}</h2><pre><code>{html.escape(file.read_text())}</code></pre>" for file in files
            )
            self.write(name, folder.name, body)
        return f"{name}.html"

    # Manual pages.

    def manual(self) -> None:
        rows = []
        for name, path in self.pages_of_manual.items():
            mandoc = ["mandoc", "-T", "html", "-O", "fragment"]
            body = subprocess.run(mandoc, check=True, input=spaced(path.read_text()), capture_output=True, text=True).stdout
            body = re.sub(r"<table class=\"(head|foot)\">.*?</table>", "", body, flags=re.DOTALL)
            title, _, section = name.rpartition(".")
            about = re.search(r'id="NAME">.*?<p class="Pp">(.*?)</p>', body, re.DOTALL)
            about = re.sub(r"<[^>]*>|\s+", " ", about[1]).partition(" - ")[2].strip() if about else ""
            file = f"{title}.{section}"
            rows.append((section, f'<li><a href="{file}.html">{title}({section})</a> {about}</li>'))
            words = re.sub(r"</?[abi]\b[^>]*>", "", body.partition("</section>")[2])
            words = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", words)))
            self.index.append([f"{title}({section})", html.unescape(about), f"{file}.html", words])
            self.write(file, f"{title}({section})", f'<div class="manual"><h1>{title}({section})</h1>{self.linked(body)}</div>')
        titles = {"1": "Commands", "5": "Files", "7": "How it decides", "8": "Daemons"}
        lists = "".join(
            f"<h2>{titles[number]}</h2><ul>{''.join(row for section, row in rows if section == number)}</ul>"
            for number in sorted({section for section, _ in rows}, key="8571".index)
        )
        self.write("manual", "Manual pages", f"<h1>Manual pages</h1>{lists}")

    def linked(self, body: str) -> str:
        """References such as refreshd(8) as links, if the page is there."""

        def link(found: re.Match) -> str:
            page = f"{found[1]}.{found[2]}"
            known = page in self.pages_of_manual
            return f'<a href="{page}.html">{found[1]}({found[2]})</a>' if known else found[0]

        return re.sub(r"<b>([\w.-]+)</b>\((\d)\)", link, body)

    # Search and frame.

    def index_page(self, name: str, title: str, tokens) -> None:
        """An entry for each heading with the text up to the next one: page, heading, address, words."""
        entries = [[title, "", f"{name}.html", []]]
        for at, token in enumerate(tokens):
            if token.type == "heading_open" and token.tag in ("h2", "h3"):
                heading = plain(tokens[at + 1])
                entries.append([title, heading, f"{name}.html#{anchor(heading)}", []])
            elif token.type == "inline":
                entries[-1][3].append(plain(token))
            elif token.type in ("fence", "code_block"):
                entries[-1][3].append(token.content)
        self.index += [[*entry[:3], re.sub(r"\s+", " ", " ".join(entry[3]))] for entry in entries]

    def write(self, name: str, title: str, body: str, aside: str = "") -> None:
        whole = title if name == "index" else f"{html.escape(title)} · refreshd"
        frame = (HERE / "frame.html").read_text()
        body = breakable(body.replace("</h1>", f"</h1>{aside}", 1))
        for place, text in {"title": whole, "navigation": navigation(name), "body": body}.items():
            frame = frame.replace(f"@{place}@", text)
        (self.directory / f"{name}.html").write_text(frame)


def navigation(current: str) -> str:
    """The list of all pages, with the current one marked."""
    parts = []
    for title, names in PARTS:
        links = "".join(
            f'<li><a href="{name}.html"{" aria-current=page" if name == current else ""}>{NAMES.get(name) or name_of(name)}</a></li>'
            for name in names
        )
        parts.append(f"<h2>{title}</h2><ul>{links}</ul>")
    return "".join(parts)


def name_of(name: str) -> str:
    """The first heading of a page of docs/."""
    return html.escape((ROOT / "docs" / f"{name}.md").read_text().partition("\n")[0].lstrip("# "))


def contents(tokens) -> str:
    """The headings of the second level of a page, if it has several."""
    headings = [
        plain(inner) for token, inner in zip(tokens, tokens[1:]) if token.type == "heading_open" and token.tag == "h2"
    ]
    if len(headings) < 3:
        return ""
    links = "".join(f'<li><a href="#{anchor(heading)}">{html.escape(heading)}</a></li>' for heading in headings)
    return f"<details class=contents><summary>On this page</summary><ul>{links}</ul></details>"


def stacked(body: str) -> str:
    """Tables whose cells know the heads of their columns, so that a phone shows a row as a block, in boxes that scroll."""

    def table(found: re.Match) -> str:
        heads = [re.sub(r"<[^>]*>", "", head) for head in re.findall(r"<th[^>]*>(.*?)</th>", found[0], re.DOTALL)]
        column = [0]

        def cell(inner: re.Match) -> str:
            head = heads[column[0] % len(heads)]
            column[0] += 1
            return f'<td data-head="{head}"{inner[1]}>'

        return f"<div class=table>{re.sub(r'<td([^>]*)>', cell, found[0])}</div>"

    return re.sub(r"<table>.*?</table>", table, body, flags=re.DOTALL)


def spaced(page: str) -> str:
    """A manual page whose examples keep their empty lines, which mandoc leaves out of its HTML."""
    example = re.compile(r"^\.nf$.*?^\.fi$", re.MULTILINE | re.DOTALL)
    return example.sub(lambda found: found[0].replace("\n\n", "\n.sp\n"), page)


def breakable(body: str) -> str:
    """Text whose paths break at a slash, and whose words do not, as browsers do it, at their hyphens: --user, refresh-push."""

    def words(found: re.Match) -> str:
        text = re.sub(r"(?<=[\w.])/(?=\w)", "/<wbr>", found[0])
        return re.sub(r"(?<![\w&-])(?=[\w-]*-\w)[\w-]{2,24}(?![\w-])", r"<span class=word>\g<0></span>", text)

    parts = re.split(r"(<pre.*?</pre>)", body, flags=re.DOTALL)
    return "".join(part if part.startswith("<pre") else re.sub(r"(?<=>)[^<]+", words, part) for part in parts)


def plain(token) -> str:
    return "".join(child.content if child.type in ("text", "code_inline") else " " if child.type == "softbreak" else ""
                   for child in token.children or [])  # fmt: skip


def anchor(heading: str) -> str:
    """As GitHub and Tests/RepositoryTests/DocsTests.swift make it."""
    text = heading.lower().replace(" ", "-")
    return "".join(letter for letter in text if letter.isalnum() or letter in "-_")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
