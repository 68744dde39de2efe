"""A report as Markdown: it reads well, and nothing that strangers wrote becomes more than text."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from deepdiver.core.outcomes import OUTCOMES
from deepdiver.core.record import (
    FINISHED,
    UNPRINTED,
    Block,
    Citation,
    CutSentence,
    Derivation,
    HypothesisStatus,
    Report,
    RunStatus,
    Section,
    Sentence,
    SentenceKind,
)
from deepdiver.report.kinds import LEGEND, LEGEND_KNOWN, without_cautions
from deepdiver.report.markdown import (
    JOURNEY,
    answer_text,
    render_evidence,
    render_markdown,
    sentence_text,
    status_line,
)
from deepdiver.report.sources import QUOTE_CHARS
from tests.report.making import assessment, quote, sentence, source

GFM = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PLACES = (
    "question answer section heading title url quote where reason statement refutes_if limit "
    "cut cut_reason cut_section made_by mark told point frame paragraph item step cell header part "
    "sum_name sum result credit"
).split()
MODEL = [
    place
    for place in PLACES
    if place not in {"question", "title", "url", "quote", "where", "reason", "credit"}
]
"""Where a model's words stand; the others are the person's and those of sources."""


def citation(number: int = 1, **more: Any) -> Citation:
    held, said = source(), quote("Holm Works is owned by Anna Holm.")
    base = Citation(
        number=number,
        source=held.id,
        finding="f_1",
        title=held.title,
        url=held.url,
        quote=said.text,
        passage=said.passage,
        credibility=0.9,
    )
    return base.model_copy(update=more)


def report(**more: Any) -> Report:
    held: dict[str, Any] = {
        "question": "Who owns Holm Works?",
        "status": RunStatus.ANSWERED,
        "answer": (sentence("Anna Holm owns Holm Works.", "f_1", citations=(1, 2)),),
        "confidence": 0.8123,
        "sections": (
            Section(
                heading="Ownership",
                sentences=(
                    sentence("The sources disagree.", kind=SentenceKind.FRAME),
                    sentence(
                        "Bertil Ask owned it.",
                        "f_2",
                        citations=(2,),
                        mark="only partly carried by its quotes",
                    ),
                ),
            ),
        ),
        "hypotheses": (
            assessment(HypothesisStatus.SUPPORTED, 0.8123),
            assessment(HypothesisStatus.REFUTED, 0.1, "Bertil Ask owns it.").model_copy(
                update={"trials": 2}
            ),
        ),
        "citations": (
            citation(),
            citation(
                2,
                source="s_2",
                title="Gazette",
                url="sample:gazette.md",
                quote="Bertil Ask owned it.",
            ),
        ),
        "limits": ("tavily could not search: tavily answered 500",),
        "made_by": "deepdiver, strategy popper, embedded reasoner, as of 2026-11-15",
    }
    return Report(**(held | more))


SNAPSHOT = """\
# Who owns Holm Works?

## Bottom line

Anna Holm owns Holm Works [1, 2].

## Ownership

The sources disagree. Bertil Ask owned it (caution: see the evidence view) [2].

## Sources

**Title of s_1**, https://example.org/s_1

- [1] “Holm Works is owned by Anna Holm.”

**Gazette**, sample:gazette.md

- [2] “Bertil Ask owned it.”

## Evidence view

**Answered, confidence 0.81.**

### Hypotheses tested

- **supported** (0.81, 1 attempt to refute): Anna Holm owns it. Would be refuted by: another owner
- **refuted** (0.10, 2 attempts to refute): Bertil Ask owns it. Would be refuted by: another owner

### How far the sources are believed

- 0.90: Title of s_1; Gazette

### Cautions

- “Bertil Ask owned it.” [2]: only partly carried by its quotes.

### Limits

- tavily could not search: tavily answered 500

