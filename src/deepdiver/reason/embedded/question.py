"""Divides a question into clauses: what is asked, about what, and what must be answered first.

"How old are the children of the parents who run Acme Ltd?" becomes three clauses. Each has one open
place, which the answer to the one before it fills:

    Which parents run Acme Ltd?
    → Who are the children of the parents?
    → How old are the children?
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from deepdiver.core.text import sentences
from deepdiver.reason.embedded.clause import (
    QUOTED,
    Clause,
    clause_of,
    plural,
    verb_form,
    with_titles,
)
from deepdiver.reason.embedded.names import Word, tokens
from deepdiver.reason.embedded.word_lists import (
    ASKING,
    AUXILIARIES,
    DETERMINERS,
    PREPOSITIONS,
    ROLES,
)

LONGEST_QUESTION = 2_000
"""Characters of a question that are analysed: a longer text is material, with the question at one
end of it."""
MOST_CLAUSES = 4
"""Clauses of one chain; deeper nesting is asked as it stands."""

Chain = tuple[Clause, ...]
"""Clauses, each of which needs the answer to the one before."""


@dataclass(frozen=True, slots=True)
class QuestionAnalysis:
    """The analysis of a question."""

    question: str
    """The question, shortened if it is endless."""
    chains: tuple[Chain, ...]
    """One chain for each thing that is asked, in order."""
    whole: Clause
    """The question as one clause, for everything that the chains miss."""

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """All clauses, each once, in the order in which they should be researched."""
        return tuple({clause.text: clause for chain in self.chains for clause in chain}.values())


def chains_besides(analysis: QuestionAnalysis, problems: Iterable[str]) -> list[Chain]:
    """Return the chains of the problems that are not among the question's own clauses."""
    clauses = {clause.text for clause in analysis.clauses}
    others = (problem for problem in problems if problem not in clauses)
    return [chain for problem in others for chain in analyse_question(problem).chains]


def analyse_question(question: str) -> QuestionAnalysis:
    """Divide a question into clauses."""
    return _analysed(_shortened(question))


@functools.lru_cache(maxsize=256)
def _analysed(question: str) -> QuestionAnalysis:
    text, titles = _without_titles(question)
    parts = _parts(text)
    chains: list[Chain] = []
    for part in parts:
        chain = _chain(part, titles)
        if chains and _elliptic(chain):
            chain = _completed(chain, chains[0])
        chains.append(chain)
    whole = clause_of(text, titles, as_account=True)
    return QuestionAnalysis(with_titles(text, titles), tuple(chains), whole)


def _shortened(question: str) -> str:
    text = question.strip()
    if len(text) > LONGEST_QUESTION:
        half = LONGEST_QUESTION // 2
        text = text[:half] if "?" in text[:half] or "?" not in text[-half:] else text[-half:]
    return " ".join(text.split())


# -- titles between quotation marks are one name, whatever words they hold

_TITLE = re.compile(r"[\"“„]([^\"“”„]{8,200})[\"”]")


def _without_titles(text: str) -> tuple[str, tuple[str, ...]]:
    titles = tuple(match[1] for match in _TITLE.finditer(text))
    numbered = iter(range(len(titles)))
    return _TITLE.sub(lambda _: f"{QUOTED}{next(numbered)}", text), titles


# -- parts: what is asked, one thing at a time

_JOINT = re.compile(
    r",? and (?=(?:(?:on|in|at|by|for|from|to|of|with) )?(?:who|whom|whose|what|which|when|where"
    r"|why|how)\b)",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"^(?:please |can you |could you |i want to know |i would like to know |tell me |find out "
    r"|find |list |give me "
    r"|in particular:? )+",
    re.IGNORECASE,
)


def _parts(text: str) -> list[str]:
    spans = [span.of(text) for span in sentences(text)] or [text]
    asking = [s for s in spans if s.endswith("?")] or [s for s in spans if _asks(s)] or spans
    parts = [part for sentence in asking[:4] for part in _JOINT.split(_LEAD_IN.sub("", sentence))]
    return [part.strip(" ?.!,;") for part in parts if part.strip(" ?.!,;")][:4] or [text]


def _asks(sentence: str) -> bool:
    first = tokens(sentence[:40])[:2]
    return any(word.text in ASKING for word in first)


def _elliptic(chain: Chain) -> bool:
    """Return whether a part relies on the part before.

    "and when", "and on what date was the last one removed".
    """
    clause = chain[0]
    return (
        len(chain) == 1
        and not clause.names
        and not clause.titles
        and len(clause.keys) + len(clause.context) <= 3
    )


def _completed(chain: Chain, first: Chain) -> Chain:
    """Give a part the subject of the first part as context, and the clauses before it."""
    clause, before = chain[0], first[-1]
    matter = [t for t in (*before.keys, *before.context, before.noun) if t and t not in clause.keys]
    text = clause.text
    if not clause.keys:
        text = f"{text.rstrip('?')}? {before.text}"
    made = replace(
        clause,
        text=text,
        keys=clause.keys or before.keys,
        context=tuple(
            dict.fromkeys(
                (*clause.context, *(t for t in matter if t not in (clause.keys or before.keys)))
            )
        ),
        names=before.names,
        titles=before.titles,
        days=clause.days or before.days,
        hole=before.hole,
        moment=before.moment,
    )
    return (*first[:-1], made)


# -- chains: which question comes first

