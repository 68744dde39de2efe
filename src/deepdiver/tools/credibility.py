"""How far a source is believed: a number with its reasons, by rules that anyone can read.

`credibility.toml` beside this file lists the kinds of publishers; the user's `[ratings]` override
it. Agreement with other sources is not part of this number: belief counts it (`core.belief`), where
every independent origin adds, and the report shows it (`core.corroboration`). In both numbers it
would count twice.
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
from urllib.parse import urlsplit

from deepdiver.core.record import Credibility, SourceKind
from deepdiver.core.settings import Rating, Settings
from deepdiver.errors import SettingsError
from deepdiver.tools.address import host_of
from deepdiver.tools.hit import Hit
from deepdiver.tools.source_age import AgeNeed, days_of

LACKING = 0.05
"""What a source loses for each of these: no date; no author, if its kind usually names one; no
https; only an extract was read."""
NEAR = 0.05
"""What a primary source gains if it was made at the time asked about: a log of the day is better
than a later account."""
NEAR_DAYS = 31
"""The days after the time asked about in which a record still counts as made at that time."""
FADING = 0.4
"""The part of its score that a source can lose by age. An old source is not false, and a newer one
that refutes it counts by itself."""
LOWEST, HIGHEST = 0.05, 0.95
"""The bounds of a score: only a user may call a source worthless or certain."""
NOBODY = frozenset(
    {"anonymous", "anonym", "unknown", "admin", "administrator", "staff", "editor", "guest", "user"}
)
"""Names of authors that name nobody."""
_REVIEW = re.compile(
    r"\b(?:(?:systematic|scoping|literature|narrative|umbrella|critical) reviews?|meta-?analys[ei]s"
    r"|review article"
    r"|reviews? of|: an? (?:\w+ )?review)\b",
    re.IGNORECASE,
)
_RETRACTED = re.compile(r"\W*(?:retracted|withdrawn)(?: \w+)?\s?[:\]]", re.IGNORECASE)
_LETTERS = re.compile(r"[^a-z0-9]")
NEWS = frozenset({"wire", "newspaper", "broadcaster"})
"""Kinds of publishers whose sources are news."""
_REVIEWED = frozenset({"scientific", "preprint"})
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of publisher."""

    score: float
    """The score that a source of this kind starts with."""
    says: str
    """The words for it in the report."""
    standing: str = ""
    """Primary, secondary, or empty if it may be either."""
    signed: bool = False
    """Whether a text of this kind usually names its author."""
    dated: bool = True
    """Whether a text of this kind should have a date. What is kept up to date needs none."""


@dataclass(frozen=True, slots=True)
class Table:
    """The contents of `credibility.toml`."""

    kinds: Mapping[str, Kind]
    """Every kind by name, in the order of the file."""
    domains: Mapping[str, str]
    """The kind of each domain."""
    documentation: Mapping[str, frozenset[str]]
    """The hosts and paths under which sites have their documentation."""
    unknown: Mapping[SourceKind, Kind]
    """The kind of a source whose publisher is not known."""


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
        MappingProxyType({name: frozenset(item) for name, item in held["documentation"].items()}),
        MappingProxyType(
            {SourceKind(name): Kind(**kind) for name, kind in held["unknown"].items()}
        ),
    )


