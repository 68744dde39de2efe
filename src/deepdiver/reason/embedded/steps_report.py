"""Writes the report on a question with steps: the answer, and the sentences that lead to it.

Nothing is rephrased. A sentence that is not from a source is a fixed phrase (kind frame) or a
computation that code repeats (kind calculation).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded.chain import Candidate, Step, follow_chain
from deepdiver.reason.embedded.clause import Kind
from deepdiver.reason.embedded.clause_values import same_value
from deepdiver.reason.embedded.draft import Brief, Draft, DraftSection, DraftSentence
from deepdiver.reason.embedded.hypothesise import (
    age_on,
    age_sentence,
    longest_form,
    read_finding,
    same_subject,
)
from deepdiver.reason.embedded.names import same_name, tokens
from deepdiver.reason.embedded.question import analyse_question, chains_besides
from deepdiver.reason.embedded.reading import Reading, mention, read_sentence
from deepdiver.reason.embedded.stance import likeness
from deepdiver.reason.embedded.standing import standing_of
from deepdiver.reason.embedded.steps import by_sentence
from deepdiver.reason.embedded.verify import support_of
from deepdiver.tasks import HypothesisStanding, ShownFinding

LEAD = 12
"""The most sentences of the answer."""
WITNESSES = 3
"""The most findings that a sentence cites: its own, and others that support the same."""
PER_SECTION = 4
"""Sentences of a section for one sub-problem."""
OPEN_QUESTION = 0.3
"""An undecided version is part of the answer if belief in it is at least this share of the best
one's; otherwise it is only in the body."""
LEAST_TOLD = 0.1
"""A version with less belief than this is not an answer, even if it is the likeliest."""
SAME = 0.85
"""Of sentences with at least this likeness, only one is written."""

UNDECIDED = "The evidence does not decide this. The sources say:"
DISAGREE = "The sources do not agree. The evidence does not rule out this version:"
ALSO = "The evidence does not decide whether this holds as well:"
FOR = "The evidence speaks for it."
AGAINST = "The evidence speaks against it."
CLAIMED = "It was claimed:"
REFUTED = "Against this stands:"
VERSIONS = "The versions, the better supported first:"


def write_steps(task: Brief) -> Draft:
    """Write what the findings say, in the order of the question, sentence by sentence."""
    page = Page(replace(task, findings=by_sentence(task.findings)))
    answer = page.lead()[:LEAD]
    sections = [*page.by_problem(), *page.disagreement(), *page.refutations()]
    return Draft(
        answer=tuple(answer),
        sections=tuple(
            DraftSection(heading=heading, sentences=tuple(lines))
            for heading, lines in sections
            if lines
        ),
        missing=tuple(page.missing(bool(answer))),
    )


