"""How far a source is believed: a number with its reasons, by rules that anyone can read.

Who is of what kind stands in `credibility.toml` beside this file; what the user says in `[ratings]`
wins over all that. What other sources say is no part of this number: agreement is counted in belief
(`core.belief`), where every independent origin adds, and told in the report (`core.corroboration`).
In both numbers it would count twice.
"""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from types import MappingProxyType
from typing import TypeVar

from deepdiver.core.record import Credibility, SourceKind
from deepdiver.core.settings import Rating, Settings
from deepdiver.errors import SettingsError
from deepdiver.tools.address import host_of
from deepdiver.tools.hit import Hit
from deepdiver.tools.need import Need, days_of, need_of

__all__ = ["Need", "check_ratings", "credibility", "need_of"]

LACKING = 0.05
"""What a source loses for each: no date, no author where its kind is usually signed, no https, only
an extract read."""
NEAR = 0.05
"""What a primary source gains that was made at the time asked about: a log of the day goes before a
later account."""
NEAR_DAYS = 31
"""How soon after the time asked about a record is still one made at the time."""
FADING = 0.4
"""The part of its score that a source can lose by age: old is not false, and what a newer one
refutes is seen there."""
LOWEST, HIGHEST = 0.05, 0.95
"""The rules call nothing worthless and nothing certain; only a user may."""
NOBODY = frozenset(
    {"anonymous", "anonym", "unknown", "admin", "administrator", "staff", "editor", "guest", "user"}
)
"""Authors' names that name nobody."""
_REVIEW = re.compile(
    r"\b(?:(?:systematic|scoping|literature|narrative|umbrella|critical) reviews?|meta-?analys[ei]s"
    r"|review article"
    r"|reviews? of|: an? (?:\w+ )?review)\b",
    re.IGNORECASE,
)
_RETRACTED = re.compile(r"\W*(?:retracted|withdrawn)(?: \w+)?\s?[:\]]", re.IGNORECASE)
NEWS = frozenset({"wire", "newspaper", "broadcaster"})
"""Kinds of publisher whose sources are of the type news."""
_REVIEWED = frozenset({"scientific", "preprint"})
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of publisher."""

    score: float
    """Where a source of this kind starts."""
    says: str
    """What the report prints."""
    standing: str = ""
    """Primary, secondary, or empty where it may be either."""
    signed: bool = False
    """Whether a text of this kind usually names its author."""


@dataclass(frozen=True, slots=True)
class Table:
    """What `credibility.toml` holds."""

    kinds: Mapping[str, Kind]
    """Every kind by name, in the order of the file."""
    domains: Mapping[str, str]
    """The kind of each domain."""
    unknown: Mapping[SourceKind, Kind]
    """Where a source starts whose publisher's kind is not known."""


@functools.cache
def table() -> Table:
    """Return the table, read once."""
    held = tomllib.loads(
        (files("deepdiver.tools") / "credibility.toml").read_text(encoding="utf-8")
    )
    domains = {
        domain: name for name, kind in held["kinds"].items() for domain in kind.pop("domains")
    }
    return Table(
        MappingProxyType({name: Kind(**kind) for name, kind in held["kinds"].items()}),
        MappingProxyType(domains),
        MappingProxyType(
            {SourceKind(name): Kind(**kind) for name, kind in held["unknown"].items()}
        ),
    )


def longest(host: str, rules: Mapping[str, V]) -> tuple[str, V] | None:
    """Return the rule of the longest domain that a host is or stands below.

    A name goes before a `*`.
    """
    labels = host.split(".")
    for start in range(len(labels)):
        domain = ".".join(labels[start:])
        country = f"{domain[:-2]}*" if len(labels[-1]) == 2 and start < len(labels) - 1 else ""
        for rule in (domain, country):
            if rule in rules:
                return rule, rules[rule]
    return None


def rating_of(host: str, ratings: Mapping[str, Rating]) -> tuple[str, Rating] | None:
    """Return what the user says of a host, and under which domain.

    Domains are compared as hosts are written.
    """
    return longest(
        host, {host_of(f"//{domain}") or domain: rating for domain, rating in ratings.items()}
    )


def kind_named(name: str) -> str:
    """Return a kind's name as the table has it: `Press release` is press_release."""
    return re.sub(r"[\s\-]+", "_", name.strip().lower())


