"""Nothing is sent to a browser that no page has a use for."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src" / "paddock" / "web" / "static"
INDEX = (STATIC / "index.html").read_text()
SHEET = re.sub(r"/\*.*?\*/", "", (STATIC / "paddock.css").read_text(), flags=re.DOTALL)
SCRIPTS = {path: path.read_text() for path in STATIC.rglob("*.js") if "vendor" not in path.parts}
ALL_SCRIPTS = "\n".join(SCRIPTS.values())
COMPOSED = ("as-cards", "as-rows")
"""Classes whose name is put together from parts."""
OF_LIBRARIES = "u-"


def _names(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def test_every_class_of_the_style_sheet_is_used_by_a_page() -> None:
    selectors = re.findall(r"([^{}]+)\{", SHEET)
    classes = {name for selector in selectors for name in re.findall(r"\.([a-zA-Z_][\w-]*)", selector)}
    mine = {name for name in classes if name not in COMPOSED and not name.startswith(OF_LIBRARIES)}
    assert sorted(name for name in mine if not _names(name, ALL_SCRIPTS + INDEX)) == []


def test_every_icon_is_drawn_somewhere() -> None:
    views = "\n".join(path.read_text() for path in (ROOT / "src" / "paddock" / "views").rglob("*.py"))
    icons = re.findall(r'<symbol id="([\w-]+)"', INDEX)
    assert icons
    assert [name for name in icons if not _names(name, ALL_SCRIPTS + views)] == []


def test_every_export_of_a_script_is_imported_by_another_or_by_a_test() -> None:
    tests = "\n".join(path.read_text() for path in Path(__file__).parent.glob("*.py"))
    unused = []
    for path, text in SCRIPTS.items():
        others = "\n".join(other for where, other in SCRIPTS.items() if where != path) + tests
        exports = re.findall(r"^export (?:async )?(?:function\*?|const|let|class) (\w+)", text, re.MULTILINE)
        unused += [f"{path.relative_to(STATIC)}: {name}" for name in exports if not _names(name, others)]
    assert unused == []


def test_every_import_of_a_script_is_used() -> None:
    unused = []
    for path, text in SCRIPTS.items():
        names = [
            name for part in re.findall(r"^import \{([^}]*)\} from", text, re.MULTILINE) for name in part.split(",")
        ]
        bound = [name.split(" as ")[-1].strip() for name in names]
        unused += [f"{path.relative_to(STATIC)}: {name}" for name in bound if len(re.findall(rf"\b{name}\b", text)) < 2]
    assert unused == []


def test_every_import_of_a_script_names_what_the_other_exports() -> None:
    missing = []
    for path, text in SCRIPTS.items():
        for part, source in re.findall(r'^import \{([^}]*)\} from "([^"]+)"', text, re.MULTILINE):
            other = (path.parent / source).resolve()
            exported = other.read_text() if other.is_file() else ""
            for name in (one.split(" as ")[0].strip() for one in part.split(",")):
                if not re.search(rf"^export .*\b{name}\b|^\s*{name},?|[{{,] *{name}[ ,}}]", exported, re.MULTILINE):
                    missing.append(f"{path.relative_to(STATIC)}: {name} of {source}")
    assert missing == []


def test_scripts_are_short_enough_to_read() -> None:
    lengths = {path.relative_to(STATIC): len(text.splitlines()) for path, text in SCRIPTS.items()}
    assert {path: lines for path, lines in lengths.items() if lines > 300} == {}
    wide = [f"{path.name}: {line}" for path, text in SCRIPTS.items() for line in text.splitlines() if len(line) > 120]
    assert wide == []
