"""The loop of `popper` in plain functions, to try the reasoner over a folder without a graph.

Searching, following leads, testing and weighing work as in the strategy; the reasoning is under
test.
"""

from __future__ import annotations

import asyncio
import functools
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from deepdiver.core import belief
from deepdiver.core.arithmetic import compute
from deepdiver.core.identity import content_id, digest
from deepdiver.core.names import names
from deepdiver.core.origins import origins, sketch
from deepdiver.core.record import (
    Credibility,
    Finding,
    HypothesisStatus,
    Passage,
    Quote,
    Sentence,
    SentenceKind,
    Source,
    SourceKind,
    Stance,
)
from deepdiver.core.text import STOPWORDS, sentences, terms, words
from deepdiver.reason.embedded import EmbeddedReasoner
from deepdiver.reason.embedded.draft import Brief, Draft, DraftSentence
from deepdiver.reason.embedded.write import write_draft
from deepdiver.report.audit import Context, find_faults
from deepdiver.tasks import (
    CheckSupport,
    Claim,
    Decide,
    Decompose,
    ExtractFindings,
    Hypothesise,
    HypothesisStanding,
    Judge,
    Proposed,
    Reasoner,
    RefuteQueries,
    Rival,
    ShownFinding,
    WriteQueries,
)
from deepdiver.tools.credibility import credibility
from deepdiver.tools.hit import Hit
from deepdiver.tools.library.interface import Entry
from deepdiver.tools.library.local.library import LocalLibrary
from tests.texts import parts_of, shown_text

Weigh = Callable[[Hit], Credibility]
HITS, HOPS, LEADS, ROUNDS, SHOWN = 6, 2, 4, 3, 40
"""As the strategy has them."""


@dataclass(frozen=True)
class Outcome:
    """What a run brought."""

    draft: Draft
    standing: tuple[HypothesisStanding, ...]
    findings: tuple[ShownFinding, ...]
    problems: tuple[str, ...]
    faults: tuple[str, ...]
    """What audit and check find wrong with the draft."""

    @property
    def answer(self) -> str:
        """The lead answer as one text."""
        return " ".join(sentence.text for sentence in self.draft.answer)

    @property
    def accepted(self) -> list[str]:
        """What the run holds to be so."""
        return [
            item.statement for item in self.standing if item.status is HypothesisStatus.SUPPORTED
        ]


@dataclass(frozen=True)
class Document:
    """A document that was found, with its text."""

    entry: Entry
    text: str

    @property
    def url(self) -> str:
        """Where it is."""
        return self.entry.url

    @property
    def title(self) -> str:
        """What it calls itself."""
        return self.entry.title


@dataclass
class Tested:
    """A hypothesis with its evidence so far."""

    proposed: Proposed
    trials: int = 0
    evidence: dict[str, tuple[Stance, float]] = field(default_factory=dict)


@functools.lru_cache(maxsize=4)
def index_of(folder: Path) -> LocalLibrary:
    """Index the documents of a folder once."""
    library = LocalLibrary(Path(tempfile.mkdtemp()))
    library.refresh((folder,))
    library.embed()
    return library


