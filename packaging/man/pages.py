#!/usr/bin/python3 -B
"""Makes the manual pages of sections 5 and 7 from pages of docs/: `pages.py DIRECTORY`.

The tables and paragraphs there are the only source, so a manual page cannot say otherwise. The result is the input of
scdoc(1), which makes the pages that people read.
"""

import sys
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

DOCS = Path(__file__).resolve().parents[2] / "docs"

PAGES = {
    "refreshd.toml(5)": {
        "name": "settings of refreshd",
        "source": "configuration.md",
        "synopsis": "/etc/refreshd/refreshd.toml, ~/.config/refreshd/refreshd.toml",
        "sections": ["Configuration", "Where the files are", "Values", "refreshd.toml"],
        "see": "*refreshd*(8), *refreshd-app*(5), *push.toml*(5), *refreshctl*(1), *refreshd*(7)",
    },
    "refreshd-app(5)": {
        "name": "an app that refreshd keeps fresh",
        "source": "configuration.md",
        "synopsis": "/etc/refreshd/apps.d/*.toml, ~/.config/refreshd/apps.d/*.toml",
        "sections": ["apps.d/ID.toml", "The environment of a task", "Values"],
        "see": "*refreshd*(8), *refreshd.toml*(5), *refreshctl*(1), *refreshd*(7), *systemd.exec*(5)",
    },
    "push.toml(5)": {
        "name": "sources of refresh-push",
        "source": "configuration.md",
        "synopsis": "/etc/refreshd/push.toml, ~/.config/refreshd/push.toml",
        "sections": ["push.toml", "Values"],
        "see": "*refresh-push*(8), *refreshd*(8), *refreshd-app*(5), *systemd.exec*(5)",
    },
    "refreshd(7)": {
        "name": "how refreshd decides when an app is refreshed",
        "source": "scheduling.md",
        "sections": ["Scheduling", "The decision", "What is due", "What holds it", "Failures"],
        "see": "*refreshd*(8), *refreshctl*(1), *refreshd-app*(5), _/usr/share/doc/refreshd/docs/scheduling.md_",
    },
}
TITLES = {
    "Configuration": "DESCRIPTION", "Scheduling": "DESCRIPTION", "refreshd.toml": "KEYS", "apps.d/ID.toml": "DESCRIPTION",
    "push.toml": "DESCRIPTION", "The environment of a task": "ENVIRONMENT", "Where the files are": "FILES",
}  # fmt: skip


def main(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for page, facts in PAGES.items():
        name, section = page.rstrip(")").split("(")
        sections = read((DOCS / facts["source"]).read_text())
        (directory / f"{name}.{section}.scd").write_text(render(page, sections))


def read(text: str) -> dict[str, list[SyntaxTreeNode]]:
    """The nodes below each heading of the first and second level."""
    sections: dict[str, list[SyntaxTreeNode]] = {}
    title = ""
    for node in SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text)).children:
        if node.type == "heading" and node.tag in ("h1", "h2"):
            title = plain(node.children[0])
            sections[title] = []
        else:
            sections[title].append(node)
    return sections


def render(page: str, sections: dict[str, list[SyntaxTreeNode]]) -> str:
    facts = PAGES[page]
    parts = [page, f"# NAME\n\n{page.split('(')[0]} - {facts['name']}"]
    if "synopsis" in facts:
        parts.append(f"# SYNOPSIS\n\n{escaped(facts['synopsis'])}")
    for title in facts["sections"]:
        parts.append(f"# {TITLES.get(title, title.upper())}")
        parts += [block(node) for node in sections[title]]
    parts.append(f"# SEE ALSO\n\n{facts['see']}")
    return "\n\n".join(parts) + "\n"


def block(node: SyntaxTreeNode) -> str:
    if node.type == "heading":
        return f"## {plain(node.children[0])}"
    if node.type == "paragraph":
        return text(node.children[0])
    if node.type in ("fence", "code_block"):
        return f"```\n{node.content.rstrip()}\n```"
    if node.type in ("bullet_list", "ordered_list"):
        mark = "- " if node.type == "bullet_list" else ". "
        return "\n".join(mark + text(item.children[0].children[0]).replace("\n", "\n  ") for item in node.children)
    if node.type == "table":
        return table(node)
    raise ValueError(f"line {node.map[0] + 1}: cannot put a {node.type} on a manual page")


def table(node: SyntaxTreeNode) -> str:
    """Each row as an entry: the first column, and below it the others, named by the table's head where that helps."""
    head, body = node.children
    names = [plain(cell.children[0]) for cell in head.children[0].children]
    entries = []
    for row in body.children:
        cells = dict(zip(names, (text(cell.children[0]) for cell in row.children), strict=True))
        subject = cells.pop(names[0])
        default, bounds = cells.pop("default", ""), cells.pop("bounds", "")
        lines = [
            sentence(f"{name}: {value}" if value in ("yes", "no") else value) for name, value in cells.items() if value
        ]
        if default in ("required", ""):
            lines += ["Required."] if default else []
        else:
            lines.append(f"Default: {default}.")
        lines += [f"Bounds: {bounds}."] if bounds else []
        entries.append(f"{subject}\n\t{' '.join(lines)}")
    return "\n\n".join(entries)


def sentence(value: str) -> str:
    first = value[:1].upper() + value[1:]
    return first if first.endswith(".") else first + "."


def text(node: SyntaxTreeNode) -> str:
    """Inline text in scdoc's marks: code and strong words are bold, and a link is its text."""
    parts = []
    for child in node.children:
        if child.type == "text":
            parts.append(escaped(child.content))
        elif child.type == "code_inline":
            parts.append(f"*{escaped(child.content)}*")
        elif child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "strong":
            parts.append(f"*{escaped(plain(child))}*")
        elif child.type in ("link", "em"):
            parts.append(text(child))
        else:
            raise ValueError(f"cannot put {child.type} on a manual page")
    return "".join(parts)


def plain(node: SyntaxTreeNode) -> str:
    return "".join(
        child.content if child.type in ("text", "code_inline") else plain(child) for child in node.children
    )


def escaped(words: str) -> str:
    return "".join("\\" + letter if letter in "\\_*#`~" else letter for letter in words)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