_VERBS = r"\w+ed|held|run|made|built|written|led|won|sold|bought|paid|drawn"
_PARTICIPLE = re.compile(
    rf"the (?P<noun>(?:[\w’'\-]+ ){{0,2}}[\w’'\-]+) (?P<verb>{_VERBS}) by (?P<rest>.+)$",
    re.IGNORECASE,
)
_ROLE = re.compile(
    rf"the (?P<noun>(?:\w+ )?(?:{'|'.join(sorted(ROLES))}))(?: of the board)? (?:of|for) "
    r"(?P<rest>.+)$",
    re.IGNORECASE,
)
_ASKED_ROLE = re.compile(r"^(?:who|which|what)\b.{0,40}\b(?:is|are|was|were) $", re.IGNORECASE)
_THE = re.compile(r"\bthe ", re.IGNORECASE)


def _chain(part: str, titles: Sequence[str]) -> Chain:
    return tuple(clause_of(text, titles, hole=noun) for text, noun in _unfold(part, MOST_CLAUSES))


def _unfold(text: str, room: int) -> list[tuple[str, tuple[str, ...]]]:
    """Return (question, roots of the noun that the earlier answer fills), the innermost first."""
    if room > 1:
        for find in (_relative, _participle, _role):
            if split := find(text):
                inner, outer, noun = split
                first = _unfold(inner, room - 1)
                rest = _unfold(outer, room - len(first))
                return [*first, (rest[0][0], tuple(word.root for word in tokens(noun))), *rest[1:]]
    return [(text, ())]


def _relative(text: str) -> tuple[str, str, str] | None:
    """Split at the last relative clause.

    "the firm that built it" becomes "Which firm built it?" and "the firm".
    """
    listed = tokens(text)
    for at in range(len(listed) - 2, 1, -1):
        start = _start_of_antecedent(listed, at)
        if start is None or _asked_in(listed[at + 1 :]):
            continue
        noun = text[listed[start].start : listed[at - 1].end]
        inner = f"Which {noun} {text[listed[at + 1].start :]}"
        return inner, f"{text[: listed[start].start]}{noun}", noun
    return None


def _start_of_antecedent(listed: Sequence[Word], at: int) -> int | None:
    """Return where the noun before a relative pronoun begins; None if this is not one."""
    if listed[at].text not in {"that", "who", "which"}:
        return None
    if listed[at - 1].text in PREPOSITIONS | AUXILIARIES:
        return None
    back = range(at - 1, max(-1, at - 6), -1)
    article = next((i for i in back if listed[i].text in DETERMINERS), at - 1)
    if article == at - 1:  # without an article, only a plural is a noun phrase
        if not plural(listed[at - 1].text):
            return None
        article = at - 2
    asks = any(word.text in AUXILIARIES | ASKING for word in listed[article + 1 : at])
    return None if article < 0 or asks else article + 1


def _asked_in(listed: Sequence[Word]) -> bool:
    """Return whether these words contain the question itself.

    "the team that was founded in what year" has nothing to ask first.
    """
    return any(
        word.text in ASKING - {"that", "which", "who", "when", "where"} for word in listed
    ) or any(one.text in PREPOSITIONS and other.text in ASKING for one, other in pairwise(listed))


def _participle(text: str) -> tuple[str, str, str] | None:
    """Split at a participle.

    "the patent held by the firm" becomes "Which patent is held by the firm?" and "the patent".
    """
    for the in reversed(list(_THE.finditer(text))):
        match = _PARTICIPLE.match(text, the.start())
        if match is None or _asked_in(tokens(f"by {match['rest']}")):
            continue
        if not set(match["noun"].lower().split()) & (AUXILIARIES | PREPOSITIONS | DETERMINERS):
            noun = match["noun"]
            verb = "are" if plural(noun.split()[-1]) else "is"
            inner = f"Which {noun} {verb} {match['verb']} by {match['rest']}"
            return inner, f"{text[: match.start()]}the {noun}", noun
    return None


def _role(text: str) -> tuple[str, str, str] | None:
    """Split at a role: "the children of X" becomes "Who are the children of X?" and "the children".

    Not if the role is what the question asks for. A yes-or-no question is not split: nothing shows
    where its subject ends and its predicate begins.
    """
    if text.split(" ", 1)[0].lower() in AUXILIARIES:
        return None
    for the in reversed(list(_THE.finditer(text))):
        match = _ROLE.match(text, the.start())
        if (
            match is None
            or _ASKED_ROLE.match(text[: match.start()])
            or _asked_in(tokens(f"of {match['rest']}"))
        ):
            continue
        noun = match["noun"]
        end = _end_of_owner(text, match.start("rest"))
        verb = "are" if plural(noun.split()[-1].lower()) else "is"
        inner = f"Who {verb} {text[match.start() : end].strip()}"
        return inner, f"{text[: match.start()]}the {noun}{text[end:]}", noun
    return None


def _end_of_owner(text: str, start: int) -> int:
    """Return where "Acme Ltd" ends in "Acme Ltd born": after the name, or before a closing verb."""
    listed = tokens(text[start:])
    first = next((i for i, word in enumerate(listed[:5]) if word.raw[0].isupper()), None)
    if first is None:
        end = len(listed) - 1 if len(listed) > 1 and verb_form(listed[-1].text) else len(listed)
        return start + listed[end - 1].end if end else len(text)
    end = first
    while end < len(listed) and (listed[end].raw[0].isupper() or _links_names(listed, end)):
        end += 1
    return start + listed[end - 1].end


def _links_names(listed: Sequence[Word], i: int) -> bool:
    """Return whether a small word is inside a name: with in "Woman with Lamp"."""
    small = listed[i].text in PREPOSITIONS | DETERMINERS | {"and"}
    return small and any(word.raw[0].isupper() for word in listed[i + 1 : i + 2])
