"""Entities that match a query or may match it: as they are journalled, and as rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from deepdiver.tools.osint import phrases
from deepdiver.tools.osint.countries import countries
from deepdiver.tools.osint.feed import MOST_ROWS, IntelligenceType, Row, ServiceAnswer
from deepdiver.tools.osint.sanctions.entity import Entity
from deepdiver.tools.osint.sanctions.query import SanctionsQuery

KEPT = 100
"""Hits that are journalled, those with the highest scores."""
LONGEST_NAME = 200
"""Characters of a name in a sentence."""
MOST = 4
"""How many lists, countries and dates of birth a sentence names; the others are counted."""
FORMER_STATES = {
    "SUHH": "the Soviet Union",
    "CSHH": "Czechoslovakia",
    "YUCS": "Yugoslavia",
    "DDDE": "the GDR",
}
_CODE = re.compile(r"[a-z0-9_]{1,60}")
"""The code of a list within OpenSanctions; a title of a list is put in quotation marks."""

_EXACT_DATE = re.compile(r"(?<=differs: )\d{4}-.*")


class SanctionsHit(BaseModel):
    """An entity, and how well it matches the query."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    entity: Entity
    """The entity."""
    score: Annotated[float, Field(ge=0, le=1)]
    """How alike the two are, to two decimals."""
    verdict: Literal["match", "possible"]
    """What the score amounts to."""
    reasons: tuple[str, ...]
    """The reasons for the score."""
    name: str
    """The name of the entity that matches."""


class SanctionsHits(BaseModel):
    """The result of a look-up, as it is journalled."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    url: str
    """Address of the list, without any key."""
    where: str
    """The list in words: 100,000 entities of targets.simple.csv of 2026-11-14."""
    hits: tuple[SanctionsHit, ...] = ()
    """The hits, KEPT at most."""
    matches: int = 0
    """How many matches there are in all."""
    possible: int = 0
    """How many possible matches there are in all."""
    note: str = ""
    """A caveat for the reader."""


def answer_of(found: SanctionsHits, query: SanctionsQuery) -> ServiceAnswer:
    """Return the hits as an answer; its summary also says if there are none."""
    name = phrases.quoted(query.name, LONGEST_NAME)
    some = phrases.counted(found.possible, "possible match", "possible matches")
    if found.matches:
        summary = (
            f"{phrases.counted(found.matches, 'match', 'matches')} and {some} for {name} in "
            f"{found.where}."
        )
    else:
        summary = (
            f"No match for {name} in {found.where}{f', and {some}' if found.possible else ''}."
        )
    return ServiceAnswer(
        service="OpenSanctions",
        url=found.url,
        title=f"Sanctions and watch lists on {name}{_details(query)}",
        kind=IntelligenceType.SANCTIONS,
        publisher_kind="aggregator",
        rows=tuple(row_of(hit, query) for hit in found.hits[:MOST_ROWS]),
        total=found.matches + found.possible,
        summary=summary,
        note=found.note,
    )


def _details(query: SanctionsQuery) -> str:
    parts = (
        f"born {query.birth_date}" if query.birth_date else "",
        _country(query.country) if query.country else "",
        query.kind,
    )
    return "".join(f", {part}" for part in parts if part)


def row_of(hit: SanctionsHit, query: SanctionsQuery) -> Row:
    """Return a hit as a row.

    The first date in its sentence is the day since when the entity is listed, which is the time of
    the row; if no such day is known, the sentence has no day that could be taken for it.
    """
    entity = hit.entity
    since, seen = _day(entity.first_seen), _day(entity.last_seen)
    when = f" since {since}" if since else f", last seen {seen}" if seen else ""
    places = [_country(code) for code in entity.countries]
    name, asked = (phrases.quoted(name, LONGEST_NAME) for name in (entity.name, query.name))
    lists = _several([_list(one) for one in entity.datasets]) or "a list"
    sure = "a match" if hit.verdict == "match" else "a possible match at most"
    return Row(
        sentence=(
            f"In OpenSanctions{when}: {name} ({_about(entity, places, bool(when))}) is listed by "
            f"{lists}; similarity {hit.score:.2f} to the name asked, {asked}, {sure}: "
            f"{_reasons(hit, bool(when))}."
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


def _about(entity: Entity, places: Sequence[str], dated: bool) -> str:
    """Return id, kind, birth and countries; the birth is only a year if the row has no day."""
    years = tuple(dict.fromkeys(day[:4] for day in entity.birth_date))
    born = entity.birth_date if dated else years
    parts = [phrases.one_line(entity.id, LONGEST_NAME), phrases.one_line(entity.kind, LONGEST_NAME)]
    if born:
        parts.append(f"born {_several(born, 'or')}")
    if places:
        parts.append(_several(places))
    return ", ".join(parts)


def _reasons(hit: SanctionsHit, dated: bool) -> str:
    """Return the reasons; a birth date in them is only a year if the row has no day."""
    alias = f"alias {phrases.quoted(hit.name, LONGEST_NAME)}"
    reasons = [alias if reason == "alias" else reason for reason in hit.reasons]
    if not dated:
        reasons = [_EXACT_DATE.sub("the same year", reason) for reason in reasons]
    return ", ".join(reasons)


def _confidence(hit: SanctionsHit) -> Literal["high", "medium", "low"]:
    if hit.verdict == "possible":
        return "low"
    return "high" if any(why.endswith("agrees") for why in hit.reasons) else "medium"


def _day(seen: str) -> str:
    """Return the day of an ISO moment; empty if it is not one."""
    try:
        return date.fromisoformat(seen[:10]).isoformat()
    except ValueError:
        return ""


def _country(code: str) -> str:
    """Return the name of a country; of a part such as `us-ca`, that of the country."""
    known = countries().get((code[:2] if code[2:3] == "-" else code).upper())
    if known:
        return known.name
    return FORMER_STATES.get(code.upper(), phrases.one_line(code.upper(), 20))


def _list(name: str) -> str:
    return name if _CODE.fullmatch(name) else phrases.quoted(name, LONGEST_NAME)


def _several(things: Sequence[str], word: str = "and") -> str:
    """Name a few things, and count the others."""
    named = [phrases.one_line(thing) for thing in things]
    if len(named) > MOST:
        named = [*named[: MOST - 1], phrases.counted(len(named) - MOST + 1, "other")]
    return f" {word} ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
