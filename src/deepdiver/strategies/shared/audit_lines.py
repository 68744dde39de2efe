"""The audit of a draft: code, the reasoner and the reader check each line; faults are mended once.

What still fails is cut, or marked if its quotes carry a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deepdiver.core.record import Sentence, SentenceKind, Source
from deepdiver.core.text import terms
from deepdiver.report.audit import Context, find_faults
from deepdiver.strategies.shared.base import Deps, attempt
from deepdiver.strategies.shared.derive import Derivations
from deepdiver.strategies.shared.drafting import (
    Drafter,
    Line,
    Problem,
    cited_quotes,
    credits_of,
    findings_of,
    needs_support,
    quotes_of,
)
from deepdiver.strategies.shared.second_opinion import with_opinions
from deepdiver.tasks import CheckSupport, CitedQuote, Claim, Faulty, RepairSentences

PARTLY = "only partly carried by its quotes"


async def audit_lines(deps: Deps, question: str, lines: Sequence[Line], drafter: Drafter) -> None:
    """Audit lines, have the faulty ones repaired once, and cut or mark those that still fail.

    The reader then gives its opinion on the others.
    """
    _audit(deps, question, lines, drafter.derived)
    await _check_support(deps, question, lines, drafter.derived)
    await _repair(deps, question, lines, drafter)
    _cut_empty_frames(lines)
    kept = [line for line in lines if not line.cut]
    for line, sentence in zip(
        kept, await with_opinions(deps, [line.sentence for line in kept]), strict=True
    ):
        line.sentence = sentence


def _audit(deps: Deps, question: str, lines: Sequence[Line], derived: Derivations) -> None:
    """Let code look for faults."""
    for line in lines:
        if not line.cut and not line.computed and line.sentence.text:
            found = _faults(deps, question, line, derived)
            if found and line.borrowed and _borrows(line):
                found = _faults(deps, question, line, derived)
            line.problem = Problem("; ".join(found)) if found else None


def _borrows(line: Line) -> bool:
    """Let a line without citations take those beside it; return whether it did."""
    if line.sentence.findings:
        return False
    kind = line.sentence.kind
    said = SentenceKind.FACT if kind is SentenceKind.FRAME else kind
    line.sentence = line.sentence.model_copy(update={"kind": said, "findings": line.borrowed})
    return True


def _faults(deps: Deps, question: str, line: Line, derived: Derivations) -> list[str]:
    sentence = line.sentence
    if line.lost:
        return [f"it cites {', '.join(line.lost[:3])}, which leads nowhere"]
    context = Context(
        credits="\n".join(credits_of(deps, sentence)),
        nearby=line.nearby,
        question=question,
        figures=derived.figures_of(sentence.derived),
        values=derived.values_of(sentence.derived),
        read=derived.read,
    )
    found = find_faults(
        sentence, findings_of(deps, sentence), deps.store.texts.get, deps.as_of, context
    )
    return found or _present(deps, sentence)


def _present(deps: Deps, sentence: Sentence) -> list[str]:
    """Return the fault of an absence whose words a source has after all."""
    wanted = [(term, terms(term)) for term in sentence.terms]
    for source in deps.ledger.of(Source).values():
        said = terms(deps.store.texts.get(source.snapshot))
        for term, parts in wanted:
            if parts and _runs(parts, said):
                return [f"{source.title} has “{term}”"]
    return []


def _runs(parts: Sequence[str], said: Sequence[str]) -> bool:
    """Whether some words stand in a text one behind the other."""
    first = parts[0]
    return any(
        word == first and list(said[at : at + len(parts)]) == list(parts)
        for at, word in enumerate(said)
    )


async def _check_support(
    deps: Deps, question: str, lines: Sequence[Line], derived: Derivations
) -> None:
    """Ask the reasoner whether quotes support the sentences in which code has found no fault."""
    asked = {
        f"S{number}": line
        for number, line in enumerate(lines, 1)
        if not line.cut and not line.problem and needs_support(line.sentence)
    }
    labels: dict[tuple[str, str], str] = {}
    claims = []
    for label, line in asked.items():
        cited = cited_quotes(deps, line.sentence)
        for quote in cited:
            labels.setdefault(quote, f"Q{len(labels) + 1}")
        claims.append(
            Claim(
                id=label,
                kind="judgement" if line.sentence.kind is SentenceKind.JUDGEMENT else "fact",
                text=line.sentence.text,
                before=line.before,
                cites=tuple(labels[quote] for quote in cited),
                quotes=tuple(text for text, _ in cited),
                calculations=tuple(derived.told(line.sentence.derived)),
                absent=line.sentence.terms,
            )
        )
    shown = tuple(
        CitedQuote(id=label, text=text, credit=credit) for (text, credit), label in labels.items()
    )
    task = CheckSupport(quotes=shown, claims=tuple(claims), question=question, as_of=deps.as_of)
    answer = await attempt(deps, task) if claims else None
    for check in answer.checks if answer else ():
        checked = asked.get(check.id)
        if checked is not None and check.support != "full":
            checked.problem = Problem(check.reason, check.support)


async def _repair(deps: Deps, question: str, lines: Sequence[Line], drafter: Drafter) -> None:
    """Have the faulty lines repaired once, then keep, mark or cut each of them."""
    faulty = {
        f"S{number}": (number, line, line.problem)
        for number, line in enumerate(lines)
        if line.problem and not line.cut
    }
    if not faulty:
        return
    new = await _repaired_texts(deps, question, lines, faulty)
    for label, (_, line, problem) in faulty.items():
        line.problem = None
        if text := new.get(label, line.drafted):
            drafter.rewritten(line, text)
        else:
            line.cut_out(deps, problem.for_reader())
    again = [line for _, line, _ in faulty.values()]
    _audit(deps, question, again, drafter.derived)
    await _check_support(deps, question, again, drafter.derived)
    for _, line, before in faulty.values():
        if not line.cut:
            _settle(deps, line, before)


async def _repaired_texts(
    deps: Deps,
    question: str,
    lines: Sequence[Line],
    faulty: Mapping[str, tuple[int, Line, Problem]],
) -> dict[str, str]:
    """Return what the writer makes of faulty lines, by label; empty: it withdraws the sentence."""
    shown = tuple(
        Faulty(
            id=label,
            before=_beside(lines, number, -1),
            text=line.marked or line.sentence.text,
            after=_beside(lines, number, 1),
            problem=problem.for_writer(),
            quotes=quotes_of(deps, line.sentence),
            credits=tuple(credits_of(deps, line.sentence)),
        )
        for label, (number, line, problem) in faulty.items()
    )
    answer = await attempt(deps, RepairSentences(question=question, sentences=shown))
    return {item.id: " ".join(item.text.split()) for item in answer.repairs} if answer else {}


def _beside(lines: Sequence[Line], number: int, step: int) -> str:
    """Return the sentence beside a line, in the same section."""
    at = number + step
    if not 0 <= at < len(lines) or lines[at].heading != lines[number].heading:
        return ""
    return lines[at].sentence.text


def _settle(deps: Deps, line: Line, before: Problem) -> None:
    """Keep, mark or cut a sentence, given its problem before the repair and now."""
    rewritten = line.sentence.text != line.drafted
    problem = line.problem or (None if rewritten else before)
    if problem is None:
        return
    if problem.support == "partial" and line.sentence.kind is not SentenceKind.JUDGEMENT:
        # What its quotes say in part is the writer's inference for the rest, and is shown as such.
        line.sentence = line.sentence.model_copy(update={"kind": SentenceKind.JUDGEMENT})
    elif rewritten:
        then = f"rewritten as “{line.sentence.text}”: {problem.for_reader()}"
        line.cut_out(deps, f"{before.for_reader()}; {then}")
    else:
        line.cut_out(deps, problem.for_reader())


def _cut_empty_frames(lines: Sequence[Line]) -> None:
    """Cut frames that introduce something, such as a list, of which nothing is left."""
    section, carried = None, False
    for line in reversed(lines):
        if line.heading != section:
            section, carried = line.heading, False
        if line.sentence.kind is not SentenceKind.FRAME:
            carried = carried or not line.cut
        elif line.sentence.text.endswith(":"):
            line.cut, carried = line.cut or not carried, False