class Loop:
    """One run over one index."""

    def __init__(
        self, index: LocalLibrary, question: str, as_of: str, weigh: Weigh = credibility
    ) -> None:
        self.index, self.question, self.as_of, self.weigh = index, question, as_of, weigh
        self.reasoner: Reasoner = EmbeddedReasoner()
        self.sources: dict[str, Source] = {}
        self.texts: dict[str, str] = {}
        self.findings: dict[str, Finding] = {}
        self.tested: list[Tested] = []

    async def run(self) -> Outcome:
        plan = await self.reasoner.perform(Decompose(question=self.question, as_of=self.as_of))
        problems = tuple(problem.question for problem in plan.problems)
        for problem in plan.problems:
            await self._gather(problem.question)
        gaps: tuple[str, ...] = ()
        for round_ in range(1, ROUNDS + 1):
            before = len(self.findings)
            for gap in gaps:
                await self._look(gap, [gap], hops=0)
            await self._put_forward(problems, gaps)
            await self._test()
            decision = await self.reasoner.perform(
                Decide(
                    question=self.question,
                    problems=problems,
                    standing=self.standing({}),
                    findings=len(self.findings),
                    new_findings=len(self.findings) - (before if round_ > 1 else 0),
                    iteration=round_,
                    max_iterations=ROUNDS,
                )
            )
            gaps = decision.gaps
            if decision.decision == "finish":
                break
        return await self._write(problems, gaps)

    async def _gather(self, problem: str) -> None:
        known = tuple(self._statements())
        made = await self.reasoner.perform(
            WriteQueries(question=self.question, problem=problem, known=known)
        )
        await self._look(problem, made.queries, hops=HOPS)

    async def _look(
        self, about: str, queries: Sequence[str], hops: int, known: Iterable[str] | None = None
    ) -> None:
        tried: set[str] = set()
        for _ in range(hops + 1):
            fresh = [query for query in queries if query.lower() not in tried]
            if not fresh:
                return
            tried |= {query.lower() for query in fresh}
            texts = self._search(fresh)
            shown = tuple(
                shown_text(
                    id=f"T{n}",
                    title=d.title,
                    publisher=d.entry.publisher,
                    published=d.entry.published,
                    text=d.text,
                )
                for n, d in enumerate(texts, 1)
            )
            held = tuple(self._statements() if known is None else known)[:SHOWN]
            read = await self.reasoner.perform(
                ExtractFindings(
                    question=self.question, problems=parts_of(about), texts=shown, known=held
                )
            )
            by_label = {f"T{n}": document for n, document in enumerate(texts, 1)}
            for item in read.findings:
                self._add(item.statement, item.quote, by_label[item.source], about)
            queries = [lead_query(lead, about) for lead in read.leads[:LEADS]]

    def _search(self, queries: Iterable[str]) -> list[Document]:
        found: dict[str, Document] = {}
        for query in queries:
            for match in self.index.search(query, HITS):
                found.setdefault(
                    match.entry.url, Document(match.entry, self.index.text(match.entry))
                )
        return list(found.values())

    def _add(self, statement: str, quote: str, document: Document, about: str) -> None:
        start = document.text.find(quote)
        assert start >= 0, f"{quote!r} does not stand in {document.url}"
        snapshot = digest(document.text)
        self.texts[snapshot] = document.text
        hit = Hit(
            url=document.url,
            kind=SourceKind.DOCUMENT,
            publisher_kind=document.entry.publisher_kind,
            published=document.entry.published,
            author=document.entry.author,
        )
        source = Source(
            id=content_id("s", document.url, snapshot),
            kind=SourceKind.DOCUMENT,
            url=document.url,
            title=document.title,
            snapshot=snapshot,
            sketch=sketch(document.text),
            publisher=document.entry.publisher,
            published=document.entry.published,
            credibility=self.weigh(hit),
        )
        passage = Passage(snapshot=snapshot, start=start, end=start + len(quote))
        key = content_id("f", statement, snapshot, start)
        self.sources[source.id] = source
        self.findings.setdefault(
            key,
            Finding(
                id=key,
                statement=statement,
                quotes=(Quote(source=source.id, passage=passage, text=quote),),
                about=about,
            ),
        )

    def _statements(self) -> list[str]:
        return list(dict.fromkeys(finding.statement for finding in self.findings.values()))

    def shown(self, keys: Iterable[str]) -> tuple[dict[str, str], tuple[ShownFinding, ...]]:
        listed = [self.findings[key] for key in dict.fromkeys(keys)]
        if len(listed) > SHOWN:
            best = sorted(listed, key=lambda f: -self._source(f).credibility.score)[:SHOWN]
            listed = [finding for finding in listed if finding in best]
        one_story = origins(self._source(finding) for finding in listed)
        labels = {f"F{n}": finding.id for n, finding in enumerate(listed, 1)}
        views = []
        for label, finding in zip(labels, listed, strict=True):
            source = self._source(finding)
            views.append(
                ShownFinding(
                    id=label,
                    statement=finding.statement,
                    quote=finding.quotes[0].text,
                    source=source.title,
                    publisher=source.publisher,
                    published=source.published,
                    credibility=source.credibility.score,
                    origin=one_story[source.id],
                )
            )
        return labels, tuple(views)

    def _source(self, finding: Finding) -> Source:
        return self.sources[finding.quotes[0].source]

    async def _put_forward(self, problems: tuple[str, ...], gaps: tuple[str, ...]) -> None:
        labels, shown = self.shown(self.findings)
        if not shown:
            return
        made = await self.reasoner.perform(
            Hypothesise(
                question=self.question,
                as_of=self.as_of,
                problems=problems,
                findings=shown,
                standing=self.standing(labels),
                gaps=gaps,
            )
        )
        held = {item.proposed.statement for item in self.tested}
        self.tested += [Tested(item) for item in made.hypotheses if item.statement not in held]

    async def _test(self) -> None:
        for item in self.tested:
            if self._status(item) not in {HypothesisStatus.OPEN, HypothesisStatus.UNDECIDED}:
                continue
            rivals = tuple(other.proposed.statement for other in self.tested if other is not item)
            made = await self.reasoner.perform(
                RefuteQueries(
                    question=self.question,
                    hypothesis=item.proposed.statement,
                    refutes_if=item.proposed.refutes_if,
                    rivals=rivals,
                )
            )
            await self._look(item.proposed.statement, made.queries, hops=0, known=())
            item.trials += 1
        for item in self.tested:
            labels, shown = self.shown(self._bearing_on(item.proposed))
            if not shown:
                continue
            judged = await self.reasoner.perform(
                Judge(
                    question=self.question,
                    as_of=self.as_of,
                    rivals=(
                        Rival(
                            id="H1",
                            hypothesis=item.proposed.statement,
                            answer_if_true=item.proposed.answer,
                            supports_if=item.proposed.supports_if,
                            refutes_if=item.proposed.refutes_if,
                        ),
                    ),
                    findings=shown,
                )
            )
            for judgement in judged.judgements:
                if judgement.stance is not Stance.NEUTRAL:
                    item.evidence[labels[judgement.finding]] = (
                        judgement.stance,
                        judgement.strength,
                    )

    def _bearing_on(self, item: Proposed) -> list[str]:
        """Return the findings that share a word with a hypothesis; the others are neutral."""
        asked = set(terms(f"{item.statement} {item.answer}"))
        return [
            key
            for key, finding in self.findings.items()
            if asked & set(terms(f"{finding.statement} {finding.quotes[0].text}"))
        ]

    def _posterior(self, item: Tested) -> float:
        sources = {key: self._source(self.findings[key]) for key in item.evidence}
        one_story = origins(sources.values())
        weighed = [
            belief.WeighedEvidence(
                stance, strength, sources[key].credibility.score, one_story[sources[key].id]
            )
            for key, (stance, strength) in item.evidence.items()
        ]
        return belief.posterior(belief.bounded_prior(item.proposed.prior), weighed)

    def _status(self, item: Tested) -> HypothesisStatus:
        return belief.status(
            self._posterior(item), item.trials, belief.bounded_prior(item.proposed.prior)
        )

    def standing(self, labels: Mapping[str, str]) -> tuple[HypothesisStanding, ...]:
        by_id = {key: label for label, key in labels.items()}

        def on(item: Tested, side: Stance) -> tuple[str, ...]:
            return tuple(
                by_id[key]
                for key, (stance, _) in item.evidence.items()
                if stance is side and key in by_id
            )

        return tuple(
            HypothesisStanding(
                id=f"H{n}",
                statement=item.proposed.statement,
                answer=item.proposed.answer,
                posterior=round(self._posterior(item), 3),
                status=self._status(item),
                trials=item.trials,
                supporting=on(item, Stance.SUPPORTS),
                refuting=on(item, Stance.REFUTES),
            )
            for n, item in enumerate(self.tested, 1)
        )

    async def _write(self, problems: tuple[str, ...], gaps: tuple[str, ...]) -> Outcome:
        labels, shown = self.shown(self.findings)
        if not shown:
            return Outcome(Draft((), ()), (), (), problems, ())
        standing = self.standing(labels)
        draft = write_draft(Brief(self.question, self.as_of, problems, standing, shown, gaps))
        found = [
            fault
            for sentence in _sentences(draft)
            for fault in await self._faults(sentence, labels)
        ]
        return Outcome(draft, standing, shown, problems, tuple(found))

    async def _faults(self, drafted: DraftSentence, labels: Mapping[str, str]) -> list[str]:
        kind = SentenceKind.FACT if drafted.findings else SentenceKind.FRAME
        sentence = Sentence(
            text=drafted.text,
            kind=SentenceKind.CALCULATION if drafted.expression else kind,
            findings=tuple(labels[label] for label in drafted.findings),
            derived=("C1",) if drafted.expression else (),
        )
        held = [self.findings[key] for key in sentence.findings]
        values = [compute(drafted.expression).value] if drafted.expression else []
        context = Context(figures=drafted.expression, values=values)
        found = find_faults(sentence, held, self.texts.__getitem__, self.as_of, context)
        if drafted.findings:
            quotes = tuple(quote.text for finding in held for quote in finding.quotes)
            checks = await self.reasoner.perform(
                CheckSupport(claims=(Claim(id="S", text=drafted.text, quotes=quotes),))
            )
            found += [check.reason for check in checks.checks if check.support != "full"]
        return [f"{drafted.text[:80]}: {fault}" for fault in found]


def _sentences(draft: Draft) -> list[DraftSentence]:
    """Return the sentences of a draft, as the report has them: a passage sentence by sentence."""
    written = [
        *draft.answer,
        *(sentence for section in draft.sections for sentence in section.sentences),
    ]
    return [
        one if one.expression else replace(one, text=span.of(line))
        for one in written
        for line in one.text.splitlines()
        for span in sentences(line)
    ]


def lead_query(lead: str, about: str) -> str:
    """Return the query that follows a lead."""
    named = {word for name in names(about) for word in words(name)}
    rest = [word for word in words(about) if word not in STOPWORDS and word not in named]
    return " ".join([lead, *dict.fromkeys(rest)])


def research(
    folder: Path, question: str, as_of: str = "2026-11-15", weigh: Weigh = credibility
) -> Outcome:
    """Research a question over the documents of a folder."""
    return asyncio.run(Loop(index_of(folder), question, as_of, weigh).run())