def longest(host: str, rules: Mapping[str, V]) -> tuple[str, V] | None:
    """Return the longest domain of a host that has a rule, and the rule.

    A domain by name goes before one with a `*`.
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
    """Return the domain of a host that the user has rated, and the rating."""
    return longest(
        host, {host_of(f"//{domain}") or domain: rating for domain, rating in ratings.items()}
    )


def kind_named(name: str) -> str:
    """Return the name of a kind as in the table: press_release for `Press release`."""
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
    hit: Hit, need: AgeNeed | None = None, settings: Settings | None = None
) -> Credibility:
    """Return how far a source is believed, by what is known before its content is judged.

    Args:
        hit: The source as found or read.
        need: How old the sources of the question may be; by default any age.
        settings: The user's own ratings; by default there are none.
    """
    web = hit.url.lower().startswith(("http://", "https://"))
    host = host_of(hit.url) if web else ""
    rated = rating_of(host, settings.ratings) if settings and host else None
    if rated and rated[1].score is not None:
        return Credibility(score=rated[1].score, reasons=(rated[1].reason or "rated by you",))
    name, kind, reasons = _kind(hit, host, rated)
    span = days_of(hit.published)
    lacking = _lacking(hit, kind, span)
    score = kind.score
    for _ in lacking:
        score -= LACKING
    reasons += lacking
    if span and need:
        record = kind.standing == "primary" and name not in _REVIEWED
        score, reason = _aged(score, span, need, record)
        reasons += [reason] if reason else []
    return Credibility(score=round(min(max(score, LOWEST), HIGHEST), 2), reasons=tuple(reasons))


def _lacking(hit: Hit, kind: Kind, span: tuple[date, date] | None) -> list[str]:
    """Return what a source lacks, each a reason to believe it less."""
    lacking = {
        "only an extract was read": hit.kind is SourceKind.PAGE
        and not hit.complete
        and not hit.snapshot,
        "no date": kind.dated and span is None and not any(mark.date for mark in hit.marks),
        "no author": kind.signed and hit.author.strip().lower() in {"", *NOBODY},
        "not served over https": hit.url.lower().startswith("http://"),
    }
    return [reason for reason, lacks in lacking.items() if lacks]


def intelligence(believed: Credibility) -> str:
    """Return the type of intelligence of a source by its kind of publisher.

    That is `news`, or the kind itself; empty if it is not known.
    """
    by_words = {kind.says: name for name, kind in table().kinds.items()}
    named = next((by_words[reason] for reason in believed.reasons if reason in by_words), "")
    return "news" if named in NEWS else named


def _kind(hit: Hit, host: str, rated: tuple[str, Rating] | None) -> tuple[str, Kind, list[str]]:
    """Return the kind of a source's publisher by name, the kind, and the first reasons."""
    kinds = table().kinds
    name = kind_named(rated[1].kind) if rated and rated[1].kind else _stated_kind(hit, host)
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


def _stated_kind(hit: Hit, host: str) -> str:
    """Return the kind by the title, the table and the source's own claim.

    The claim is believed only if it makes the source less credible.
    """
    if _RETRACTED.match(hit.title):
        return "retracted"
    listed = longest(host, table().domains) if host else None
    by_host = (
        listed[1] if listed else "documentation" if host and _documents_itself(hit, host) else ""
    )
    named = [name for name in (by_host, kind_named(hit.publisher_kind)) if name in table().kinds]
    return min(named, key=lambda name: table().kinds[name].score, default="")


def _documents_itself(hit: Hit, host: str) -> bool:
    """Whether a page is documentation of what its own site makes, by its address and title."""
    labels = host.split(".")
    held = table().documentation
    first = urlsplit(hit.url).path.strip("/").partition("/")[0].lower()
    if labels[0] not in held["hosts"] and first not in held["paths"]:
        return False
    makers = (label for label in labels[:-1] if label not in held["hosts"])
    maker = _LETTERS.sub("", max(makers, key=len, default=""))
    return len(maker) > 2 and maker in _LETTERS.sub("", hit.title.lower())


def _aged(score: float, span: tuple[date, date], need: AgeNeed, record: bool) -> tuple[float, str]:
    """Return a score changed by the age that the question needs, and the reason for the change."""
    first, last = span
    if need.when == "now" and need.as_of and need.half_life:
        days = (need.as_of - last).days
        if steps := max(days // need.half_life, 0):
            lost = score * FADING * (1.0 - 0.5 ** min(steps, 60))
            return score - lost, f"{_duration(days)} old, and the question is about now"
    if need.when == "then" and record and need.start and need.end:
        near = need.start <= first and (last - need.end).days <= NEAR_DAYS
        return (score + NEAR, "made at the time asked about") if near else (score, "")
    return score, ""


def _duration(days: int) -> str:
    for size, name in ((365, "years"), (30, "months")):
        if days >= 2 * size:
            return f"{days // size} {name}"
    return f"{days} day{'s' if days != 1 else ''}"