---
*deepdiver, strategy popper, embedded reasoner, as of 2026-11-15.*
"""


def test_a_small_report() -> None:
    assert render_markdown(report()) == SNAPSHOT


def test_sentences_about_the_research_itself_are_a_list() -> None:
    told = tuple(
        sentence(text, kind=SentenceKind.FRAME) for text in ("1. first", "# second", "a *third*")
    )
    parts = (Section(heading="Notes", sentences=told),)
    assert "## Notes\n\n- 1\\. first\n- \\# second\n- a \\*third\\*\n" in render_markdown(
        report(sections=parts)
    )
    assert "## Answer" not in render_markdown(report(sections=parts))


def test_the_title_is_the_answer_and_the_question_stands_at_the_foot() -> None:
    made = render_markdown(report(title="Anna Holm owns Holm Works"))
    assert made.startswith("# Anna Holm owns Holm Works\n\n## Bottom line\n")
    assert "\n---\n*Question: Who owns Holm Works?*\n\n*deepdiver" in made
    same = render_markdown(report(title="who owns holm works?"))
    assert same.startswith("# who owns holm works?\n\n## Bottom line\n"), "it is asked once"


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("Run `git reflog` first", "# Run `git reflog` first"),
        ("`a_b` is *not* `c", "# `a_b` is \\*not\\* \\`c"),
        (
            "See `https://evil.net` and ``x ` y``",
            "# See `hxxps://evil[.]net` and ``x ` y``",
        ),
        ("``", "# \\`\\`"),
    ],
)
def test_code_in_a_title_is_code(title: str, told: str) -> None:
    held = report(title=title)
    assert render_markdown(held).startswith(f"{told}\n\n")
    assert render_evidence(held).startswith(f"# Evidence view: {told.removeprefix('# ')}\n\n")


def test_a_note_stands_at_the_head() -> None:
    made = render_markdown(report(note="Found without a *model*."))
    assert "\n\n*Found without a \\*model\\*.*\n\n## Bottom line\n" in made
    assert "Found without" not in render_markdown(report())


def test_a_report_that_tells_its_journey_has_it_below_the_bottom_line() -> None:
    parts = (Section(heading=JOURNEY, sentences=(sentence("a step", kind=SentenceKind.FRAME),)),)
    made = render_markdown(report(sections=parts))
    assert "\n## Bottom line\n\nAnna Holm owns Holm Works [1, 2].\n\n## Research Journey\n" in made


def test_a_report_without_evidence_says_so() -> None:
    empty = Report(
        question="Who?",
        status=RunStatus.NO_EVIDENCE,
        answer=(),
        confidence=0.0,
        made_by="deepdiver",
    )
    assert render_markdown(empty) == (
        "# Who?\n\n## Bottom line\n\n**No evidence found.** No evidence was found that bears on "
        "the question. Searches were answered, and brought nothing to the point.\n\n"
        "## Evidence view\n\n**No evidence found.**\n\n---\n*deepdiver.*\n"
    )


def test_evidence_without_an_answer_says_so() -> None:
    made = report(answer=(), status=RunStatus.PARTIAL)
    line = "The evidence found does not answer the question. What was found is set out below."
    assert answer_text(made) == line
    assert f"## Bottom line\n\n**Answered in part.** {line}\n" in render_markdown(made)
    assert "## Evidence view\n\n**Answered in part.**\n" in render_markdown(made)


def test_the_machinery_is_told_in_the_evidence_view_alone() -> None:
    text, _, evidence = render_markdown(report()).partition("## Evidence view")
    for word in ("confidence", "0.81", "0.90", "attempt", "refuted", "tavily"):
        assert word not in text
        assert word in evidence


# Points, blocks and kinds

JUDGED = sentence("It is too dear.", kind=SentenceKind.JUDGEMENT, citations=(1,))
FACT = sentence("It is old.", citations=(2,))
GENERAL = sentence("Mills age.", kind=SentenceKind.KNOWLEDGE)
ASSUMED = sentence("It burns.", kind=SentenceKind.ASSUMPTION, citations=(1,))
DOUBTED = ASSUMED.model_copy(update={"mark": "flagged"})
FRAME = sentence("Two things speak for it:", kind=SentenceKind.FRAME)


def body(*blocks: Block, heading: str = "Body") -> str:
    """Return what is printed below a heading."""
    made = render_markdown(report(sections=(Section(heading=heading, blocks=blocks),)))
    return made.partition(f"\n## {heading}")[2].partition("\n## Sources")[0]


def test_the_points_of_the_bottom_line_are_a_list() -> None:
    made = render_markdown(report(answer=(FACT, FACT, JUDGED), points=(2, 1)))
    lead = "- It is old. It is old [2].\n- It is too dear [1].\n"
    told = f"\n*{LEGEND}*\n\n"
    assert f"## Bottom line\n\n{lead}{told}" in made


@pytest.mark.parametrize("points", [(), (3,), (1, 1), (2, 2)])
def test_points_that_do_not_fit_the_answer_are_a_paragraph(points: tuple[int, ...]) -> None:
    made = render_markdown(report(answer=(FACT, FACT, FACT), points=points))
    assert "## Bottom line\n\nIt is old. It is old. It is old [2].\n\n" in made


def test_a_frame_of_the_bottom_line_stands_above_its_points_and_is_none_of_those_before() -> None:
    made = render_markdown(report(answer=(FACT, FRAME, FACT, FACT), points=(1, 1, 1, 1)))
    lead = made.partition("## Bottom line\n")[2].partition("\n## ")[0]
    assert lead == (
        "\n- It is old [2].\n\nTwo things speak for it:\n\n- It is old [2].\n- It is old [2].\n"
    )
    first = render_markdown(report(answer=(FRAME, FACT), points=(1, 1)))
    assert "## Bottom line\n\nTwo things speak for it:\n\n- It is old [2].\n\n" in first
    kinds = shape(GFM.parse(lead))
    assert kinds.count("bullet_list_open") == 2, "the frame parts the lists"


def test_blocks_are_paragraphs_lists_steps_and_tables() -> None:
    made = body(
        Block(kind="paragraph", rows=((FRAME, FACT),)),
        Block(kind="list", rows=((FACT,), (FACT, FACT))),
        Block(kind="steps", rows=((FACT,), (FACT,))),
        Block(kind="table", rows=((sentence("1990"), FACT),), header=("Year", "State")),
    )
    assert made == (
        "\n\nTwo things speak for it: It is old [2].\n"
        "\n- It is old [2].\n- It is old. It is old [2].\n"
        "\n1. It is old [2].\n2. It is old [2].\n"
        "\n| Year | State |\n| --- | --- |\n| 1990 | It is old [2]. |\n"
    )


def test_points_that_are_set_apart_are_quoted() -> None:
    made = body(
        Block(kind="steps", rows=((FACT,), (FACT,)), apart=True),
        Block(kind="list", rows=((sentence("1. It is so."),),), apart=True),
    )
    assert made == "\n\n> 1. It is old [2].\n> 2. It is old [2].\n\n> - 1\\. It is so.\n"


def test_code_is_fenced_so_that_it_cannot_end_its_fence_and_cited_below() -> None:
    code = "UPDATE jobs\n   SET taken = 1; -- ```\n# no heading\u202e"
    text = body(Block(kind="code", rows=((sentence(code, citations=(1,)),),), language="sql<b>"))
    shown = "UPDATE jobs\n   SET taken = 1; -- ```\n# no heading\\u202e"
    assert f"````sqlb\n{shown}\n````\n\nSource of the code: [1]\n" in text
    (fence,) = [token for token in GFM.parse(text) if token.type == "fence"]
    assert fence.content == f"{shown}\n"


def test_a_part_of_a_section_has_a_smaller_heading() -> None:
    parts = (
        Section(heading="Whole", blocks=(Block(kind="paragraph", rows=((FACT,),)),)),
        Section(heading="Part", blocks=(Block(kind="paragraph", rows=((FACT,),)),), level=3),
    )
    made = render_markdown(report(sections=parts))
    assert "## Whole\n\nIt is old [2].\n\n### Part\n\nIt is old [2].\n" in made


def test_one_line_at_the_top_tells_what_is_judgement() -> None:
    section = Section(heading="Body", blocks=(Block(kind="list", rows=((JUDGED,), (FACT,))),))
    made = render_markdown(report(answer=(FACT,), sections=(section,)))
    assert f"## Bottom line\n\nIt is old [2].\n\n*{LEGEND}*\n\n## Body\n\n- It is too" in made
    assert "judgement" not in made.replace(LEGEND, "")
    assert LEGEND not in render_markdown(report(answer=(FACT,), sections=()))


def test_the_evidence_view_tells_what_was_searched_for_in_vain() -> None:
    said = sentence("No file has petrol.", kind=SentenceKind.ABSENCE, terms=("petrol", "[gas]"))
    held = report(answer=(said, said), sections=(), searched=14)
    listed = "- “No file has petrol.” (words searched for: petrol, \\[gas\\]; texts searched: 14)\n"
    assert f"### What the texts do not have\n\n{listed}\n" in render_evidence(held)
    assert "searched" not in render_markdown(held, evidence="evidence.md")
    assert "“ (gesuchte Wörter: petrol, \\[gas\\]; durchsuchte Texte: 14)" in render_evidence(
        held.model_copy(update={"language": "de"})
    )


def test_what_is_generally_known_has_a_sign_and_is_listed_in_the_evidence_view() -> None:
    rows = ((FACT, GENERAL), (ASSUMED,))
    section = Section(heading="Body", blocks=(Block(kind="list", rows=rows),))
    held = report(sections=(section,))
    made = render_markdown(held, evidence="evidence.md")
    told = "## Body\n\n- It is old [2]. Mills age†.\n- It burns† [1].\n"
    assert f"\n\n*{LEGEND_KNOWN}*\n\n{told}" in made
    assert (
        render_evidence(held).count(
            "### General knowledge and assumptions\n\n"
            "- “Mills age.” (general knowledge)\n- “It burns.” (our assumption)\n"
        )
        == 1
    )
    german = render_evidence(held.model_copy(update={"language": "de"}))
    assert "### Allgemein Bekanntes und Annahmen\n\n- „Mills age.“ (allgemein bekannt)" in german
    assert "General knowledge" not in render_evidence(report(sections=()))


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("en", "It burns.", "It burns† (caution: see the evidence view) [1]."),
        ("en", "It burns", "It burns† (caution: see the evidence view) [1]"),
        ("en", "It burns:", "It burns† (caution: see the evidence view) [1]:"),
        ("en", "Does it burn?", "Does it burn?† (caution: see the evidence view) [1]"),
        ("en", "They call it “hot.”", "They call it “hot.”† (caution: see the evidence view) [1]"),
        (
            "en",
            "It costs 3.5 or more...",
            "It costs 3.5 or more...† (caution: see the evidence view) [1]",
        ),
        ("en", "It is in the U.S.", "It is in the U.S.† (caution: see the evidence view) [1]"),
        ("de", "Es brennt.", "Es brennt† (Vorbehalt: siehe die Belege) [1]."),
        ("ja", "燃える。", "燃える†（留意点：証拠一覧を参照）[1]。"),
        ("ja", "燃える", "燃える†（留意点：証拠一覧を参照）[1]"),
        ("ja", "燃えるか？", "燃えるか？†（留意点：証拠一覧を参照）[1]"),
    ],
)
def test_notes_and_citations_stand_before_the_full_stop(
    language: str, text: str, told: str
) -> None:
    said = DOUBTED.model_copy(update={"text": text})
    section = Section(heading="Body", blocks=(Block(kind="list", rows=((FACT,), (said,))),))
    made = render_markdown(report(sections=(section,), language=language))
    assert f"\n- {told}\n" in made


def test_where_the_evidence_view_is_another_file_it_alone_has_the_cautions() -> None:
    rows = ((FACT, DOUBTED),)
    sections = (Section(heading="Body", blocks=(Block(kind="list", rows=rows),)),)
    held = report(answer=(DOUBTED,), sections=sections)
    made = render_markdown(held, evidence="evidence.md")
    assert "(caution" not in made
    assert ", the cautions, " in made.splitlines()[-1]
    assert "### Cautions" in render_evidence(held)
    assert render_markdown(held).count("(caution: see the evidence view)") == 2


def test_a_note_within_a_bold_opening_stays_before_the_full_stop() -> None:
    whole = DOUBTED.model_copy(update={"bold": len(DOUBTED.text)})
    made = body(Block(kind="list", rows=((FACT,), (whole,))))
    assert "- **It burns† (caution: see the evidence view).** [1]\n" in made
    words = DOUBTED.model_copy(update={"bold": len(DOUBTED.text) - 1})
    made = body(Block(kind="list", rows=((FACT,), (words,))))
    assert "- **It burns**† (caution: see the evidence view) [1].\n" in made


# Reasons of judgements


def reasoned(text: str, *places: int) -> Sentence:
    """Return a judgement that cites 1, 2 and so on in some places."""
    cited = tuple(range(1, len(places) + 1))
    return sentence(text, kind=SentenceKind.JUDGEMENT, citations=cited, places=places)


def test_the_reasons_of_a_judgement_stand_in_the_evidence_view_alone() -> None:
    said = reasoned("Sell it, since Anna owns it.", UNPRINTED, 27)
    made = render_markdown(report(answer=(said,), sections=()))
    text, _, evidence = made.partition("## Evidence view")
    assert "\nSell it, since Anna owns it [2].\n" in text
    line = "### Reasons for our judgements\n\n- “Sell it, since Anna owns it.” [1]\n"
    assert evidence.count(line) == 1
    assert "Reasons for our" not in render_markdown(report(answer=(FACT,), sections=()))


def test_a_reason_that_has_a_figure_of_the_judgement_is_printed() -> None:
    cited = (citation(1, quote="It has 35 looms."), citation(2, quote="Looms are old."))
    said = reasoned("Keep the 35 looms, and sell the rest.", UNPRINTED, UNPRINTED)
    made = render_markdown(report(citations=cited, answer=(said,), sections=()))
    assert "\nKeep the 35 looms [1], and sell the rest.\n" in made
    assert "rest.” [2]\n" in made.partition("### Reasons for our judgements")[2]
    held = report(citations=cited, answer=(said,), sections=())
    told = "Keep the 35 looms [1], and sell the rest. (our judgement)"
    assert answer_text(held) == told, "on a terminal, too"
    alone = Section(heading="Body", sentences=(said,))
    body_alone = render_markdown(report(citations=cited, sections=(alone,)))
    assert "\nKeep the 35 looms [1], and sell the rest.\n" in body_alone


def test_a_figure_of_advice_is_not_cited_again_where_another_point_cites_it() -> None:
    cited = (citation(1, quote="It has 35 looms."),)
    fact = sentence("It has 35 looms.", citations=(1,))
    said = reasoned("Keep the 35 looms.", UNPRINTED)
    held = report(citations=cited, answer=(fact, said), sections=(), points=(1, 1))
    assert "- It has 35 looms [1].\n- Keep the 35 looms.\n" in render_markdown(held)
    alone = report(
        citations=cited, answer=(sentence("It burns."), said), sections=(), points=(1, 1)
    )
    assert "- Keep the 35 looms [1].\n" in render_markdown(alone)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Treat $2.5M as the stress case.", "Treat $2.5M [1] as the stress case."),
        ("Plan on 2.5 million crowns a year.", "Plan on 2.5 million crowns [1] a year."),
        ("Stop at 2,500,000.", "Stop at 2,500,000 [1]."),
        ("Expect (about 2.5 million) less.", "Expect (about 2.5 million) [1] less."),
        ("Take the “2.5 million a year” as so.", "Take the “2.5 million a year” [1] as so."),
        ("Of 2.5 million crowns, spend half.", "Of 2.5 million crowns [1], spend half."),
    ],
)
def test_the_source_of_a_figure_in_a_judgement_stands_behind_the_figure(
    text: str, told: str
) -> None:
    cited = (citation(1, quote="It costs 2.5 million crowns."),)
    held = report(citations=cited, answer=(reasoned(text, UNPRINTED),), sections=())
    assert f"\n{told}\n" in render_markdown(held)


@pytest.mark.parametrize(
    ("text", "quote", "told"),
    [
        ("The 25% result has no control.", "Spend rose by 25 per cent.", "The 25% [1] result has"),
        ("The 25% result has no control.", "Spend: $25 | Growth: 15%", "The 25% result has"),
        ("Charge $25 a month.", "It grew by 25%.", "Charge $25 a month."),
        ("Charge $25 a month.", "Price: 25 | Growth: 15%", "Charge $25 [1] a month."),
        ("Take 25 boats.", "Fleet: 25 | Price: $25", "Take 25 boats [1]."),
    ],
)
def test_money_is_no_source_of_a_share(text: str, quote: str, told: str) -> None:
    cited = (citation(1, quote=quote),)
    held = report(citations=cited, answer=(reasoned(text, UNPRINTED),), sections=())
    assert f"\n{told}" in render_markdown(held)


def test_labels_of_older_records_are_shown_as_they_are() -> None:
    cited = [citation(n, label=label) for n, label in enumerate(("4a", "5", "4c", "4ab"), 1)]
    said = sentence("It is old.", citations=(1, 2, 3, 4))
    held = report(citations=tuple(cited), answer=(said,))
    assert sentence_text(held, said) == "It is old [4a, 4c, 4ab, 5]."
    made = render_markdown(held)
    assert "\n- [4a] “Holm" in made
    assert "\nIt is old [4a, 4c, 4ab, 5].\n" in made


def test_how_a_report_was_made_is_told_where_the_evidence_is() -> None:
    held = report(made_by="deepdiver, strategy popper, any model, as of 2026-11-15.")
    apart = render_markdown(held, evidence="evidence.md")
    assert "---\n*deepdiver, as of 2026-11-15. The evidence view, evidence.md, has " in apart
    assert "popper" not in apart
    how = "*deepdiver, strategy popper, any model, as of 2026-11-15.*"
    assert render_evidence(held).endswith(f"---\n{how}\n")
    assert render_markdown(held).endswith(f"---\n{how}\n"), "it ends with the evidence view"


def test_a_table_of_one_source_cites_it_once_below() -> None:
    rows = ((sentence("1990"), FACT, FACT), (sentence("1991"), FACT, FACT))
    made = body(Block(kind="table", rows=rows, header=("Year", "State", "Mood")))
    assert "| Year | State | Mood |\n" in made
    assert "| 1991 | It is old. | It is old. |\n\nSource of the table: [2]\n" in made


def test_the_evidence_view_may_be_a_file_of_its_own() -> None:
    whole = without_cautions(report())
    text = render_markdown(whole, evidence="evidence.md")
    assert "## Evidence view" not in text
    assert "The evidence view, evidence.md, has " in text.splitlines()[-1]
    assert text.partition("\n---\n")[0] == render_markdown(whole).partition("\n## Evidence view")[0]
    own = render_evidence(whole)
    assert own.startswith("# Evidence view: ")
    assert own.partition("\n\n")[2] in render_markdown(whole).replace("  ", " ")


def test_a_report_with_nothing_in_its_evidence_view_does_not_point_to_it() -> None:
    bare = Report(question="Who?", answer=(), confidence=0.0, status=RunStatus.NO_EVIDENCE)
    assert "evidence.md" not in render_markdown(bare, evidence="evidence.md")


def test_a_note_stands_behind_the_last_word_and_citations_at_their_clauses() -> None:
    said = DOUBTED.model_copy(update={"text": "Sell it, and buy.", "places": (7,)})
    noted = "Sell it [1], and buy† (caution: see the evidence view).\n"
    assert noted in body(Block(kind="paragraph", rows=((FACT, said),)))
    twice = said.model_copy(update={"citations": (1, 1), "places": (7, 15)})
    noted = "Sell it, and buy† (caution: see the evidence view) [1].\n"
    assert noted in body(Block(kind="paragraph", rows=((FACT, twice),)))
    both = said.model_copy(update={"citations": (1, 2), "places": (7, 16)})
    noted = "Sell it [1], and buy† (caution: see the evidence view) [2].\n"
    assert noted in body(Block(kind="paragraph", rows=((FACT, both),)))


def test_of_what_is_generally_known_in_a_paragraph_the_last_has_the_sign() -> None:
    rows = ((GENERAL, GENERAL, FACT, FACT, JUDGED, GENERAL, FACT),)
    told = "Mills age. Mills age. It is old. It is old [2]. It is too dear [1]. Mills age†. It is"
    made = body(Block(kind="paragraph", rows=rows))
    assert told in made
    assert made.count("†") == 1


def test_what_goes_on_with_the_writers_own_has_the_sign_where_the_known_part_ends() -> None:
    text = "Mills age within ten years, so plan for it."
    said = GENERAL.model_copy(update={"text": text, "known": (26,)})
    assert "Mills age within ten years†, so plan for it.\n" in body(
        Block(kind="paragraph", rows=((FACT, said),))
    )


def test_signs_within_sentences_are_told_once_in_a_paragraph() -> None:
    beside = FACT.model_copy(
        update={
            "text": "Mills age, it is old, and mills burn.",
            "kind": SentenceKind.JUDGEMENT,
            "known": (9, 36),
            "places": (20,),
        }
    )
    one = body(Block(kind="paragraph", rows=((beside, FACT, FACT),)))
    assert "Mills age, it is old [2], and mills burn†.\n" not in one
    assert "Mills age, it is old [2], and mills burn†. It is old" in one
    two = body(Block(kind="paragraph", rows=((beside, GENERAL, FACT, FACT, FACT),)))
    assert "Mills age, it is old [2], and mills burn. Mills age†. It is old" in two


@pytest.mark.parametrize(
    ("text", "known", "told"),
    [
        ("It is old, as mills are.", (23,), "It is old [2], as mills are†.\n"),
        ("It is old, as mills are.", (24,), "It is old [2], as mills are†.\n"),
        ("Mills age; it is old.", (9,), "Mills age†; it is old [2].\n"),
    ],
)
def test_what_is_generally_known_beside_what_is_cited_has_the_sign(
    text: str, known: tuple[int, ...], told: str
) -> None:
    said = FACT.model_copy(
        update={
            "text": text,
            "kind": SentenceKind.JUDGEMENT,
            "known": known,
            "places": (9 if text.startswith("It") else 20,),
        }
    )
    made = render_markdown(
        report(
            sections=(Section(heading="Age", blocks=(Block(kind="paragraph", rows=((said,),)),)),)
        )
    )
    assert told in made
    assert "† marks general professional knowledge" in made


def test_a_heading_may_begin_with_a_number() -> None:
    one = Section(heading="1. Friday: stop", blocks=(Block(kind="paragraph", rows=((FACT,),)),))
    made = render_markdown(report(title="2) Stop", sections=(one,)))
    assert made.startswith("# 2) Stop\n")
    assert "\n## 1. Friday: stop\n" in made


def test_a_section_or_a_column_of_general_knowledge_has_one_sign() -> None:
    hence = sentence("Hence:", kind=SentenceKind.FRAME)
    known = Block(kind="list", rows=((GENERAL,), (GENERAL, hence)))
    own = Block(kind="code", rows=((GENERAL,),))
    made = render_markdown(report(sections=(Section(heading="Custom", blocks=(known, own)),)))
    assert "## Custom †\n\n- Mills age.\n- Mills age. Hence:\n" in made
    rows = tuple((sentence(str(year)), FACT, GENERAL) for year in range(1990, 1992))
    made = body(Block(kind="table", rows=rows, header=("Year", "State", "Custom")))
    assert (
        "| Year | State [2] | Custom † |\n| --- | --- | --- |\n| 1990 | It is old. | Mills" in made
    )
    assert "age†" not in made
    one = Section(heading="Custom", blocks=(Block(kind="paragraph", rows=((GENERAL,),)),))
    assert "## Custom\n\nMills age†.\n" in render_markdown(report(sections=(one,)))


def test_a_column_of_what_no_source_says_has_no_line_of_its_own() -> None:
    rows = tuple((sentence(str(year)), FACT, GENERAL) for year in range(1990, 1993))
    header = ("Year", "State", "Custom")
    odd = (sentence("1993"), JUDGED, FACT)
    both = body(Block(kind="table", rows=(*rows, odd), header=header))
    assert "| Year | State | Custom |\n" in both, "one cell cites something else"
    assert "| 1990 | It is old [2]. | Mills age†. |\n" in both
    assert both.endswith("| 1993 | It is too dear [1]. | It is old [2]. |\n")


def test_the_name_of_a_row_leaves_its_citations_to_the_cells_that_have_them() -> None:
    name = sentence("Anna", citations=(1,))
    table = Block(kind="table", rows=((name, JUDGED), (name, FACT)), header=("Who", "What"))
    made = body(table)
    told = "| Anna | It is too dear [1]. |\n| Anna [1] | It is old [2]. |\n"
    assert told in made


def test_a_lead_in_is_bold() -> None:
    said = sentence("Age *now*. It is old.", citations=(2,), bold=10)
    made = render_markdown(report(answer=(said,)))
    assert "**Age \\*now\\*.** It is old [2].\n" in made
    whole = sentence("It is old.", citations=(1, 2), places=(5, 10), bold=10)
    made = render_markdown(report(answer=(whole,)))
    assert "**It is [1] old.** [2]\n" in made, "the mark of the end stands behind the bold text"
    assert GFM.render(made).count("<strong>It is [1] old.</strong>") == 1
    assert "**" not in sentence_text(report(), whole)
    beyond = sentence("It is old.", citations=(2,), bold=11)
    assert "\nIt is old [2].\n" in render_markdown(report(answer=(beyond,)))


# Citations and sources


def test_a_citation_stands_at_the_clause_that_it_carries() -> None:
    said = sentence("Anna owns it, Bertil owned it.", citations=(1, 2), places=(12, 29))
    assert "Anna owns it [1], Bertil owned it [2].\n" in render_markdown(report(answer=(said,)))
    assert sentence_text(report(), said) == "Anna owns it [1], Bertil owned it [2]."
    together = said.model_copy(update={"places": (12, 12)})
    assert "Anna owns it [1, 2], Bertil owned it." in render_markdown(report(answer=(together,)))


@pytest.mark.parametrize("places", [(5,), (999, 4_000), (29, 30, 31)])
def test_places_that_do_not_fit_are_at_the_end(places: tuple[int, ...]) -> None:
    said = sentence("Anna owns it, Bertil owned it.", citations=(1, 2), places=places)
    assert sentence_text(report(), said) == "Anna owns it, Bertil owned it [1, 2]."


def test_a_text_that_looks_like_a_place_of_a_citation_is_no_such_place() -> None:
    said = sentence("Anna ⟦0⟧ owns ⟦1⟧ it.", citations=(1,))
    assert sentence_text(report(), said).count("[1]") == 1
    assert sentence_text(report(), said).endswith("it [1].")


def test_a_source_is_listed_once_with_its_numbered_quotes_below_it() -> None:
    listed = (
        citation(1, label="1", where="page 3", credit="Ann Berg, Harbour Board, 2024-03-05"),
        citation(2, label="3", source="s_2", title="Gazette", quote="Bertil owned it."),
        citation(3, label="2", quote="Holm Works is old.", credit="x"),
    )
    said = sentence("Anna Holm owns Holm Works.", citations=(1, 2, 3))
    made = render_markdown(report(citations=listed, answer=(said,)))
    assert (
        "**Title of s_1**, Ann Berg, Harbour Board, 2024-03-05, https://example.org/s_1\n\n"
        "- [1] “Holm Works is owned by Anna Holm.” (page 3)\n- [2] “Holm Works is old.”\n\n"
        "**Gazette**, https://example.org/s_1\n\n- [3] “Bertil owned it.”\n\n" in made
    )
    assert "Anna Holm owns Holm Works [1–3].\n" in made


def test_what_the_text_does_not_cite_is_listed_in_the_evidence_view() -> None:
    held = (citation(1), citation(2, quote="Holm Works is old."))
    judged = reasoned("Sell it.", UNPRINTED, UNPRINTED)
    fact = sentence("Anna owns it.", citations=(1,))
    made = render_markdown(report(citations=held, answer=(fact, judged), sections=()))
    text, _, evidence = made.partition("## Evidence view")
    assert "- [1] “Holm Works is owned by Anna Holm.”\n" in text.partition("## Sources")[2]
    assert "Holm Works is old." not in text
    further = (
        "### Passages that the text does not cite\n\n**Title of s_1**, https://example.org/s_1"
    )
    assert f"{further}\n\n- [2] “Holm Works is old.”\n" in evidence
    none = render_markdown(report(citations=held, answer=(judged,), sections=()))
    assert "## Sources" not in none


@pytest.mark.parametrize("start", ["# Bottom line", "- more", "1. more", "> more", "---", "| a"])
def test_no_credit_or_place_of_a_source_without_a_title_opens_a_block(start: str) -> None:
    for held in (citation(title="", credit=start), citation(title="", url=start)):
        made = render_markdown(report(citations=(held,)))
        listed = made.partition("## Sources\n\n")[2].partition("\n## ")[0]
        kinds = shape(GFM.parse(listed))
        assert kinds.count("paragraph_open") == 2, "the source, and its quote"
        assert kinds.count("list_item_open") == 1
        assert not {"heading_open", "blockquote_open", "hr", "table_open"} & {*kinds}


def test_a_source_is_shown_with_its_kind_and_in_the_evidence_view_with_all_reasons() -> None:
    told = citation(
        reasons=("a newspaper with an editor", "secondary", "no date"), copies=40, where="page 3"
    )
    made = render_markdown(report(citations=(told,)))
    assert "https://example.org/s_1 · a newspaper with an editor\n\n- [1] “Holm Works" in made
    assert (
        "### How far the sources are believed\n\n- 0.90, a newspaper with an editor, "
        "secondary, no date, one of 40 copies of one story: Title of s_1\n" in made
    )


def test_that_a_source_is_the_readers_document_is_told_only_beside_others() -> None:
    own = citation(1, url="/home/ann/plan.docx", reasons=("your document",))
    assert "your document\n" not in render_markdown(report(citations=(own,)))
    page = citation(2, source="s_2", reasons=("a newspaper with an editor",))
    made = render_markdown(report(citations=(own, page)))
    assert "· your document\n" in made
    assert "· a newspaper with an editor\n" in made


def test_the_reasons_are_told_once_for_sources_that_are_believed_alike() -> None:
    why = {"reasons": ("an official register", "primary")}
    listed = (
        citation(1, **why),
        citation(2, where="page 9", **why),
        citation(3, source="s_9", **why),
    )
    made = render_markdown(report(citations=listed))
    assert "- 0.90, an official register, primary: Title of s_1; Title of s_1\n" in made
    assert made.count("an official register, primary") == 1
    assert "one of" not in made


def test_a_source_without_reasons_has_its_title() -> None:
    assert "\n- 0.90: Title of s_1\n" in render_markdown(report(citations=(citation(),)))
    assert "\n- 0.90, one of 2 copies of one story: Title of s_1\n" in render_markdown(
        report(citations=(citation(copies=2),))
    )


def test_a_source_without_a_title_is_believed_under_its_place() -> None:
    made = render_markdown(report(citations=(citation(title="", url="sample:a_b/*gazette*.md"),)))
    assert "\n- 0.90: sample:a_b/\\*gazette\\*.md\n" in made


def test_calculations_stand_in_the_evidence_view_with_their_citations() -> None:
    sums = (
        Derivation(name="C1", expression="30 * 2", result="60 hours", citations=(2, 1)),
        Derivation(name="C2", expression="C1 / 2", result=""),
    )
    made = render_markdown(report(derivations=sums))
    assert "### Calculations\n\n- C1: 30 \\* 2 = 60 hours [1, 2]\n- C2: C1 / 2\n\n" in made
    assert made.index("## Evidence view") < made.index("### Calculations")


def test_what_a_figure_was_worked_out_from_is_cited_as_such() -> None:
    cited = (
        citation(1, quote="It had 330 people."),
        citation(2, quote="A year before, it had 300."),
    )
    made = Derivation(name="C1", expression="330 - 300", result="30", citations=(1, 2))
    said = {"derived": ("C1",), "citations": (1, 2)}

    def shown(text: str, **more: Any) -> str:
        told = sentence(text, **(said | more))
        return sentence_text(report(derivations=(made,), citations=cited), told)

    assert shown("It has 30 people more.") == "It has 30 people more [from 1, 2]."
    assert shown("With 330, it has 30 more.") == "With 330, it has 30 more [1, from 2]."
    apart = shown("With 330 people, it has 30 more.", places=(15, 32))
    assert apart == "With 330 people [1], it has 30 more [from 2]."
    assert shown("It has 330.", derived=()) == "It has 330 [1, 2]."
    german = report(derivations=(made,), citations=cited, language="de")
    assert sentence_text(german, sentence("Es sind 30 mehr.", **said)).endswith("[aus 1, 2].")


def test_a_fact_keeps_its_citation_before_what_was_worked_out_from_it() -> None:
    cited = citation(1, quote="It grew by 40% since May.")
    made = Derivation(name="C1", expression="0.4 * 24", result="9.6", citations=(1,))
    row = (
        sentence("It says that it grew by 40%.", citations=(1,)),
        sentence("That is nearly ten months.", citations=(1,), derived=("C1",)),
    )
    section = Section(heading="x", blocks=(Block(kind="paragraph", rows=(row,)),))
    shown = render_markdown(
        report(citations=(cited,), derivations=(made,), sections=(section,), answer=())
    )
    assert "It says that it grew by 40% [1]." in shown


def test_a_version_before_a_full_stop_keeps_it_behind_its_citations() -> None:
    said = sentence("They describe 1.0.2.", citations=(1,))
    assert sentence_text(report(), said) == "They describe 1.0.2 [1]."


def test_what_is_cited_itself_is_not_cited_once_more_for_a_sum() -> None:
    same = {"quote": "It had 330 people, and 300 a year before.", "label": "1"}
    other = same | {"quote": "It hired people."}
    held = report(
        citations=(citation(1, **same), citation(2, **other)),
        derivations=(Derivation(name="C1", expression="1", result="1", citations=(1, 2)),),
    )
    told = sentence("From 300 it grew, by 30.", derived=("C1",), citations=(1, 2), places=(8, 23))
    assert sentence_text(held, told) == "From 300 [1] it grew, by 30."


def test_each_cut_sentence_is_a_line_behind_the_other_limits() -> None:
    cut = (
        CutSentence(text="Carl Dahl owns it.", reason="Carl Dahl is in none of its quotes"),
        CutSentence(text="It is 40.", reason="the quotes say 30.", section="Age"),
    )
    limits = (
        "- Cut from the answer: “Carl Dahl owns it.” Reason: Carl Dahl is in none of its "
        "quotes.\n- Cut from the section “Age”: “It is 40.” Reason: the quotes say 30.\n"
    )
    assert f"tavily answered 500\n{limits}\n---\n" in render_markdown(report(cut=cut))
    assert f"### Limits\n\n{limits}\n---\n" in render_markdown(report(cut=cut, limits=()))


ADDRESSES = [
    ("https://evil.example/x", "hxxps://evil[.]example/x"),
    ("HTTP://EVIL.EXAMPLE", "hxxp://EVIL[.]EXAMPLE"),
    ("ftp://evil.example", "ftp[:]//evil[.]example"),
    ("www.evil.example", "www[.]evil[.]example"),
    ("evil.example", "evil[.]example"),
    ("mailto:a@evil.example", "mailto[:]a@evil[.]example"),
    ("xmpp:a@evil.example", "xmpp[:]a@evil[.]example"),
    ("a@evil.example", "a@evil[.]example"),
    ("javascript:alert(1)", "javascript[:]alert(1)"),
    ("1.5 m at 16:30.", "1.5 m at 16:30."),
]


@pytest.mark.parametrize("place", MODEL)
@pytest.mark.parametrize(("address", "shown_as"), ADDRESSES)
def test_an_address_that_a_model_wrote_is_defused_wherever_it_stands(
    place: str, address: str, shown_as: str
) -> None:
    made = infested(place, f"See {address} now")
    assert f"See {shown_as} now" in shown(GFM.parse(render_markdown(made)))
    assert not linked(render_markdown(made))
    assert f"See {address} now" not in answer_text(made) or address == shown_as


@pytest.mark.parametrize("place", [place for place in PLACES if place not in {*MODEL, "url"}])
@pytest.mark.parametrize("address", [address for address, _ in ADDRESSES])
def test_an_address_in_the_question_or_in_a_source_reads_as_it_is_and_is_no_link(
    place: str, address: str
) -> None:
    made = render_markdown(infested(place, f"See {address} now"))
    assert f"See {address} now" in shown(GFM.parse(made))
    assert not linked(made)


def test_the_check_for_links_would_find_them() -> None:
    for address in ("https://evil.example", "www.evil.example", "ftp://evil.example"):
        assert linked(f"See {address} now")
        assert linked(f"**{address}**")
        assert not linked(address.replace(":", "\\:").replace(".", "\\."))
    assert linked(render_markdown(report())) == ["https://"], "the address of a source itself"


def test_a_sentence_may_name_the_address_of_a_source_that_it_cites() -> None:
    url = "https://example.org/s_1"
    said = sentence(f"Title, {url}; not {url}/more or {url}2.", citations=(1,))
    made = render_markdown(report(answer=(said,)))
    shown_as = (
        f"Title, {url}; not hxxps://example[.]org/s_1/more or hxxps://example[.]org/s_12 [1]."
    )
    assert shown_as in shown(GFM.parse(made))
    assert f"Title, {url};" in made
    uncited = sentence(f"Title, {url}.", citations=(2,))
    assert "Title, hxxps://example[.]org/s_1 [2]." in answer_text(report(answer=(uncited,)))


def test_every_outcome_has_its_words_and_confidence_if_an_answer_was_accepted() -> None:
    for status in FINISHED:
        accepted = status in {RunStatus.ANSWERED, RunStatus.PARTIAL}
        sure = ", confidence 0.81" if accepted else ""
        told = f"**{OUTCOMES[status].headline}{sure}.**"
        assert told in render_markdown(report(status=status))


@pytest.mark.parametrize("status", sorted(FINISHED))
def test_an_outcome_without_an_answer_is_told_where_the_answer_would_be(
    status: RunStatus,
) -> None:
    ending = OUTCOMES[status]
    made = report(status=status, answer=())
    assert answer_text(made) == ending.lead
    assert f"\n## Bottom line\n\n**{ending.headline}.** {ending.lead}".rstrip() in render_markdown(
        made
    )


def test_an_undecided_report_says_so_above_its_lead() -> None:
    made = report(status=RunStatus.UNDECIDED)
    told = "**Undecided.** The evidence does not settle which of the rival answers is right."
    assert f"\n## Bottom line\n\n{told}\n\nAnna Holm" in render_markdown(made)
    assert answer_text(made).startswith("Anna Holm"), "the answer alone, for programs"


@pytest.mark.parametrize("status", [RunStatus.ANSWERED, RunStatus.PARTIAL])
def test_an_answer_stands_for_itself(status: RunStatus) -> None:
    assert "\n## Bottom line\n\nAnna Holm" in render_markdown(report(status=status))


def test_the_reasons_why_nothing_could_be_searched_are_a_list() -> None:
    why = [sentence(f"{name} could not search.", kind=SentenceKind.FRAME) for name in ("a", "b")]
    made = report(status=RunStatus.COULD_NOT_SEARCH, answer=tuple(why), citations=())
    lead = OUTCOMES[RunStatus.COULD_NOT_SEARCH].lead
    assert answer_text(made) == f"{lead} a could not search. b could not search."
    listed = f"**Could not search.** {lead}\n\n- a could not search.\n- b could not search.\n"
    assert listed in render_markdown(made)


def test_an_account_in_which_no_belief_is_stated_shows_no_number() -> None:
    assert status_line(report(status=RunStatus.PARTIAL, confidence=0.0)) == "Answered in part"


def test_where_the_model_failed_there_is_no_confidence_to_tell() -> None:
    failed = sentence("Planning failed.", kind=SentenceKind.FRAME)
    made = render_markdown(
        report(status=RunStatus.MODEL_FAILED, answer=(failed,), confidence=0.0, citations=())
    )
    assert "the model failed.\n\n- Planning failed.\n" in made
    assert "**The model failed.**\n" in made


def test_the_lead_has_one_heading_in_all_reports() -> None:
    made = render_markdown(report(heading="Executive Summary"))
    assert "\n## Bottom line\n\nAnna Holm" in made
    assert "Executive Summary" not in made


def test_fixed_words_are_in_the_language_of_the_report() -> None:
    judged = sentence("Anna Holm ist Eigentümerin.", citations=(1,), kind=SentenceKind.JUDGEMENT)
    first = citation(reasons=("your document", "no date"), where="page 3", copies=2)
    limits = ("The audit cut 2 sentences that no quote carried.", "Not answered: Wer noch?")
    cut = (CutSentence(text="Berta auch.", reason="no quote"),)
    held = report(
        language="de", answer=(judged,), citations=(first,), limits=limits, cut=cut, sections=()
    )
    made = render_markdown(held, evidence="evidence.md")
    assert "\n## Ergebnis\n" in made
    assert "\n*Nummern verweisen auf das, was eine Quelle sagt; alles andere ist " in made
    assert "\n## Quellen\n" in made
    assert " · Ihr Dokument\n\n- [1] „Holm Works is owned by Anna Holm.“ (Seite 3)\n" in made
    assert " Die Belege, evidence.md, enthalten die geprüften Hypothesen, wie weit" in made
    seen = render_evidence(held)
    assert seen.startswith("# Belege: Who owns Holm Works?\n\n**Beantwortet, Zuversicht 0.81.**")
    assert "\n### Geprüfte Hypothesen\n\n- **gestützt** (0.81, 1 Widerlegungsversuch): " in seen
    assert " Widerlegt würde sie durch: " in seen
    why = "Ihr Dokument, ohne Datum, eine von 2 Kopien derselben Meldung"
    assert f"- 0.90, {why}: Title of s_1\n" in seen
    assert "- Die Prüfung hat 2 Sätze gestrichen, die kein Zitat trägt.\n" in seen
    assert "- Nicht beantwortet: Wer noch?\n" in seen
    assert "- Aus der Antwort gestrichen: „Berta auch.“ Grund: no quote.\n" in seen
    assert sentence_text(held, judged).endswith(" (unser Urteil)")
    nothing = report(language="de", status=RunStatus.NO_EVIDENCE, answer=())
    assert "**Keine Belege gefunden.** Es wurden keine Belege" in render_markdown(nothing)
    assert answer_text(nothing).startswith("Es wurden keine Belege")


def test_headings_that_code_has_made_are_in_the_language_of_the_report() -> None:
    own = Section(heading="What was found", sentences=(sentence("Anna Holm äger den."),))
    assert "\n## 見つかったこと\n" in render_markdown(report(language="ja", sections=(own,)))
    assert "\n## What was found\n" in render_markdown(report(language="sv", sections=(own,)))


def test_japanese_has_no_spaces_between_sentences_and_before_citations() -> None:
    said = (
        sentence("範囲が小さい。", citations=(1,), places=(6,)),
        sentence("APIはepollである。", citations=(2,)),
    )
    row = Block(kind="paragraph", rows=(said,))
    sections = (Section(heading="範囲", blocks=(row,)),)
    made = render_markdown(report(language="ja", answer=said, sections=sections))
    assert made.count("\n範囲が小さい[1]。APIはepollである[2]。\n") == 2
    assert "- [1] 「Holm Works is owned by Anna Holm.」" in made


def test_citations_right_before_the_stop_are_shown_behind_it() -> None:
    said = sentence("Anna owns it.", citations=(1, 2), places=(12, 13))
    assert "\nAnna owns it [1, 2].\n" in render_markdown(report(answer=(said,)))


def test_every_standing_of_a_hypothesis_has_its_words() -> None:
    made = render_markdown(
        report(hypotheses=tuple(assessment(status, 0.5) for status in HypothesisStatus))
    )
    for word in ("supported", "refuted", "undecided", "not tested"):
        assert f"- **{word}** (0.50, 1 attempt to refute)" in made


def test_a_caution_is_told_once_in_the_evidence_view_and_not_in_the_text() -> None:
    said = sentence("It costs 5 [sic].", citations=(1,), mark="see https://evil.example.")
    made = render_markdown(report(answer=(said, said)))
    text, _, evidence = made.partition("## Evidence view")
    noted = "It costs 5 \\[sic\\] (caution: see the evidence view)"
    assert f"{noted}. {noted} [1]." in text
    assert "evil" not in text
    line = "- “It costs 5 \\[sic\\].” [1]: see hxxps\\://evil\\[.\\]example.\n"
    assert evidence.count(line) == 1
    assert "### Cautions" not in render_markdown(report(sections=()))


def test_plain_text_is_plain() -> None:
    said = sentence("It costs *5* [sic] <b>\n\nmore.", citations=(1, 2), mark="doubtful")
    shown_as = "It costs *5* [sic] <b> more [1, 2]. (doubtful)"
    assert sentence_text(report(), said) == shown_as
    assert answer_text(report(answer=(said, said))) == f"{shown_as} {shown_as}"


def test_a_long_quote_is_shortened_and_a_short_one_is_not() -> None:
    for size, shown in (
        (QUOTE_CHARS, "x" * QUOTE_CHARS),
        (2 * QUOTE_CHARS, "x" * (QUOTE_CHARS - 1) + "…"),
    ):
        assert f"“{shown}”" in render_markdown(report(citations=(citation(quote="x" * size),)))


def test_ordinary_text_is_left_as_it_is() -> None:
    text = (
        "Svedjan Ost AB's “cellar” (1 250 m², 12 %) – opened 3 May 2014; see no. 4 & file_name_1, "
        "#7 at a > b? Yes!"
    )
    assert text in render_markdown(report(answer=(sentence(text),)))


# -- strangers


HOSTILE = [
    "# A heading",
    "\n\n# A heading of its own\n\n",
    "\n---\n",
    "===\n---",
    "- an item\n- another",
    "1. one\n2) two",
    "> a quotation",
    "```\ncode",
    "`code` and ``more``",
    "~~~\nfence",
    "~~struck~~",
    "    indented",
    "\tindented",
    "<script>alert(1)</script>",
    "<!-- hidden",
    "<img src=x onerror=alert(1)>",
    "</div><h1>Answered</h1>",
    "[click](https://evil.example)",
    "[click](javascript:alert(1))",
    "![pixel](https://evil.example/p.png)",
    "<https://evil.example>",
    "[1]: https://evil.example",
    "[1, 2]",
    "**bold** __bold__ *em* _em_ ***both***",
    "| a | b |\n|---|---|\n| c | d |",
    "back\\slash at the end \\",
    "&lt;b&gt; &amp; &#60;script&#62; &copy;",
    "hard  \nbreak\\\nbreak",
    "“”\"'`´",
    "\x1b[2J\x1b[31mred",
    "bell\x07 null\x00 del\x7f c1\x9b31m",
    "\u202eesrever\u202c \u2066isolate\u2069",
    "line\u2028separator\u2029and\x85next\x0bvertical\x0cfeed",
    "[^1] and [^1]: a note",
    "x](javascript:alert(1)) ![y](data:text/html,z)",
    "a | b \\| c",
    "Setext\n===",
    "<a href='javascript:alert(1)'>x</a>",
    "",
    "   ",
    "(https://evil.example)",
    "*",
    "_",
    "[",
    "](",
    "!",
    "\\",
    "\\[x](y)",
]
TEXTS = st.text(
    st.sampled_from("#-*_`~[]()<>!&;\\|=+1. \nab:/“”") | st.characters(codec="utf-8"), max_size=40
)


def infested(place: str, text: str) -> Report:
    """Return a report in which a text of a stranger's stands in one place."""

    def put(here: str, otherwise: str) -> str:
        return text if place == here else otherwise

    item = assessment(HypothesisStatus.SUPPORTED, 0.8)
    told = {"statement": put("statement", "It burnt."), "refutes_if": put("refutes_if", "a log")}
    cited = {
        "title": put("title", "Log"),
        "url": put("url", "sample:log.txt"),
        "quote": put("quote", "It burnt."),
    }
    placed = {
        "where": put("where", "page 3"),
        "credit": put("credit", "Ann Berg"),
        "reasons": (put("reason", "a log kept at the time"),),
    }
    body = sentence(
        put("section", "It burnt."), citations=(1,), mark=put("mark", "carried in part")
    )
    said = sentence("It burnt.", citations=(1,))
    blocks = (
        Block(kind="paragraph", rows=((sentence(put("paragraph", "It burnt."), citations=(1,)),),)),
        Block(kind="list", rows=((said,), (sentence(put("item", "It burnt.")),))),
        Block(kind="steps", rows=((sentence(put("step", "It burnt.")),), (said,))),
        Block(
            kind="table",
            rows=((said, said), (sentence(put("cell", "It burnt."), citations=(1,)), said)),
            header=("One", put("header", "Two")),
        ),
    )
    return report(
        question=put("question", "Who?"),
        title=put("told", "It burnt"),
        answer=(
            sentence(put("answer", "It burnt."), citations=(1,)),
            sentence(put("frame", "Besides:"), kind=SentenceKind.FRAME),
            sentence(put("point", "It burnt.")),
        ),
        points=(1, 1, 1),
        sections=(
            Section(heading=put("heading", "Body"), sentences=(body,), blocks=blocks),
            Section(heading=put("part", "Part"), blocks=blocks[:1], level=3),
        ),
        derivations=(
            Derivation(
                name=put("sum_name", "C1"),
                expression=put("sum", "1 + 1"),
                result=put("result", "2"),
                citations=(1,),
            ),
        ),
        hypotheses=(
            item.model_copy(update={"hypothesis": item.hypothesis.model_copy(update=told)}),
        ),
        citations=(citation(1, **cited, **placed),),
        limits=(put("limit", "none"),),
        cut=(
            CutSentence(
                text=put("cut", "It burnt."),
                reason=put("cut_reason", "no quote"),
                section=put("cut_section", "Body"),
            ),
        ),
        made_by=put("made_by", "deepdiver"),
    )