class Page:
    """The contents of one report, from the question and its findings."""

    def __init__(self, task: Brief) -> None:
        """Follow the question through the findings once."""
        self.task = task
        self.findings = {finding.id: finding for finding in task.findings}
        self.readings = [read_finding(finding) for finding in task.findings]
        analysis = analyse_question(task.question)
        self.chains = [follow_chain(chain, self.readings) for chain in analysis.chains]
        self.besides = [
            follow_chain(chain, self.readings) for chain in chains_besides(analysis, task.problems)
        ]
        self.told: list[Reading] = []
        standing = standing_of(task)
        best_first = sorted(standing, key=lambda item: -item.posterior)
        self.supported = [item for item in standing if item.status is HypothesisStatus.SUPPORTED]
        self.refuted = [item for item in standing if item.status is HypothesisStatus.REFUTED]
        settled = (HypothesisStatus.SUPPORTED, HypothesisStatus.REFUTED)
        self.undecided = [item for item in best_first if item.status not in settled]

    # -- the answer

    def lead(self) -> list[DraftSentence]:
        """Return the answer: what is supported, how it was reached, and what is not ruled out."""
        lines = [line for item in self.supported if (line := self._told(item)) is not None]
        if lines:
            lines = [*self._yes_or_no(), *lines, *self._path()]
            rest = self._open_versions()
            rivals = [
                item for item in rest if any(self.rivals(item, other) for other in self.supported)
            ]
            others = [item for item in rest if item not in rivals]
            return [*lines, *self._framed(DISAGREE, rivals), *self._framed(ALSO, others)]
        return self._framed(UNDECIDED, self._open_versions())

    def _open_versions(self) -> list[HypothesisStanding]:
        """Return the undecided versions that may be part of the answer, without hearsay."""
        heard = {
            " ".join(f.statement.split()) for f in self.task.findings if read_finding(f).hearsay
        }
        best = max((item.posterior for item in (*self.supported, *self.undecided)), default=0.0)
        bar = max(LEAST_TOLD, OPEN_QUESTION * best)
        likely = [
            item for item in self.undecided if item.posterior >= bar and not self._altered(item)
        ]
        return [item for item in likely if " ".join(item.statement.split()) not in heard]

    def _altered(self, item: HypothesisStanding) -> bool:
        """Return whether a version is only in copies of texts that give another.

        Such a version is shown, but is not part of the answer.
        """

        def stories(labels: Iterable[str]) -> set[str]:
            return {self.findings[label].origin for label in labels if label in self.findings}

        against = stories(item.refuting) - {""}
        return bool(against) and stories(item.supporting) <= against

    def rivals(self, one: HypothesisStanding, other: HypothesisStanding) -> bool:
        """Return whether two hypotheses give different answers for the same thing."""
        for steps in self.chains:
            if steps[-1].clause.kind is Kind.YES_NO:
                return one.answer != other.answer
            pairs = (
                (a, b) for a in self._given(steps[-1], one) for b in self._given(steps[-1], other)
            )
            for a, b in pairs:
                if (
                    same_subject(a.subject, b.subject)
                    and same_value(steps[-1].clause.kind, a.value, b.value) is False
                ):
                    return True
        return False

    def _given(self, step: Step, item: HypothesisStanding) -> list[Candidate]:
        """Return the answers that a hypothesis rests on: in its own sentence, or a day of birth."""
        return [
            c
            for c in step.candidates
            if c.value.text
            and (
                _same_text(self.task.findings[c.sentence].statement, item.statement)
                or (
                    c.value.exact and c.value.text in item.statement and c.subject in item.statement
                )
            )
        ]

    def _yes_or_no(self) -> list[DraftSentence]:
        answers = {item.answer for item in self.supported}
        if self.chains[-1][-1].clause.kind is not Kind.YES_NO or len(answers) != 1:
            return []
        return [_frame(FOR if answers == {"yes"} else AGAINST)]

    def _framed(self, frame: str, items: Iterable[HypothesisStanding]) -> list[DraftSentence]:
        lines = [line for item in items if (line := self._told(item)) is not None]
        return [_frame(frame), *lines] if lines else []

    def _told(self, item: HypothesisStanding, again: bool = False) -> DraftSentence | None:
        """Return a hypothesis as a sentence; None if it was written before or has no finding."""
        own = [f for f in self.task.findings if _same_text(f.statement, item.statement)]
        if not own:
            return self._reckoned(item) or self._by_its_support(item)
        reading = read_finding(own[0])
        if not again and any(other.text == reading.text for other in self.told):
            return None
        self.told.append(reading)
        others = [self.findings[label] for label in item.supporting if label in self.findings]
        return _fact(
            own[0], [*own, *_of_other_origin(own[0], [f for f in others if _carries(f, item)])]
        )

    def _by_its_support(self, item: HypothesisStanding) -> DraftSentence | None:
        """Return the most credible finding that supports a hypothesis in nobody's words."""
        held = [self.findings[label] for label in item.supporting if label in self.findings]
        best = max(held, key=lambda finding: finding.credibility, default=None)
        return _fact(best, [best]) if best is not None else None

    def _reckoned(self, item: HypothesisStanding) -> DraftSentence | None:
        """Return a computed age with its computation, if a finding gives the day of birth."""
        for steps in self.chains:
            for candidate in steps[-1].candidates if steps[-1].clause.kind is Kind.AGE else ():
                years = age_on(candidate.value, self.task.as_of)
                name = longest_form(candidate.subject, self.readings[candidate.sentence])
                if years is None:
                    continue
                text = age_sentence(name, years, self.task.as_of, candidate.value.text)
                if _same_text(text, item.statement):
                    born, today = candidate.value.born[0], self.task.as_of[:10]
                    label = self.task.findings[candidate.sentence].id
                    return DraftSentence(text, (label,), f"years({born}, {today})")
        return None

    def _path(self) -> list[DraftSentence]:
        """Return the sentences that lead from the question to its answer, the first link first."""
        chosen: dict[int, None] = {}
        for steps in self.chains:
            needed = self._stood_on(steps[-1])
            links = [steps[-1].event] if steps[-1].event is not None else []
            for step in reversed(steps[:-1]):
                found, needed = self._links(step, needed)
                links = [*found, *links]
            chosen |= dict.fromkeys(links)
        fresh = [
            n for n in chosen if not any(self.readings[n].text == other.text for other in self.told)
        ]
        self.told += [self.readings[n] for n in fresh]
        return [_fact(self.task.findings[n], [self.task.findings[n]]) for n in fresh]

    def _stood_on(self, step: Step) -> list[str]:
        """Return the names in the last clause's hole that the supported answers mention."""
        told = [read_sentence(item.statement) for item in self.supported]
        return [hole for hole in step.holes if any(mention(reading, hole) >= 0 for reading in told)]

    def _links(self, step: Step, needed: Sequence[str]) -> tuple[list[int], list[str]]:
        """Return the fewest sentences that give all names needed, and the names they rest on."""
        links: list[int] = []
        subjects: list[str] = []
        left = list(dict.fromkeys(needed))
        while left:
            best = self._covering(step, left)
            if best is None:
                break
            links.insert(0, best.sentence)
            given = [c for c in step.candidates if c.sentence == best.sentence]
            subjects += [
                hole for hole in step.holes if mention(self.readings[best.sentence], hole) >= 0
            ]
            left = [name for name in left if not any(same_name(c.value.text, name) for c in given)]
            if (
                step.clause.ultimate
                and best.subject
                and not any(same_name(best.subject, n) for n in step.clause.names)
            ):
                left.append(best.subject)
        return links, list(dict.fromkeys(subjects))

    def _covering(self, step: Step, left: Sequence[str]) -> Candidate | None:
        """Return the candidate whose sentence gives most of the names that are left.

        In a tie, the surest one counts, then the shortest.
        """
        ranked: list[tuple[int, float, int, Candidate]] = []
        for item in step.candidates:
            given = [c.value.text for c in step.candidates if c.sentence == item.sentence]
            count = sum(_gives(given, name) for name in left)
            own = any(_gives([item.value.text], name) for name in left)
            if count and own and item.subject not in left:
                sure = round(item.score * self.task.findings[item.sentence].credibility, 6)
                ranked.append((-count, -sure, len(self.readings[item.sentence].text), item))
        return min(ranked, key=lambda entry: entry[:3])[3] if ranked else None

    # -- the body

    def by_problem(self) -> list[tuple[str, list[DraftSentence]]]:
        """Return for each sub-problem the sentences that answer it and are not in the answer."""
        refuted = self._refuted_findings()
        sections: dict[str, list[DraftSentence]] = {}
        for step in (step for steps in (*self.chains, *self.besides) for step in steps):
            lines = sections.setdefault(step.clause.text, [])
            for item in step.candidates:
                finding = self.task.findings[item.sentence]
                wanted = len(lines) < PER_SECTION and finding.id not in refuted
                if wanted and not self._repeats(item.sentence):
                    self.told.append(self.readings[item.sentence])
                    lines.append(_fact(finding, [finding]))
        return list(sections.items())

    def _refuted_findings(self) -> set[str]:
        """Return the findings that state a refuted hypothesis, or support nothing else."""
        held = (*self.supported, *self.undecided)
        doubtful = {label for item in self.refuted for label in item.supporting}
        doubtful -= {label for item in held for label in item.supporting}
        claimed = {" ".join(item.statement.split()) for item in self.refuted}
        return doubtful | {
            finding.id
            for finding in self.task.findings
            if " ".join(finding.statement.split()) in claimed
        }

    def _repeats(self, number: int) -> bool:
        reading = self.readings[number]
        return any(
            reading.text == other.text or likeness(reading, other) >= SAME for other in self.told
        )

    def disagreement(self) -> list[tuple[str, list[DraftSentence]]]:
        """Return the versions between which the evidence does not decide, side by side."""
        held = [*self.supported, *self.undecided]
        versions = [
            item
            for item in held
            if any(self.rivals(item, other) for other in held if other is not item)
        ]
        versions.sort(key=lambda item: -item.posterior)
        lines = [line for item in versions if (line := self._told(item, again=True)) is not None]
        return (
            [("Where the sources disagree", [_frame(VERSIONS), *lines])] if len(lines) > 1 else []
        )

    def refutations(self) -> list[tuple[str, list[DraftSentence]]]:
        """Return what was refuted, and the evidence against it."""
        lines: list[DraftSentence] = []
        for item in self.refuted:
            claim = self._told(item, again=True)
            against = [self.findings[label] for label in item.refuting if label in self.findings]
            against.sort(key=lambda finding: -finding.credibility)
            if claim is not None and against:
                lines += [_frame(CLAIMED), claim, _frame(REFUTED)]
                lines += [_fact(finding, [finding]) for finding in _distinct(against)[:2]]
        return [
            (
                "What was refuted"
                if self.task.standing is not None
                else "What the evidence speaks against",
                lines,
            )
        ]

    def missing(self, answered: bool) -> list[str]:
        """Return the sub-problems without an answer, and the question's own gaps if it has none.

        If one thing is asked and an answer to it is supported, no step is missing: the reader may
        have found a way where the rules that follow a chain did not.
        """
        chains = [] if len(self.chains) == 1 and self.supported else self.chains
        empty = [step.clause.text for steps in chains for step in steps if not step.candidates]
        return list(
            dict.fromkeys(
                empty if answered else [*empty, *self.task.gaps] or [self.task.question[:500]]
            )
        )


