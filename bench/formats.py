"""Reads the 350 company files of DRBench: pdf, docx, pptx, xlsx, mail, and chat as JSON lines.

Run it as it is, or with the folder of the files; it prints a line for each type, and the status is
1 if a file could not be read. Without the data nothing is measured.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import Extractor

DATA = Path(__file__).parents[2] / "shared" / "data" / "drbench"
FILES = 346
"""The number of files in the folder; the set calls itself 350 files."""


@dataclass(slots=True)
class Tally:
    """The result of reading the files of one type."""

    files: int = 0
    characters: int = 0
    marks: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)


def documents(data: Path = DATA) -> list[Path]:
    """List the documents by name."""
    return sorted(path for path in data.glob("*/docs/*") if path.is_file())


def read(paths: Iterable[Path], extractor: Extractor) -> dict[str, Tally]:
    """Read files, and count by suffix."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for path in paths:
        tally = tallies[path.suffix]
        tally.files += 1
        began = time.perf_counter()
        try:
            document = extractor.extract(path.read_bytes(), name=path.name)
        except UnreadableError as error:
            tally.failures.append(f"{path.parent.parent.name}/{path.name}: {error}")
        else:
            tally.characters += len(document.text)
            tally.marks += len(document.marks)
        tally.seconds += time.perf_counter() - began
    return dict(tallies)


def main(arguments: Sequence[str] = ()) -> int:
    """Read the files, print, and return 1 if one could not be read."""
    data = Path(arguments[0]) if arguments else DATA
    paths = documents(data)
    if not paths:
        print(
            "DRBench is not here (looked for shared/data/drbench beside the repository): nothing "
            "was read"
        )
        return 0
    extractor = Extractor()
    try:
        tallies = read(paths, extractor)
    finally:
        extractor.close()
    for suffix, tally in sorted(tallies.items()):
        print(
            f"{suffix:>6}  {tally.files:4} files  {tally.characters:9,} characters  "
            f"{tally.marks:5} marks  "
            f"{len(tally.failures)} failures  {tally.seconds:6.2f} s"
        )
        for failure in tally.failures:
            print(f"        {failure}")
    count = sum(tally.files for tally in tallies.values())
    failures = sum(len(tally.failures) for tally in tallies.values())
    print(
        f"{count} files read, {failures} failures; the largest child held "
        f"{extractor.peak / 2**20:.0f} MB"
    )
    return int(bool(failures) or count < FILES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
