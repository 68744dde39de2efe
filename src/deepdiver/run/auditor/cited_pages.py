"""The pages that a stranger's report cites: fetched like those of a run, or found in a folder."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deepdiver.core.text import words
from deepdiver.errors import GatewayError, UnreadableError, UsageError
from deepdiver.report.cited_text import Reference
from deepdiver.run.auditor.judge import CitedPage
from deepdiver.run.detached import Errand
from deepdiver.tools.address import canonical
from deepdiver.tools.document import Document
from deepdiver.tools.extract.workers.pool import shared_extractor
from deepdiver.tools.fetch import fetch, is_gone
from deepdiver.tools.library.files import LibraryFile, document_of, load_file
from deepdiver.tools.library.folder_walk import find_files

INDEX = "sources.json"
"""A file of the folder that may say which address is which file: `{"https://…": "page.html"}`."""
TITLE_WORDS = 3
"""Words of a title by which a reference may name a file."""
NO_ADDRESS = "the reference gives no address"
NOT_THERE = "it is not in the folder of sources"
A_FILE = "it is a file: give its folder with --sources"


@dataclass(frozen=True, slots=True)
class ReadReference:
    """A reference, and what could be read of it."""

    reference: Reference
    """The reference."""
    page: CitedPage | None
    """The page; None if it could not be read."""
    reason: str = ""
    """Why it could not be read."""
    gone: bool = False
    """Whether there is no such page or host: the address is invented, or no longer there."""


def _page_of(url: str, document: Document, text: str) -> CitedPage:
    parts = (document.title, document.author, document.publisher, document.published)
    return CitedPage(url, document.title, text, ", ".join(filter(None, parts)))


async def fetch_cited(references: Iterable[Reference], errand: Errand) -> dict[str, ReadReference]:
    """Fetch what references name, each page once, and return it by their keys."""
    held = list(references)
    wanted: dict[str, Reference] = {}
    for item in held:
        if item.url:
            wanted.setdefault(canonical(item.url), item)
    read = await asyncio.gather(*(_fetch(item, errand) for item in wanted.values()))
    found = dict(zip(wanted, read, strict=True))
    return {
        item.key: found[canonical(item.url)] if item.url else ReadReference(item, None, NO_ADDRESS)
        for item in held
    }


async def _fetch(reference: Reference, errand: Errand) -> ReadReference:
    if not reference.url.startswith(("http://", "https://")):
        return ReadReference(reference, None, A_FILE)
    try:
        page = await fetch(reference.url, errand.gateway)
    except (UnreadableError, GatewayError) as error:
        reason = str(error)
        return ReadReference(reference, None, reason, is_gone(reason))
    text = errand.store.texts.get(page.snapshot)
    return ReadReference(reference, _page_of(page.url, page.document, text))


async def find_cited(references: Iterable[Reference], folder: Path) -> dict[str, ReadReference]:
    """Find what references name in a folder, and return it by their keys.

    A file is named by the index of the folder, by its path, by an address that ends like its name
    or spells it out, or by a reference that holds its name or its title.

    Raises:
        UsageError: If there is no such folder, or its index cannot be read.
    """
    files, _ = find_files([folder])
    index = _read_index(folder)
    read = await asyncio.gather(*(asyncio.to_thread(_read, file) for file in files))
    held = [_Held(file, document) for file, document in zip(files, read, strict=True) if document]
    return {item.key: _found(item, held, index) for item in references}


@dataclass(frozen=True, slots=True)
class _Held:
    """A file of the folder."""

    file: LibraryFile
    document: Document


def _read(file: LibraryFile) -> Document | None:
    try:
        return document_of(load_file(file), file.path.name, shared_extractor())
    except UnreadableError:
        return None


def _read_index(folder: Path) -> Mapping[str, str]:
    path = folder / INDEX
    if not path.is_file():
        return {}
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        return {canonical(str(url)): str(name) for url, name in held.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise UsageError(f"{path} is not an object of addresses and file names: {error}") from None


def _found(reference: Reference, held: Sequence[_Held], index: Mapping[str, str]) -> ReadReference:
    named = index.get(canonical(reference.url)) if reference.url else None
    for item in held:
        if _is_named(item, reference, named):
            url = reference.url or item.file.url
            return ReadReference(reference, _page_of(url, item.document, item.document.text))
    return ReadReference(reference, None, NOT_THERE)


def _is_named(item: _Held, reference: Reference, named: str | None) -> bool:
    """Whether a reference means a file."""
    path = item.file.path.as_posix()
    if named is not None:
        return path == named or path.endswith(f"/{named}")
    spelt = _slug(re.sub(r"^\w+://(?:www\.)?", "", reference.url).partition("#")[0])
    own = {_slug(item.file.path.name), _slug(item.file.path.stem)} - {""}
    if spelt and (spelt in own or any(spelt.endswith(f"-{name}") for name in own)):
        return True
    if item.file.path.name.lower() in reference.text.lower():
        return True
    title = words(item.document.title)
    return len(title) >= TITLE_WORDS and _runs_in(title, words(reference.text))


def _slug(text: str) -> str:
    return "-".join(words(text.replace("_", "-").replace("/", "-").replace(".", "-")))


def _runs_in(part: Sequence[str], whole: Sequence[str]) -> bool:
    many = len(part)
    return any(list(whole[at : at + many]) == list(part) for at in range(len(whole) - many + 1))