def shape(tokens: list[Token]) -> list[str]:
    """Return the structure of a document.

    Its blocks, and of what lies within lines all that is not text.
    """
    found: list[str] = []
    for token in tokens:
        inner = [
            child.type
            for child in token.children or []
            if child.type not in {"text", "text_special"}
        ]
        found += [token.type, *inner]
    return found


def shown(tokens: list[Token], *others: str) -> str:
    """Return what a reader sees, without the marks."""
    return "\n".join(
        "".join(
            child.content
            for child in token.children or []
            if child.type in {"text", "text_special", *others}
        )
        for token in tokens
        if token.type == "inline"
    )


def linked(made: str) -> list[str]:
    """Return what GitHub would make links of, by the rules of its autolinks.

    They look at the source, where a backslash stops them.
    """
    return re.findall(r"(?<![\w\\])(?:https?|ftp)://|(?<![\w\\])www\.(?=\w)", made, re.IGNORECASE)


def seen(text: str, place: str = "") -> str:
    """Return how a text of a stranger's is to look."""
    line = re.sub(
        "[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]",
        lambda char: f"\\u{ord(char.group()):04x}",
        " ".join(text.split()),
    )
    if place not in MODEL:
        return line
    line = line.replace("https://evil.example", "hxxps://evil[.]example")
    return re.sub(r"(javascript|data):(?=\w)", r"\1[:]", line)