def _frame(text: str) -> DraftSentence:
    return DraftSentence(text)


def _fact(finding: ShownFinding, witnesses: Iterable[ShownFinding]) -> DraftSentence:
    labels = tuple(dict.fromkeys((finding.id, *(other.id for other in witnesses))))[:WITNESSES]
    return DraftSentence(text=finding.statement, findings=labels)


def _of_other_origin(own: ShownFinding, others: Iterable[ShownFinding]) -> list[ShownFinding]:
    """Return one finding of each further origin, the most credible first."""
    kept: dict[str, ShownFinding] = {}
    for finding in sorted(others, key=lambda item: -item.credibility):
        origin = finding.origin or finding.id
        if origin != (own.origin or own.id):
            kept.setdefault(origin, finding)
    return list(kept.values())


def _carries(finding: ShownFinding, item: HypothesisStanding) -> bool:
    """Return whether a supporting finding also gives the answer and so can be cited for it."""
    if item.answer in {"", "yes", "no"} or _same_text(item.answer, item.statement):
        return support_of(item.statement, [finding.quote])[0] == "full"
    return {word.root for word in tokens(item.answer)} <= read_finding(finding).roots


def _gives(values: Iterable[str], name: str) -> bool:
    """Return whether one of some values may be a name."""
    return any(same_name(value, name) for value in values if value)


def _distinct(findings: Iterable[ShownFinding]) -> list[ShownFinding]:
    kept: list[ShownFinding] = []
    for finding in findings:
        if not any(_same_text(finding.statement, other.statement) for other in kept):
            kept.append(finding)
    return kept


def _same_text(one: str, other: str) -> bool:
    return " ".join(one.split()) == " ".join(other.split())
