"""`deepdiver credibility`: the whole table of publishers, or how one is rated, and why.

No list is hidden.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from deepdiver.errors import UsageError

if TYPE_CHECKING:
    from deepdiver.core.settings import Settings

WIDTH = 100
"""Domains are listed in lines of this length."""


def as_json(settings: Settings, asked: str = "") -> dict[str, Any]:
    """Return the table, or how one domain is rated.

    Raises:
        UsageError: If what is asked about is no domain, or a rating names a kind that is not there.
    """
    from deepdiver.tools.credibility import check_ratings, table

    check_ratings(settings.ratings)
    if asked:
        return _rated(settings, asked)
    held = table()
    return {
        "kinds": {
            name: {
                "score": kind.score,
                "says": kind.says,
                "standing": kind.standing,
                "signed": kind.signed,
                "domains": [domain for domain, of in held.domains.items() if of == name],
            }
            for name, kind in held.kinds.items()
        },
        "unknown": {
            name.value: {"score": kind.score, "says": kind.says}
            for name, kind in held.unknown.items()
        },
        "ratings": {domain: rating.model_dump() for domain, rating in settings.ratings.items()},
        "rules": list(_rules()),
    }


def _rated(settings: Settings, asked: str) -> dict[str, Any]:
    """Return how a page of a domain is rated of which all is known.

    Whole, dated, signed, over https.
    """
    from deepdiver.tools.address import host_of
    from deepdiver.tools.credibility import credibility, longest, rating_of, table
    from deepdiver.tools.hit import Hit

    address = asked.strip() if "//" in asked else f"https://{asked.strip()}"
    host = host_of(address)
    if (
        not host
        or any(sign.isspace() for sign in host)
        or not address.lower().startswith(("http://", "https://"))
    ):
        raise UsageError(
            f"{asked[:80]!r} is no domain; write it as example.org or https://example.org/page"
        )
    mine, listed = rating_of(host, settings.ratings), longest(host, table().domains)
    if mine:
        rule = f"{mine[0]} in your [ratings]"
    else:
        rule = (
            f"{listed[0]} is listed as {listed[1]}"
            if listed
            else "not listed, and you have not rated it"
        )
    page = Hit(url=address, author="named", published="2026-01-01", complete=True)
    found = credibility(page, settings=settings)
    return {"host": host, "rule": rule, "score": found.score, "reasons": list(found.reasons)}


def as_text(settings: Settings, asked: str = "") -> str:
    """Return the same for people to read.

    Raises:
        UsageError: As `as_json`.
    """
    told = as_json(settings, asked)
    if asked:
        why = ", ".join(told["reasons"])
        return f"{told['host']}: {told['score']:.2f} ({why})\n  by: {told['rule']}\n" + _listed(
            "  then:", _rules()
        )
    lines = [
        "A source starts from the kind of its publisher. The longest domain that fits wins.",
        "",
    ]
    for name, kind in told["kinds"].items():
        says = [
            kind["says"],
            *([kind["standing"]] if kind["standing"] else []),
            *(["usually signed"] * kind["signed"]),
        ]
        lines.append(f"{kind['score']:.2f}  {name}: {', '.join(says)}")
        domains = textwrap.wrap(
            ", ".join(kind["domains"]), WIDTH, break_long_words=False, break_on_hyphens=False
        )
        lines += [f"      {line}" for line in domains]
    lines += ["", "Where the kind is not known:"]
    lines += [f"{kind['score']:.2f}  {kind['says']}" for kind in told["unknown"].values()]
    lines += ["", _listed("Then:", told["rules"]), ""]
    none = 'You have rated no domain. In deepdiver.toml: [ratings."example.org"]'
    lines.append("Your ratings:" if told["ratings"] else none)
    for domain, rating in told["ratings"].items():
        value = (
            f"{rating['score']:.2f}"
            if rating["score"] is not None
            else rating["kind"] or "as the table has it"
        )
        lines.append(f"  {domain}: {value} ({rating['reason']})")
    return "\n".join(lines)


def _rules() -> Iterator[str]:
    from deepdiver.tools import credibility as rules

    yield (
        f"−{rules.LACKING:.2f} each for: only an extract was read, no date, no author where usual, "
        "no https"
    )
    yield (
        f"−up to {rules.FADING:.0%} by age where the question is about now, half of that after one "
        "half-life"
    )
    yield f"+{rules.NEAR:.2f} for a record made at the time asked about, if that time is over"
    yield (
        f"never below {rules.LOWEST:.2f} nor above {rules.HIGHEST:.2f}; a score of yours is taken "
        "as it is"
    )


def _listed(head: str, lines: Iterable[str]) -> str:
    indent = " " * (len(head) - len(head.lstrip()) + 2)
    return "\n".join([head, *(f"{indent}{line}" for line in lines)])