def check_ratings(ratings: Mapping[str, Rating]) -> None:
    """Refuse a rating whose kind is not in the table.

    Raises:
        SettingsError: Names the domain and the nearest kind.
    """
    known = table().kinds
    for domain, rating in ratings.items():
        if rating.kind and kind_named(rating.kind) not in known:
            close = difflib.get_close_matches(kind_named(rating.kind), known, 1, 0.6)
            hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
            raise SettingsError(
                f"ratings: {domain} has the unknown kind {rating.kind[:80]!r}; {hint}"
            )


def credibility(
    hit: Hit, need: Need | None = None, settings: Settings | None = None
) -> Credibility:
    """Weigh a source by what is known of it before its content is judged.

    Args:
        hit: The source as found or read.
        need: What the question needs of its age (`need_of`); by default nothing.
        settings: For the user's own ratings; by default there are none.
    """
    web = hit.url.lower().startswith(("http://", "https://"))
    host = host_of(hit.url) if web else ""
    rated = rating_of(host, settings.ratings) if settings and host else None
    if rated and rated[1].score is not None:
        return Credibility(score=rated[1].score, reasons=(rated[1].reason or "rated by you",))
    name, kind, reasons = _kind(hit, host, rated)
    score = kind.score
    if hit.kind is SourceKind.PAGE and not hit.complete and not hit.snapshot:
        score -= LACKING
        reasons.append("only an extract was read")
    span = days_of(hit.published)
    if span is None:
        score -= LACKING
        reasons.append("no date")
    if kind.signed and hit.author.strip().lower() in {"", *NOBODY}:
        score -= LACKING
        reasons.append("no author")
    if hit.url.lower().startswith("http://"):
        score -= LACKING
        reasons.append("not served over https")
    if span and need:
        score, reason = _aged(
            score, span, need, kind.standing == "primary" and name not in _REVIEWED
        )
        reasons += [reason] if reason else []
    return Credibility(score=round(min(max(score, LOWEST), HIGHEST), 2), reasons=tuple(reasons))


def intelligence(believed: Credibility) -> str:
    """Return what type of intelligence a source is by its kind of publisher.

    News, or that kind; empty: not known.
    """
    by_words = {kind.says: name for name, kind in table().kinds.items()}
    named = next((by_words[reason] for reason in believed.reasons if reason in by_words), "")
    return "news" if named in NEWS else named


def _kind(hit: Hit, host: str, rated: tuple[str, Rating] | None) -> tuple[str, Kind, list[str]]:
    """Return of what kind a source's publisher is, and the first reasons."""
    kinds = table().kinds
    name = kind_named(rated[1].kind) if rated and rated[1].kind else _told_kind(hit, host)
    kind = kinds.get(name) or table().unknown[hit.kind]
    reasons = [kind.says]
    if name in _REVIEWED and _REVIEW.search(hit.title):
        reasons.append("secondary: a review of what others found")
    elif kind.standing:
        reasons.append(kind.standing)
    if rated:
        reasons.append(rated[1].reason or "rated by you")
        if rated[1].kind and name not in kinds:
            reasons.append(
                f"your rating names the kind {rated[1].kind[:40]!r}, which is not in the table"
            )
    return name, kind, reasons


def _told_kind(hit: Hit, host: str) -> str:
    """Return the kind by title, table and the source's own word, which is believed against itself only."""
    if _RETRACTED.match(hit.title):
        return "retracted"
    listed = longest(host, table().domains) if host else None
    named = [
        name
        for name in (listed[1] if listed else "", kind_named(hit.publisher_kind))
        if name in table().kinds
    ]
    return min(named, key=lambda name: table().kinds[name].score, default="")


def _aged(score: float, span: tuple[date, date], need: Need, record: bool) -> tuple[float, str]:
    """Return a score after its age is held against what the question needs, and the reason if that changed it."""
    first, last = span
    if need.when == "now" and need.as_of and need.half_life:
        days = (need.as_of - last).days
        if steps := max(days // need.half_life, 0):
            lost = score * FADING * (1.0 - 0.5 ** min(steps, 60))
            return score - lost, f"{_told(days)} old, and the question is about now"
    if need.when == "then" and record and need.start and need.end:
        near = need.start <= first and (last - need.end).days <= NEAR_DAYS
        return (score + NEAR, "made at the time asked about") if near else (score, "")
    return score, ""


def _told(days: int) -> str:
    for size, name in ((365, "years"), (30, "months")):
        if days >= 2 * size:
            return f"{days // size} {name}"
    return f"{days} day{'s' if days != 1 else ''}"
