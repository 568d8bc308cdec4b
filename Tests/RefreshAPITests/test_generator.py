"""varlink-swift makes Swift of interface files; `BIN_DIR` has the program.

Swift tests cannot link it: the plugin's program is built apart.
"""

import os
import pathlib
import subprocess

import pytest

PROGRAM = pathlib.Path(os.environ.get("BIN_DIR", ".build/debug")) / "varlink-swift"
LIGHTS = """\
# The lights of a house.
interface org.example.Lights

# A lamp. It is on the ceiling, or
# on the wall.
#
# A second paragraph.
type Lamp (
  # The size. Others may come.
  # `big`: it is big.
  # `very_small`: it is not.
  kind: string,
  content_id: ?string,
  color: ?Color,
  on_since_us: int,
  parts: []?[string](is_new: bool)
)

type Color (deep_red, green)

method Switch(lamp: Lamp) -> ()

error Broken (struct: bool)
"""


@pytest.fixture
def make(tmp_path):
    def make(*files: str) -> str:
        """All that is made of files, or the message that says why not."""
        paths = [tmp_path / f"{number}.varlink" for number in range(len(files))]
        for path, text in zip(paths, files):
            path.write_text(text)
        ended = subprocess.run(
            [PROGRAM, "Example", tmp_path, *paths], capture_output=True, text=True, timeout=30, check=False
        )
        if ended.returncode:
            return ended.stderr
        return "".join(path.read_text() for path in sorted(tmp_path.glob("*.swift")))

    return make


def test_files_that_would_not_change_are_not_written(make, tmp_path):
    def written():
        return {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.swift")}

    make(LIGHTS)
    first = written()
    make(LIGHTS)
    assert first and written() == first
    make(LIGHTS.replace("green", "blue"))
    assert written()["Wire.swift"] != first["Wire.swift"]


@pytest.mark.parametrize(
    "part",
    [
        "  public struct Lamp: JSONReadable, JSONWritable, Hashable, Sendable {\n",
        "    public let contentID: String?\n",
        "    public let onSinceMicroseconds: Int64\n",
        "    public let parts: [[String: Parts]?]\n",
        "    public let color: Wire.Color?\n",
        '    case deepRed = "deep_red"\n    case green\n',
        "color = try json.known(Wire.Color.self)\n",
        "public enum LightsInterface: InterfaceDeclaration {\n",
        '  public static let name = "org.example.Lights"\n',
        LIGHTS,
        "  public enum Switch: InterfaceMethod {\n",
        "  public struct Broken: VarlinkError, Hashable, Sendable {\n",
        "    public let `struct`: Bool\n",
        "  /// A lamp.\n  ///\n  /// It is on the ceiling, or on the wall.\n  ///\n  /// A second paragraph.\n"
        "  public struct Lamp",
        "    /// The size.\n    ///\n    /// Others may come.\n    ///\n    /// - `big`: it is big.\n"
        "    /// - `very_small`: it is not.\n    public let kind: Kind\n",
        "    public struct Kind: RawRepresentable, JSONReadable, JSONWritable, Hashable, Sendable {\n"
        '      /// it is big.\n      public static let big = Kind(rawValue: "big")\n'
        '      /// it is not.\n      public static let verySmall = Kind(rawValue: "very_small")\n',
    ],
)
def test_what_is_made_of_a_file(make, part):
    assert part in make(LIGHTS)


def test_no_comment_is_too_long(make):
    long = LIGHTS.replace("A second paragraph.", "A second paragraph. " * 20)
    assert not [line for line in make(long).splitlines() if "///" in line and len(line) > 120]


def test_the_same_type_in_two_files_is_one(make):
    first = "interface a.B\n# One.\ntype T (a: int)\nmethod M(t: T) -> ()\n"
    assert make(first, "interface a.C\n# Other words.\ntype T (a: int)\n").count("struct T:") == 1
    refused = make(first, "interface a.C\ntype T (a: ?int)\n")
    assert "type T is not the same in a.B and a.C: make them equal" in refused


@pytest.mark.parametrize(
    "text, line",
    [
        ("", 1),
        ("interface", 1),
        ("interface a.B\ntype T (a: int", 2),
        ("interface a.B\n\n\nkind T (a)", 4),
        ("interface a.B\ntype T (a, b: int)", 2),
        ("interface a.B\ntype T (a: [int]int)", 2),
        ("interface a.B\nmethod M() ->", 2),
        ("interface a.B\nmethod M(a) -> ()", 2),
        ("interface a.B\ntype T (\n  # No word is listed.\n  kind: string)", 4),
    ],
)
def test_a_mistake_is_named_with_its_line(make, text, line):
    assert f"0.varlink:{line}: error: " in make(text)


def test_a_type_is_declared_in_the_file_that_uses_it(make):
    assert "does not declare type T" in make("interface a.B\nmethod M(t: ?[]T) -> ()\n")
