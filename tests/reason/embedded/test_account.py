"""The report: an answer if one is sure, else the nearest passages, arranged by form."""

from __future__ import annotations

import pytest

from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded import account
from deepdiver.reason.embedded.account import (
    BELOW,
    BY_WORDS,
    INTRODUCED,
    LIKELIEST,
    LIKELIEST_OF,
    NEAREST,
    NOT_NAMED,
    OTHER_ANSWERS,
    OTHER_VALUES,
    PASSAGES_FOUND,
    POSSIBLE,
    UNSURE,
    rank_findings,
    write_account,
)
from deepdiver.reason.embedded.asked import understand
from deepdiver.reason.embedded.draft import Brief, Draft
from deepdiver.reason.embedded.language.form import Form
from deepdiver.tasks import HypothesisStanding, ShownFinding
from tests.reason.embedded.raters import rate_by_words
from tests.reason.embedded.shown import AS_OF, finding, findings, standing


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    rate_by_words(monkeypatch)


def write(
    question: str,
    found: tuple[ShownFinding, ...],
    told: tuple[HypothesisStanding, ...] | None = (),
) -> Draft:
    return write_account(Brief(question, AS_OF, (question,), told, found, ()))


def lines(draft: Draft) -> list[str]:
    return [line.text for line in draft.answer]


def below(draft: Draft) -> list[tuple[str, list[str]]]:
    return [
        (section.heading, [line.text for line in section.sentences]) for section in draft.sections
    ]


WHO = "Who chairs the harbour board?"
CHAIR = "Ada Holm chairs the harbour board."


def test_without_findings_there_is_no_lead_and_everything_is_missing() -> None:
    draft = write(WHO, ())
    assert (draft.answer, draft.sections, draft.missing) == ((), (), (WHO,))


def test_an_unsure_answer_is_the_nearest_passages_the_best_first() -> None:
    draft = write(WHO, findings("The harbour is deep.", CHAIR))
    assert lines(draft) == [f"{UNSURE} {NEAREST}", CHAIR, "The harbour is deep."]
    assert draft.missing == (WHO,)


def test_every_passage_is_cited() -> None:
    draft = write(WHO, findings("The harbour is deep.", CHAIR))
    assert [line.findings for line in draft.answer] == [(), ("F2",), ("F1",)]


def test_copies_are_shown_once() -> None:
    draft = write(WHO, findings(CHAIR, CHAIR))
    assert lines(draft) == [f"{UNSURE} {NEAREST}", CHAIR]


def test_the_lead_has_a_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "LEAD_WORDS", 8)
    draft = write(WHO, findings(CHAIR, "The harbour board meets.", "The board is old."))
    assert lines(draft) == [f"{UNSURE} {NEAREST}", CHAIR]


def test_the_likeliest_answer_comes_first_and_once() -> None:
    held = standing(
        "Bo Lind sits there.", HypothesisStatus.UNDECIDED, 0.5, answer="Bo", supporting=("F2",)
    )
    draft = write(WHO, findings(CHAIR, "Bo Lind sits there."), (held,))
    assert lines(draft) == [f"{UNSURE} {LIKELIEST}", "Bo Lind sits there."]
    assert below(draft) == [(PASSAGES_FOUND, [CHAIR])]
    assert draft.missing == (WHO,)


def test_a_weak_answer_is_called_possible_and_a_weaker_one_is_none() -> None:
    held = standing(
        "Bo Lind sits there.", HypothesisStatus.UNDECIDED, 0.3, answer="Bo", supporting=("F2",)
    )
    found = findings(CHAIR, "Bo Lind sits there.")
    assert lines(write(WHO, found, (held,))) == [f"{UNSURE} {POSSIBLE}", "Bo Lind sits there."]
    weaker = held.model_copy(update={"posterior": 0.19})
    assert lines(write(WHO, found, (weaker,)))[0] == f"{UNSURE} {NEAREST}"


def test_an_answer_that_no_finding_tells_is_not_the_lead() -> None:
    held = standing("Bo sits there.", HypothesisStatus.UNDECIDED, 0.5, answer="Bo", supporting=())
    assert lines(write(WHO, findings(CHAIR), (held,))) == [f"{UNSURE} {NEAREST}", CHAIR]


NAMES = ("Ada", "Bo", "Cy")
MORE = ("Cranes rust quickly here.", "Ferries sail every winter.", "Nets dry along walls.")