@pytest.mark.parametrize("place", PLACES)
def test_strangers_cannot_change_the_structure(place: str) -> None:
    for text in HOSTILE:
        held = f"{text} tail" if not text.strip() else text
        tokens = GFM.parse(render_markdown(infested(place, held)))
        told = "code_inline" if place == "told" else ""  # code in a title is shown as such
        assert [kind for kind in shape(tokens) if kind != told] == harmless_shape(place), repr(text)
        if place != "url":
            line = re.sub("(`+)(?=[^`])(.+?)\\1", r"\2", text) if told else text
            assert seen(line, place) in shown(tokens, told)


@cache
def harmless_shape(place: str) -> list[str]:
    return shape(GFM.parse(render_markdown(infested(place, "harmless"))))


SPANS = st.lists(st.tuples(st.integers(-3, 50), st.integers(-3, 50)), max_size=3)


def with_code(text: str, spans: tuple[tuple[int, int], ...], **more: Any) -> Report:
    """Return a report in which a sentence with code stands in a paragraph, a point and a cell."""
    said = sentence(text, citations=(1,), **more).model_copy(update={"code": spans})
    blocks = (
        Block(kind="paragraph", rows=((said,),)),
        Block(kind="list", rows=((said,),)),
        Block(kind="table", rows=((said, said),), header=("One", "Two")),
    )
    return report(answer=(said,), sections=(Section(heading="Body", blocks=blocks),))


