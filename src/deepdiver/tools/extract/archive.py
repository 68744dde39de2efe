"""Zip archives, which contain Office documents and books, checked before they are unpacked."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from deepdiver.errors import UnreadableError

MOST_MEMBERS = 10_000
LARGEST_MEMBER = 64_000_000
LARGEST_TOTAL = 400_000_000
"""Unpacked bytes in all. Pictures count, though they are never unpacked: a presentation may contain
100 MB of them."""
HIGHEST_RATIO = 250
"""The highest ratio of unpacked to packed size, beyond a megabyte. Sheets of numbers reach 20 to
60, a bomb of zeros 1,030."""


class Archive:
    """The members of a zip file that passed the checks."""

    def __init__(self, data: bytes) -> None:
        """Open and check an archive.

        Raises:
            UnreadableError: If it is damaged, or would unpack to more than a document contains.
        """
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError) as error:
            raise UnreadableError(
                f"it is damaged: {str(error)[:200].lower() or 'no zip archive'}"
            ) from None
        members = self._zip.infolist()
        if len(members) > MOST_MEMBERS:
            raise UnreadableError(
                f"it is packed from {len(members):,} files, more than {MOST_MEMBERS:,}"
            )
        total = sum(member.file_size for member in members)
        if total > LARGEST_TOTAL:
            raise UnreadableError(
                f"it would unpack to {total:,} bytes, more than {LARGEST_TOTAL:,}"
            )
        for member in members:
            _check_member(member)
        self.names = frozenset(member.filename for member in members)

    def read(self, name: str) -> bytes:
        """Return the bytes of a member; empty if there is none of that name.

        Raises:
            UnreadableError: If it is damaged or locked.
        """
        if name not in self.names:
            return b""
        try:
            return self._zip.read(name)
        except (
            zipfile.BadZipFile,
            zlib.error,
            NotImplementedError,
            ValueError,
            EOFError,
            OSError,
        ) as error:
            raise UnreadableError(f"it is damaged: {str(error)[:200].lower()}") from None
        except RuntimeError:  # how zipfile says that a password is needed
            raise UnreadableError("it is locked with a password") from None

    def xml(self, name: str) -> Any:
        """Return the root of an XML member; None if there is no such member.

        Raises:
            UnreadableError: If it is damaged, or declares entities.
        """
        data = self.read(name)
        return parse_xml(data) if data else None

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the relations of a part of an Office file by id, as (kind, name of the member)."""
        folder, file = posixpath.split(name)
        root = self.xml(f"{folder}/_rels/{file}.rels")
        found: dict[str, tuple[str, str]] = {}
        for link in () if root is None else root:
            target = link.get("Target", "")
            if link.get("TargetMode") != "External" and target:
                kind = link.get("Type", "").rpartition("/")[2]
                found[link.get("Id", "")] = (kind, member_at(name, target))
        return found

    def linked(self, name: str) -> dict[str, str]:
        """Return the addresses outside that a part of an Office file links to, by id."""
        folder, file = posixpath.split(name)
        root = self.xml(f"{folder}/_rels/{file}.rels")
        return {
            link.get("Id", ""): link.get("Target", "")
            for link in (() if root is None else root)
            if link.get("TargetMode") == "External"
        }


def _check_member(member: zipfile.ZipInfo) -> None:
    if member.file_size > LARGEST_MEMBER and member.filename.endswith(
        (".xml", ".xhtml", ".html", ".rels", ".opf")
    ):
        raise UnreadableError(
            f"a part of it would unpack to {member.file_size:,} bytes, more than {LARGEST_MEMBER:,}"
        )
    if member.file_size > 1_000_000 and member.file_size > HIGHEST_RATIO * max(
        member.compress_size, 1
    ):
        ratio = member.file_size // max(member.compress_size, 1)
        raise UnreadableError(
            f"a part of it would unpack to {ratio:,} times its size, more than {HIGHEST_RATIO}"
        )


def member_at(name: str, target: str) -> str:
    """Return the member that the relative path `target` in the member `name` leads to."""
    target = unquote(target.partition("#")[0])
    if target.startswith("/"):
        return target.lstrip("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


def parse_xml(data: bytes) -> Any:
    """Return the root of an XML text. Nothing outside it is loaded.

    Raises:
        UnreadableError: If it declares entities, or is not well formed.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    try:
        return fromstring(data, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    except DefusedXmlException:
        raise UnreadableError("it declares XML entities, which a document has no need of") from None
    except (ParseError, ValueError, LookupError) as error:
        raise UnreadableError(f"it is damaged: its XML is not well formed ({error})") from None


def local_name(tag: object) -> str:
    """Return the name of an element without its namespace; empty for comments and the like."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def elements(root: Any, *names: str) -> Iterator[Any]:
    """Yield a root and all elements below it that have one of some local names; none of None."""
    for item in () if root is None else root.iter():
        if local_name(item.tag) in names:
            yield item