def test_several_likely_answers_come_in_order_without_the_unlikely() -> None:
    told = [f"{name} chairs the harbour board." for name in NAMES]
    held = [
        standing(
            text,
            HypothesisStatus.UNDECIDED,
            belief,
            answer=name,
            label=f"H{n}",
            supporting=(f"F{n}",),
        )
        for n, (name, text, belief) in enumerate(zip(NAMES, told, (0.4, 0.5, 0.1), strict=True), 1)
    ]
    texts = [
        finding(f"{text} {more}", f"F{n}", title=name)
        for n, (name, text, more) in enumerate(zip(NAMES, told, MORE, strict=True), 1)
    ]
    draft = write(WHO, tuple(texts), tuple(held))
    assert lines(draft) == [f"{UNSURE} {LIKELIEST_OF}", told[1], told[0], BELOW]
    assert below(draft)[0] == (OTHER_ANSWERS, [told[2]])


def test_of_answers_that_exclude_each_other_the_likelier_is_the_lead() -> None:
    told = [f"{name} chairs the harbour board and keeps its seal." for name in ("Ada", "Bo")]
    held = [
        standing(
            text, HypothesisStatus.UNDECIDED, belief, answer=name, label=name, supporting=(label,)
        )
        for name, label, text, belief in zip(
            ("Ada", "Bo"), ("F1", "F2"), told, (0.2, 0.5), strict=True
        )
    ]
    found = [finding(text, f"F{n}", title=f"T{n}") for n, text in enumerate(told, 1)]
    draft = write(WHO, tuple(found), tuple(held))
    assert lines(draft) == [f"{UNSURE} {LIKELIEST}", told[1], BELOW]
    assert below(draft) == [(OTHER_ANSWERS, [told[0]])]
    even = [item.model_copy(update={"posterior": 0.5}) for item in held]
    assert lines(write(WHO, tuple(found), tuple(even))) == [f"{UNSURE} {LIKELIEST_OF}", *told]


def test_hearsay_stays_in_the_quote() -> None:
    passage = "Ada Holm chairs the harbour board. People say that Bo Lind chairs the harbour board."
    draft = write(WHO, (finding(passage, "F1"),))
    assert lines(draft) == [f"{UNSURE} {NEAREST}", CHAIR]


def test_the_head_of_a_letter_stays_in_the_quote() -> None:
    head = "From: Ada Holm <a.holm@harbour.example> To: Bo Lind Subject: Harbour board"
    passage = f"{head}\n\n{CHAIR}"
    assert lines(write(WHO, (finding(passage, "F1"),))) == [f"{UNSURE} {NEAREST}", CHAIR]
    assert lines(write(WHO, (finding(head, "F1"),)))[1:] == [head]


def test_hearsay_is_shown_where_there_is_nothing_else() -> None:
    rumour = "People say that Bo Lind chairs the harbour board."
    assert lines(write(WHO, (finding(rumour, "F1"),)))[1:] == [rumour]


def test_overlapping_passages_say_a_sentence_once() -> None:
    whole = finding(f"{CHAIR} The harbour board meets on Mondays.", "F1")
    draft = write(WHO, (finding(CHAIR, "F2"), whole))
    assert " ".join(lines(draft)).count(CHAIR) == 1


def test_a_supported_answer_is_the_lead() -> None:
    draft = write(WHO, findings(CHAIR), (standing(CHAIR, answer="Ada Holm", supporting=("F1",)),))
    assert lines(draft) == [CHAIR]
    assert draft.missing == ()


def test_a_yes_or_no_is_said() -> None:
    said = "No crack was found in the wall."
    draft = write(
        "Is there a crack in the wall?",
        findings(said),
        (standing(said, answer="no", supporting=("F1",)),),
    )
    assert lines(draft) == ["No.", said]


def test_other_values_are_told_and_not_struck_out() -> None:
    other = "Bo Lind chairs the harbour board."
    draft = write(
        WHO,
        findings(CHAIR, other),
        (
            standing(CHAIR, answer="Ada", supporting=("F1",)),
            standing(
                other, HypothesisStatus.UNDECIDED, 0.5, answer="Bo", label="H2", supporting=("F2",)
            ),
        ),
    )
    assert lines(draft) == [CHAIR, OTHER_VALUES, other]


def test_a_timeline_is_in_order_of_time() -> None:
    found = findings(
        "The dam permit was granted on 11 June 2018.",
        "The dam plans were announced on 4 November 2016.",
        "The dam is high.",
    )
    draft = write("Give me a timeline of the dam.", found)
    assert lines(draft)[1:3] == [found[1].statement, found[0].statement]