def assert_code_is_code(text: str, spans: tuple[tuple[int, int], ...]) -> None:
    tokens = GFM.parse(render_markdown(with_code(text, spans)))
    assert [item for item in shape(tokens) if item != "code_inline"] == harmless_code_shape()


@cache
def harmless_code_shape() -> list[str]:
    return shape(GFM.parse(render_markdown(with_code("harmless", ()))))


@pytest.mark.parametrize("text", HOSTILE, ids=repr)
def test_strangers_cannot_change_the_structure_with_code(text: str) -> None:
    held = text if text.strip() else f"{text}tail"
    for end in range(1, len(held) + 1):
        assert_code_is_code(held, ((0, end),))
        assert_code_is_code(f"See {held} there", ((4, 4 + end),))


@given(TEXTS, SPANS)
def test_no_code_changes_the_structure(text: str, spans: list[tuple[int, int]]) -> None:
    assert_code_is_code(text if seen(text) else f"a{text}", tuple(spans))


def test_code_is_printed_as_code_and_nothing_within_it_is_lost() -> None:
    said = "Set journal_mode=WAL and a`b*c*, see www.evil.network."
    spans = ((4, 20), (25, 31), (37, 53))
    made = render_markdown(with_code(said, spans, places=(20,)))
    assert "- Set `journal_mode=WAL` [1] and ``a`b*c*``, see `www[.]evil[.]network`.\n" in made
    assert linked(made.partition("## Sources")[0]) == []
    held = with_code(said, spans)
    assert "Set journal_mode=WAL and a`b" in answer_text(held), "plain text has no signs"


