"""`deepdiver credibility`: print how publishers are rated, or how one domain is, and why."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument
from deepdiver.cli.output import print_json, print_out
from deepdiver.cli.settings import settings_of
from deepdiver.errors import UsageError

if TYPE_CHECKING:
    from deepdiver.core.settings import Settings

WIDTH = 100
"""Columns to which lists of domains are wrapped."""


def credibility(args: argparse.Namespace) -> int:
    """Print the whole table, or the rating of one domain."""
    settings = settings_of(args)
    if args.domain:
        rated = rating_of_domain(settings, args.domain)
        text = rating_text
    else:
        rated = rating_table(settings)
        text = table_text
    if args.json:
        print_json(rated)
    else:
        print_out(text(rated))
    return 0


def rating_table(settings: Settings) -> dict[str, Any]:
    """Return the whole table of publishers, the rules, and the ratings of the user.

    Raises:
        UsageError: If a rating of the user names a kind of publisher that does not exist.
    """
    from deepdiver.tools.credibility import check_ratings, table

    check_ratings(settings.ratings)
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


def rating_of_domain(settings: Settings, asked: str) -> dict[str, Any]:
    """Return how a page of a domain is rated if it is complete, dated, signed and over https.

    Raises:
        UsageError: If it is not a domain, or a rating of the user names a kind of publisher that
            does not exist.
    """
    from deepdiver.tools.address import host_of
    from deepdiver.tools.credibility import check_ratings, credibility, longest, rating_of, table
    from deepdiver.tools.hit import Hit

    check_ratings(settings.ratings)
    address = asked.strip() if "//" in asked else f"https://{asked.strip()}"
    host = host_of(address)
    is_web = address.lower().startswith(("http://", "https://"))
    if not host or any(sign.isspace() for sign in host) or not is_web:
        raise UsageError(
            f"{asked[:80]!r} is not a domain; write example.org or https://example.org/page"
        )
    mine, listed = rating_of(host, settings.ratings), longest(host, table().domains)
    if mine:
        rule = f"{mine[0]} in your [ratings]"
    elif listed:
        rule = f"{listed[0]} is listed as {listed[1]}"
    else:
        rule = "not listed, and you have not rated it"
    page = Hit(url=address, author="named", published="2026-01-01", complete=True)
    found = credibility(page, settings=settings)
    return {"host": host, "rule": rule, "score": found.score, "reasons": list(found.reasons)}


def rating_text(rated: dict[str, Any]) -> str:
    """Return the rating of a domain as text."""
    why = ", ".join(rated["reasons"])
    head = f"{rated['host']}: {rated['score']:.2f} ({why})\n  by: {rated['rule']}\n"
    return head + _listed("  then:", _rules())


def table_text(rated: dict[str, Any]) -> str:
    """Return the whole table as text."""
    lines = [
        "A source starts with the score of its publisher's kind; the longest matching domain wins.",
        "",
    ]
    for name, kind in rated["kinds"].items():
        says = [kind["says"], kind["standing"], "usually signed" if kind["signed"] else ""]
        lines.append(f"{kind['score']:.2f}  {name}: {', '.join(filter(None, says))}")
        domains = textwrap.wrap(
            ", ".join(kind["domains"]), WIDTH, break_long_words=False, break_on_hyphens=False
        )
        lines += [f"      {line}" for line in domains]
    lines += ["", "If the kind of publisher is not known:"]
    lines += [f"{kind['score']:.2f}  {kind['says']}" for kind in rated["unknown"].values()]
    lines += ["", _listed("Then:", rated["rules"]), ""]
    none = 'You have not rated any domain. In deepdiver.toml: [ratings."example.org"]'
    lines.append("Your ratings:" if rated["ratings"] else none)
    for domain, rating in rated["ratings"].items():
        lines.append(f"  {domain}: {_rating_value(rating)} ({rating['reason']})")
    return "\n".join(lines)


def _rating_value(rating: dict[str, Any]) -> str:
    if rating["score"] is not None:
        return f"{rating['score']:.2f}"
    return str(rating["kind"] or "as in the table")


def _rules() -> Iterator[str]:
    from deepdiver.tools import credibility as rules

    yield (
        f"−{rules.LACKING:.2f} each for: only an extract was read, no date, no author where usual, "
        "no https"
    )
    yield (
        f"−up to {rules.FADING:.0%} for age if the question is about the present; half of that "
        "after one half-life"
    )
    yield f"+{rules.NEAR:.2f} for a record made at the time in question, if that time has passed"
    yield (
        f"never below {rules.LOWEST:.2f} or above {rules.HIGHEST:.2f}; your own score is used as "
        "it is"
    )


def _listed(head: str, lines: Iterable[str]) -> str:
    indent = " " * (len(head) - len(head.lstrip()) + 2)
    return "\n".join([head, *(f"{indent}{line}" for line in lines)])


CREDIBILITY = Command(
    "credibility",
    "show how publishers are rated, and why",
    credibility,
    takes="[DOMAIN]",
    arguments=(
        argument(
            "domain",
            metavar="DOMAIN",
            nargs="?",
            default="",
            help="a domain or the address of a page; without it, the whole table",
        ),
    ),
    options=(options.JSON, options.HOME),
)