def test_steps_are_a_line_each_and_stay_in_order() -> None:
    steps = finding("Close the clamp of the pump. Then press START on the pump.", "F1")
    draft = write("How do I start the pump?", (steps, finding("The pump is grey.", "F2")))
    assert lines(draft)[1:3] == ["Close the clamp of the pump.", "Then press START on the pump."]
    assert draft.missing == ()


def test_what_a_manual_says_of_a_term_is_one_line() -> None:
    entry = finding("-L, --location\n  Follow redirects. The way back is not followed.", "F1")
    draft = write("How do I follow redirects?", (entry, finding("It is a tool.", "F2")))
    assert lines(draft)[1] == ("-L, --location Follow redirects.\nThe way back is not followed.")


def test_the_entry_that_a_question_names_comes_first() -> None:
    found = findings(
        "Names may be given to rsync with --exclude-from.",
        "--exclude-from=FILE\n  What rsync leaves out stands in FILE.",
    )
    told = lines(write("What does --exclude-from do in rsync?", found))
    assert told[1].startswith("--exclude-from=FILE")


@pytest.mark.parametrize(
    ("question", "unnamed"),
    [
        ("How do I move binary files over to Git LFS?", "Git LFS"),
        ("How do I move binary files over to Git LFS or OAuth2?", "Git LFS or OAuth2"),
    ],
)
def test_a_name_that_no_passage_has_is_told(question: str, unnamed: str) -> None:
    draft = write(question, findings("How to move binary files with Git: move the files over."))
    assert lines(draft)[0] == f"{UNSURE} {NOT_NAMED.format(unnamed)} {NEAREST}"
    assert draft.missing == (question,)


@pytest.mark.parametrize(
    "question",
    [
        "How do I move binary files with Git?",
        "How do I move the binary file with Gits?",
        "How do I move binary files? I use SVN at home.",
        "How Do I Move The Binary Files Over There?",
        "HOW DO I MOVE BINARY FILES OVER TO A SERVER?",
        "How do I tell the Difference when I move binary files?",
    ],
)
def test_a_name_that_a_passage_has_is_not_told(question: str) -> None:
    draft = write(question, findings("How to move binary files with Git: move the files over."))
    assert lines(draft)[0] == INTRODUCED[Form.HOW_TO]
    assert draft.missing == ()


def test_a_name_may_stand_in_the_title_of_the_document() -> None:
    found = finding("How to move binary files: move them.", "F1", title="Git LFS for all")
    assert write("How do I move binary files over to Git LFS?", (found,)).missing == ()


def test_things_compared_come_in_turn() -> None:
    found = findings(
        "Sable needs three nodes as a queue.",
        "Sable was chosen as a queue first.",
        "Marten needs two nodes.",
    )
    told = lines(write("Compare Sable and Marten as queues.", found))
    assert told.index(found[2].statement) < told.index(found[1].statement)


def test_an_overview_hears_each_source_before_the_third_of_any() -> None:
    found = (
        *(finding(f"The dam dispute had stage {n}.", f"F{n}", title="One") for n in range(1, 4)),
        finding("The dispute was settled.", "F4", title="Other"),
    )
    told = lines(write("Give me an overview of the dam dispute.", found))
    assert told.index("The dispute was settled.") < told.index("The dam dispute had stage 3.")


def test_what_else_was_found_is_in_the_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "PASSAGES", 1)
    draft = write(WHO, findings(CHAIR, "The harbour board meets on Mondays."))
    (section,) = draft.sections
    assert "The harbour board meets on Mondays." in [line.text for line in section.sentences]


def test_a_table_answers_with_its_calculation() -> None:
    rows = (
        "| Farm: North Lea | Owner: A. Bream | Hectares: 4.4",
        "| Farm: South Lea | Owner: A. Bream | Hectares: 1.9",
    )
    found = tuple(
        finding(row[2:], f"F{n}", title="Farms").model_copy(update={"quote": row})
        for n, row in enumerate(rows, 1)
    )
    question = "How many hectares in total do the farms of A. Bream have?"
    told = standing("A. Bream has 6.3.", answer="6.3", supporting=("F1", "F2"))
    (line,) = write(question, found, (told,)).answer
    assert "6.3" in line.text
    assert line.findings == ("F1", "F2")
    assert line.expression