def test_code_that_follows_code_cannot_end_it() -> None:
    said = "a`[x](https://evil.net)`b<i>"
    for at in range(1, len(said)):
        assert_code_is_code(said, ((0, at), (at, len(said))))
    assert "- See `ab` [1].\n" in render_markdown(with_code("See ab.", ((4, 5), (5, 6))))


def test_an_address_for_examples_stays_in_code_and_nowhere_else() -> None:
    command = "curl -H 'X: y' https://www.example.com/"
    held = with_code(f"Run {command}", ((4, 4 + len(command)),), kind=SentenceKind.KNOWLEDGE)
    script = sentence(f"#!/bin/sh\n{command}", kind=SentenceKind.KNOWLEDGE)
    code = Section(heading="Code", blocks=(Block(kind="code", rows=((script,),)),))
    held = held.model_copy(update={"sections": (*held.sections, code)})
    made = render_markdown(held, evidence="evidence.md")
    assert f"- Run `{command}`" in made
    assert f"\n#!/bin/sh\n{command}\n" in made
    view = render_evidence(held)
    assert f": Run `{command}`” (general knowledge)" in view, "with the column and row of its cell"
    assert f"- “`#!/bin/sh {command}`” (general knowledge)" in view
    assert command in answer_text(held)
    prose = with_code(f"Run {command}", ())
    assert "https://www.example.com" not in render_markdown(prose)


