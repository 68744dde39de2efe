"""Fill the parts of the documentation that are made by the program itself.

`make docs` runs it, a test compares.

A made part stands between `<!-- name -->` and `<!-- /name -->`. A constant that a page quotes is
followed by `<!-- module.NAME -->`, which readers do not see, and is filled in too; so is a field of
the table of strategies (`<!-- strategies.table.popper.max_iterations -->`).
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import re
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path

from deepdiver.strategies.table import TABLE, Strategy

ROOT = Path(__file__).parents[1]
DEMO_DAY = "2026-11-15"
"""Ages change; the demo in the README is that of this day."""


def demo() -> str:
    """Return what the demo prints."""
    from deepdiver import sample
    from deepdiver.cli import main

    question = next(question.text for question in sample.questions() if question.demo)
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as home, contextlib.redirect_stdout(said):
        code = main(["--sample", "--quiet", "--home", home, "--as-of", DEMO_DAY, question])
    if code != 0:
        raise SystemExit(f"the demo ended with {code}")
    return f"````markdown\n{said.getvalue().strip()}\n````"


def help_text() -> str:
    """Return what --help prints."""
    said = io.StringIO()
    from deepdiver.cli import main

    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main(["--help"])
    return f"```\n{said.getvalue().strip()}\n```"


def graph(entry: Strategy) -> str:
    """Return the picture of a strategy's graph."""
    return f"```mermaid\n{entry.build().compile().get_graph().draw_mermaid().strip()}\n```"


def layers() -> str:
    """Return the layers, top first, each with what its package says of itself."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (found,) = [
        contract["layers"]
        for contract in contracts["tool"]["importlinter"]["contracts"]
        if contract["id"] == "layers"
    ]
    rows = [
        (f"| {name}" if number else name, _first_line(name))
        for layer in found
        for number, name in enumerate(re.findall(r"\w+", layer))
    ]
    return "\n".join(["```", *(f"{name:14}{about}".rstrip() for name, about in rows), "```"])


def _first_line(package: str) -> str:
    """Return the first line of a package's docstring; or that there is none."""
    try:
        said = importlib.import_module(f"deepdiver.{package}").__doc__ or ""
    except ImportError:
        return "not built yet"
    return said.strip().splitlines()[0].rstrip(".")


def outcomes() -> str:
    """Return the outcomes of a run as a table."""
    from deepdiver.core.outcomes import OUTCOMES

    rows = [
        f"| {ending.headline} | `{status.value}` | {ending.exit_code} | {ending.when} |"
        for status, ending in OUTCOMES.items()
    ]
    return "\n".join(["| headline | status | exit code | when |", "|---|---|---|---|", *rows])


def feeds() -> str:
    """Return the feeds with what each needs and takes."""
    from deepdiver.core.settings import Settings
    from deepdiver.tools.osint import registry
    from deepdiver.tools.osint.feed import shown_arguments

    parts = []
    for feed in registry.feeds().values():
        needs = feed.missing(Settings()) or "nothing"
        taken = "\n".join(f"- {line}" for line in map(_as_item, shown_arguments(feed)))
        parts.append(
            f"### {feed.name}\n\n{feed.about[:1].upper()}{feed.about[1:]}. It needs: "
            f"{needs}.\n\n{taken}"
        )
    return "\n\n".join(parts)


def _as_item(line: str) -> str:
    name, _, told = line.partition(": ")
    name, mark, optional = name.partition(" (")
    return f"`{name}`{mark and ' ('}{optional}: {told}"


MADE: dict[str, list[tuple[str, Callable[[], str]]]] = {
    "README.md": [("demo", demo)],
    "docs/ARCHITECTURE.md": [("layers", layers)],
    "docs/CLI.md": [("help", help_text)],
    "docs/FEEDS.md": [("feeds", feeds)],
    "docs/OUTCOMES.md": [("outcomes", outcomes)],
    **{
        f"docs/strategies/{entry.name}.md": [("graph", functools.partial(graph, entry))]
        for entry in TABLE.values()
    },
}
"""What is made, by file."""


VALUE = re.compile(r"(?P<value>\d[\d,.]*(?<![,.]))<!-- (?P<name>[a-z_]+(?:\.\w+)+) -->")
"""A constant that a page quotes."""


def value_of(name: str) -> str:
    """Return a constant of the code, as a page writes it.

    Raises:
        SystemExit: If there is no such constant.
    """
    module, _, attribute = name.rpartition(".")
    try:
        if module.startswith("strategies.table."):
            value = getattr(TABLE[module.rpartition(".")[2]], attribute)
        else:
            value = getattr(importlib.import_module(f"deepdiver.{module}"), attribute)
    except (ImportError, AttributeError, KeyError):
        raise SystemExit(f"there is no constant {name}") from None
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def with_values(text: str) -> str:
    """Return a text with every quoted constant as the code has it."""
    return VALUE.sub(lambda m: f"{value_of(m['name'])}<!-- {m['name']} -->", text)


def filled(text: str, name: str, made: str) -> str:
    """Return a text with one part filled in."""
    head, _, rest = text.partition(f"<!-- {name} -->")
    _, _, tail = rest.partition(f"<!-- /{name} -->")
    if not tail:
        raise SystemExit(f"there is no part {name}")
    return f"{head}<!-- {name} -->\n{made}\n<!-- /{name} -->{tail}"


def main() -> int:
    """Fill everything in."""
    for path, parts in MADE.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        for name, make in parts:
            text = filled(text, name, make())
        (ROOT / path).write_text(text, encoding="utf-8")
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        page.write_text(with_values(page.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