def test_what_else_was_found_stands_below_the_title_of_its_document() -> None:
    found = (
        finding(CHAIR, "F1", title="Minutes"),
        *(finding(f"The harbour board met {n} times.", f"F{n}", title="Log") for n in (2, 3)),
        finding("The harbour board is old.", "F4", title=""),
    )
    told = dict(below(write(WHO, found, (standing(CHAIR, supporting=("F1",)),))))
    assert told["Log"] == [account.ALSO, found[1].statement, found[2].statement]
    assert set(told) <= {"Log", account.ELSE}


def test_findings_are_ranked_by_their_bearing() -> None:
    ranked = rank_findings(understand(WHO), findings("It rained.", CHAIR))
    assert [item.finding.id for item in ranked] == ["F2", "F1"]
    assert ranked[0].score > ranked[1].score


def test_passages_in_another_language_come_by_words() -> None:
    question = "Wer leitet den Hafenrat und wann wurde der Hafen eröffnet?"
    found = findings("Das Wetter ist schön.", "Der Hafen wurde 1904 eröffnet.")
    draft = write(question, found)
    assert lines(draft)[0] == BY_WORDS
    assert lines(draft)[1] == found[1].statement
    assert draft.missing == (question,)


OVERVIEW = "Give me an overview of the harbour board"


def test_an_account_adds_what_each_document_says() -> None:
    board = [
        finding(f"The harbour board of {name} has {n} members.", f"F{n}", title=name)
        for n, name in enumerate("ABCDEFGHI", 1)
    ]
    draft = write(OVERVIEW, tuple(board))
    assert below(draft) == [("H", [board[7].quote]), ("I", [board[8].quote])]
    assert lines(draft)[1:] == [item.quote for item in board[:7]]


def test_an_account_whose_lead_tells_all_has_no_more() -> None:
    assert below(write(OVERVIEW, findings("The harbour board has 9 members in all."))) == []


def test_a_sentence_is_cited_by_the_shortest_quote_that_has_it() -> None:
    board = [
        finding(f"The harbour board of {name} has {n} members.", f"F{n}", title=name)
        for n, name in enumerate("ABCDEFG", 1)
    ]
    said = "The harbour board met 20 times in all."
    whole = finding(f"{said} It rained.", "F8", title="H")
    (section,) = write(OVERVIEW, (*board, whole, finding(said, "F9", title="H"))).sections
    assert [(line.text, line.findings) for line in section.sentences] == [(said, ("F9",))]


def test_what_only_stands_around_a_passage_is_not_told_below() -> None:
    board = [
        finding(f"The harbour board of {name} has {n} members.", f"F{n}", title=name)
        for n, name in enumerate("ABCDEFG", 1)
    ]
    around = finding("The harbour board met 20 times. It rained on 12 days.", "F8", title="H")
    alone = finding("The harbour board of I met 9 times.", "F9", title="I")
    assert below(write(OVERVIEW, (*board, around, alone))) == [("I", [alone.quote])]


def test_a_document_without_a_title_is_told_below_a_fixed_heading() -> None:
    board = [
        finding(f"The harbour board of {name} has {n} members.", f"F{n}", title=name)
        for n, name in enumerate("ABCDEFG", 1)
    ]
    bare = finding("The harbour board of H has 8 members.", "F8", title="")
    assert below(write(OVERVIEW, (*board, bare))) == [(account.ELSE, [bare.quote])]


def test_a_passage_takes_the_place_of_its_sentence_that_stands_alone() -> None:
    best = "The harbour board has 9 members in all."
    other = "The harbour board of Lund has a chair."
    around = f"{best} Three of them are elected. The others are sent by the towns."
    found = (finding(best, "F1"), finding(other, "F2"), finding(around, "F3"))
    draft = write(OVERVIEW, found)
    assert lines(draft)[1:] == ["\n".join(around.replace(". ", ".\n").split("\n")), other]
    assert draft.answer[1].findings == ("F3",)


def test_of_a_passage_half_of_which_is_told_nothing_more_is() -> None:
    best = "The harbour board has 9 members in all."
    around = f"{best} All crossings are cancelled."
    draft = write(OVERVIEW, (finding(best, "F1"), finding(around, "F2")))
    assert lines(draft)[1:] == [best]
    assert below(draft) == []


def test_what_bears_much_less_is_not_told_below_an_answer() -> None:
    near = "The harbour board has a chair who is elected."
    far = "The harbour is deep and the water is cold in winter."
    held = (standing(CHAIR, answer="Ada Holm", supporting=("F1",)),)
    told = " ".join(
        text for _, texts in below(write(WHO, findings(CHAIR, near, far), held)) for text in texts
    )
    assert near in told
    assert far not in told
