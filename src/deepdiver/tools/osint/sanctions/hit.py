"""An entry that is, or may be, who was looked for: what is journalled of it, and how it is told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from deepdiver.tools.osint import telling
from deepdiver.tools.osint.countries import countries
from deepdiver.tools.osint.feed import MOST_ROWS, Answer, IntelligenceType, Row
from deepdiver.tools.osint.sanctions.asked import Asked
from deepdiver.tools.osint.sanctions.entity import Entity

KEPT = 100
"""Hits that are journalled, the likest."""
LONGEST_NAME = 200
"""Characters of a name in a sentence."""
MOST = 4
"""Lists, countries and dates of birth that a sentence names, each; the others are counted."""
GONE = {
    "SUHH": "the Soviet Union",
    "CSHH": "Czechoslovakia",
    "YUCS": "Yugoslavia",
    "DDDE": "the GDR",
}
_CODE = re.compile(r"[a-z0-9_]{1,60}")
"""What OpenSanctions calls a list within itself; a title of one is put in quotation marks."""

_EXACT = re.compile(r"(?<=differs: )\d{4}-.*")


class Hit(BaseModel):
    """An entry, and how alike it is to who was looked for."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    entity: Entity
    """Who it is."""
    score: Annotated[float, Field(ge=0, le=1)]
    """How alike, to two decimals."""
    verdict: Literal["match", "possible"]
    """What that comes to."""
    reasons: tuple[str, ...]
    """Why."""
    name: str
    """Which of its names that is."""


class Found(BaseModel):
    """What is journalled of a look-up."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    url: str
    """Where it was looked up, without any key."""
    where: str
    """What it was looked up in, in words: 100,000 entities of targets.simple.csv of 2026-11-14."""
    hits: tuple[Hit, ...] = ()
    """What was found, KEPT at most."""
    matches: int = 0
    """How many matches there are in all."""
    possible: int = 0
    """How many possible ones."""
    note: str = ""
    """What a reader must know of it."""


def answer(found: Found, asked: Asked) -> Answer:
    """Tell what was found; that nothing was is told too."""
    name = telling.quoted(asked.name, LONGEST_NAME)
    some = telling.counted(found.possible, "possible match", "possible matches")
    if found.matches:
        told = (
            f"{telling.counted(found.matches, 'match', 'matches')} and {some} for {name} in "
            f"{found.where}."
        )
    else:
        told = f"No match for {name} in {found.where}{f', and {some}' if found.possible else ''}."
    return Answer(
        service="OpenSanctions",
        url=found.url,
        title=f"Sanctions and watch lists on {name}{_besides(asked)}",
        kind=IntelligenceType.SANCTIONS,
        publisher_kind="aggregator",
        rows=tuple(row(hit, asked) for hit in found.hits[:MOST_ROWS]),
        total=found.matches + found.possible,
        summary=told,
        note=found.note,
    )


def _besides(asked: Asked) -> str:
    born = f", born {asked.birth_date}" if asked.birth_date else ""
    return f"{born}{f', {_country(asked.country)}' if asked.country else ''}{f', {asked.kind}' if asked.kind else ''}"


def row(hit: Hit, asked: Asked) -> Row:
    """Tell an entry in a sentence.

    The first date in it is the day since when it is listed, which is its time; where no such day is
    known, no day is told that could be taken for it.
    """
    entity = hit.entity
    since, seen = _day(entity.first_seen), _day(entity.last_seen)
    when = f" since {since}" if since else f", last seen {seen}" if seen else ""
    born = entity.birth_date if when else tuple(dict.fromkeys(day[:4] for day in entity.birth_date))
    places = [_country(code) for code in entity.countries]
    about = [
        telling.one_line(entity.id, LONGEST_NAME),
        telling.one_line(entity.kind, LONGEST_NAME),
        *([f"born {_several(born, 'or')}"] if born else []),
        *([_several(places)] if places else []),
    ]
    sure = "a match" if hit.verdict == "match" else "a possible match at most"
    why = [
        f"alias {telling.quoted(hit.name, LONGEST_NAME)}" if one == "alias" else one
        for one in hit.reasons
    ]
    if not when:
        why = [_EXACT.sub("the same year", one) for one in why]
    return Row(
        sentence=(
            f"In OpenSanctions{when}: {telling.quoted(entity.name, LONGEST_NAME)} "
            f"({', '.join(about)}) is listed by "
            f"{_several([_list(one) for one in entity.datasets]) or 'a list'}; "
            f"similarity {hit.score:.2f} to the name asked, "
            f"{telling.quoted(asked.name, LONGEST_NAME)}, {sure}: "
            f"{', '.join(why)}."
        ),
        data={
            **entity.model_dump(mode="json", exclude={"schema_name"}),
            "schema": entity.schema_name,
            "score": hit.score,
            "match": hit.verdict == "match",
            "matched_name": hit.name,
            "reasons": list(hit.reasons),
        },
        when=since or seen,
        place=places[0] if places else "",
        confidence=_confidence(hit),
        publisher="OpenSanctions",
    )


def _confidence(hit: Hit) -> Literal["high", "medium", "low"]:
    if hit.verdict == "possible":
        return "low"
    return "high" if any(why.endswith("agrees") for why in hit.reasons) else "medium"


def _day(seen: str) -> str:
    """Return the day of an ISO moment; empty where it is none."""
    try:
        return date.fromisoformat(seen[:10]).isoformat()
    except ValueError:
        return ""


def _country(code: str) -> str:
    known = countries().get(code.upper()) or countries().get(
        code[:2].upper() if code[2:3] == "-" else ""
    )
    return known.name if known else GONE.get(code.upper(), telling.one_line(code.upper(), 20))


def _list(name: str) -> str:
    return name if _CODE.fullmatch(name) else telling.quoted(name, LONGEST_NAME)


def _several(things: Sequence[str] | Iterable[str], word: str = "and") -> str:
    """Tell a few things, and count the others."""
    named = [telling.one_line(thing) for thing in things]
    if len(named) > MOST:
        named = [*named[: MOST - 1], telling.counted(len(named) - MOST + 1, "other")]
    return f" {word} ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