def test_doubted_code_is_code_in_the_evidence_view() -> None:
    held = with_code("Run x <y>", ((4, 9),), mark="it is not said")
    assert "- “Run `x <y>`” [1]: it is not said." in render_evidence(held)


def test_a_citation_within_code_stands_behind_it_and_bold_around_it() -> None:
    made = render_markdown(with_code("strict is gone", ((0, 6),), places=(3,), bold=6))
    assert "\n- **`strict`** [1] is gone\n" in made


def test_a_bar_in_code_does_not_end_a_cell() -> None:
    made = render_markdown(with_code("a|b", ((0, 3),)))
    assert "| `a\\|b` | `a\\|b` [1] |" in made


@pytest.mark.parametrize("spans", [((2, 99),), ((-1, 2),), ((3, 3),), ((3, 1),), ((2, 3),)])
def test_code_that_does_not_fit_is_text(spans: tuple[tuple[int, int], ...]) -> None:
    assert "- It burnt [1].\n" in render_markdown(with_code("It burnt.", spans))
    assert "- `It b`urnt [1].\n" in render_markdown(with_code("It burnt.", ((2, 5), (0, 4))))


def test_half_a_character_is_shown_as_such() -> None:
    assert "**half \\\\ud83d**, " in render_markdown(
        report(citations=(citation(title="half \ud83d"),))
    )


