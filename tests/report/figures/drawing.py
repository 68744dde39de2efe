"""Reading a picture back: elements by class, words, and what marks say."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from deepdiver.report.figures.svg import Picture

SPACE = "{http://www.w3.org/2000/svg}"
ALLOWED = frozenset(
    f"{SPACE}{name}" for name in "svg title desc style rect g a path circle text clipPath".split()
)
"""Elements that a picture may hold: none that loads or runs anything."""
ATTRIBUTES = frozenset(
    "class viewBox width height role aria-labelledby aria-describedby id x y rx cx cy r d "
    "href opacity transform stroke-dasharray "
    "clip-path fill-rule "
    "text-anchor".split()
)


def root(picture: Picture) -> ElementTree.Element:
    """Return the picture as its file holds it, after a look at what it is made of."""
    held = ElementTree.fromstring(picture.file("report.html"))  # noqa: S314  what we wrote ourselves
    for item in held.iter():
        assert item.tag in ALLOWED, item.tag
        assert set(item.attrib) <= ATTRIBUTES, item.attrib
        assert all(ord(letter) >= 32 for value in item.attrib.values() for letter in value)
        if "href" in item.attrib:
            assert item.attrib["href"].startswith(("#c", "report.html#c"))
    return held


def of_class(held: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """Return the elements of a class, in the order in which they are drawn."""
    return [item for item in held.iter() if name in item.attrib.get("class", "").split()]


def texts(held: ElementTree.Element) -> list[str]:
    """Return the words of a picture."""
    return [item.text or "" for item in held.iter(f"{SPACE}text")]


def titles(held: ElementTree.Element) -> list[str]:
    """Return what the marks say when pointed at."""
    return [item.text or "" for item in held.iter(f"{SPACE}title")][1:]


def numbers(held: ElementTree.Element, *names: str) -> Iterator[float]:
    """Return all numbers of some attributes."""
    for item in held.iter():
        for name in names:
            if name in item.attrib:
                yield float(item.attrib[name])