@pytest.mark.parametrize("place", PLACES)
def test_nothing_speaks_to_the_terminal(place: str) -> None:
    for text in HOSTILE:
        made = infested(place, text)
        unseen = "\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff"
        assert not re.search(f"[\x00-\x09\x0b-\x1f{unseen}]", render_markdown(made))
        assert not re.search(f"[\x00-\x1f{unseen}]", answer_text(made))
        assert render_markdown(made).encode("utf-8")


@given(st.sampled_from(PLACES), TEXTS)
def test_no_text_changes_the_structure(place: str, text: str) -> None:
    held = f"a{text}" if not seen(text) else text
    tokens = GFM.parse(render_markdown(infested(place, held)))
    assert shape(tokens) == harmless_shape(place)


@given(st.text(st.sampled_from("*_`~[]<>!&;#\\amp lt1 "), max_size=30))
def test_what_was_said_is_what_is_shown(text: str) -> None:
    made = shown(GFM.parse(render_markdown(report(answer=(sentence(f"x{text}x"),)))))
    assert seen(f"x{text}x") in made


@pytest.mark.parametrize(
    ("url", "shown_as"),
    [
        ("https://example.org/a_b/~me?x=1&y=(2)#top", "https://example.org/a_b/~me?x=1&y=(2)#top"),
        ("https://example.org/a b\n", "https://example.org/a%20b"),
        ('https://example.org/<b>"x"`y`', "https://example.org/%3Cb%3E%22x%22%60y%60"),
        ("https://example.org/[x](javascript:y)*", "https://example.org/%5Bx%5D(javascript:y)%2A"),
        ("https://example.org/å", "https://example.org/å"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("/my docs/[old] *draft*.md", "\\[old\\] \\*draft\\*.md"),
    ],
)
def test_addresses_can_be_copied_and_do_no_harm(url: str, shown_as: str) -> None:
    assert f"**Title of s_1**, {shown_as}\n\n- [1] “" in render_markdown(
        report(citations=(citation(url=url),))
    )
