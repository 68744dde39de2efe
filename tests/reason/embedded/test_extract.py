"""Sentences that bear on the problem are quoted word for word, and names become leads."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.reason.embedded import reader_answers
from deepdiver.reason.embedded.extract import (
    HEARD_AGAINST,
    HEARD_TOO,
    MOST_FINDINGS,
    MOST_LEADS,
    extract,
    quotable,
    statement_of,
)
from deepdiver.tasks import ExtractFindings, Extraction, NumberedText
from tests.patience import in_proportion
from tests.reason.embedded.reader import teach
from tests.texts import parts_of, shown_text

CHILDREN = "How old are the children of the parents who run Acme Ltd?"
RUN = "Ada and Bo Berg run the company Acme Ltd together."


def text_of(
    body: str, label: str = "T1", title: str = "A text", publisher: str = "", published: str = ""
) -> NumberedText:
    return shown_text(id=label, title=title, publisher=publisher, published=published, text=body)


def taken(
    question: str, *texts: NumberedText | str, problem: str = "", known: tuple[str, ...] = ()
) -> Extraction:
    shown = tuple(
        t if isinstance(t, NumberedText) else text_of(t, f"T{n}") for n, t in enumerate(texts, 1)
    )
    return extract(
        ExtractFindings(
            question=question, problems=parts_of(problem or question), texts=shown, known=known
        )
    )


def quotes(extraction: Extraction) -> list[str]:
    return [item.quote for item in extraction.findings]


# -- what is quoted


def test_the_sentence_that_answers_is_quoted_and_the_others_are_not() -> None:
    body = f"It rained all day. {RUN} The cellar smells of stone. Cy Lund runs Bolt Ltd."
    assert quotes(taken("Who runs Acme Ltd?", body)) == [RUN]


def test_a_quote_is_exact_and_its_statement_one_line() -> None:
    body = (
        "The ship\nlay still. Six people were hurt in the fire on the ferry\nMeridian, all of them "
        "by smoke.\n\nEnd."
    )
    (item,) = taken("How many people were hurt in the fire on the ferry Meridian?", body).findings
    assert item.quote in body
    assert "\n" in item.quote
    assert (
        item.statement
        == "Six people were hurt in the fire on the ferry Meridian, all of them by smoke."
    )


def test_a_finding_names_its_text() -> None:
    found = taken(
        "Who runs Acme Ltd?", "Nothing here.", RUN, "Ada Berg is managing director of Acme Ltd."
    )
    assert [item.source for item in found.findings] == ["T2", "T3"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        " \n\n ",
        "# Heading",
        "The weather was fine.",
        "Bolt Ltd is run by Cy Lund.",
        "Acme Ltd makes cheese.",
    ],
)
def test_where_nothing_is_to_the_point_nothing_is_found(body: str) -> None:
    found = taken("Who runs Acme Ltd?", body)
    assert found.findings == ()
    assert found.leads == ()


def test_no_texts_give_no_findings() -> None:
    assert taken("Who runs Acme Ltd?") == Extraction(findings=())


def test_rivals_are_quoted_too() -> None:
    found = quotes(
        taken(
            "How many people died at the Tarn Bridge?",
            "Two people died at the Tarn Bridge.",
            "Three people died at the Tarn Bridge.",
            "Nine people died at the mill.",
        )
    )
    assert found == ["Two people died at the Tarn Bridge.", "Three people died at the Tarn Bridge."]


def test_sentences_for_every_clause_of_the_question_are_quoted() -> None:
    body = (
        f"{RUN} Ada and Bo Berg have a daughter, Eve Berg. Eve Berg, born on 14 March 2011, won. "
        "Cy Lund, 27, lost."
    )
    assert len(taken(CHILDREN, body).findings) == 3


def test_what_is_known_opens_the_next_clause() -> None:
    body = "Ada and Bo Berg have a daughter, Eve Berg."
    assert quotes(taken(CHILDREN, body)) == []
    assert quotes(taken(CHILDREN, body, known=(RUN,))) == [body]


def test_a_sentence_that_leans_is_quoted_with_the_one_that_names() -> None:
    body = (
        "Eve Berg, born on 14 March 2011, won the race. Her parents, Ada and Bo Berg, drove the "
        "bus."
    )
    assert quotes(taken(CHILDREN, body, known=(RUN,))) == [body]


def test_it_goes_back_further_where_the_sentence_before_names_nobody() -> None:
    body = (
        'Ines Calder lives above the shop. "I never wanted to leave," she says.\n\nHer daughter, '
        "Ruth Calder, runs it."
    )
    assert quotes(taken("Who is the daughter of Ines Calder?", body)) == [body]


def test_a_sentence_that_leans_on_nothing_is_quoted_alone() -> None:
    assert [item.quote for item in quotable(text_of("They left. It rained."))] == [
        "They left.",
        "It rained.",
    ]


def test_an_event_that_dates_the_answer_is_quoted_with_it() -> None:
    log = (
        "03:05. The steamer Meridian struck the reef.\n03:12. The engine room of the steamer "
        "Meridian is flooded.\n"
    )
    found = quotes(
        taken("What happened a few minutes after the steamer Meridian struck the reef?", log)
    )
    assert len(found) == 2


def test_overlapping_quotes_are_not_both_taken() -> None:
    body = "Ada Berg runs Acme Ltd. She is managing director of it."
    found = quotes(taken("Who runs Acme Ltd?", body))
    assert len(found) == 1


def test_there_are_at_most_so_many_findings() -> None:
    body = " ".join(f"Person{chr(97 + n)} Berg runs Acme Ltd." for n in range(26))
    assert len(taken("Who runs Acme Ltd?", body).findings) <= MOST_FINDINGS


def test_findings_come_in_the_order_of_the_texts() -> None:
    found = taken(
        "How many people died at the Tarn Bridge?",
        "Some people died at the Tarn Bridge: three people died at the Tarn Bridge.",
        "Two people died at the Tarn Bridge.",
    )
    assert [item.source for item in found.findings] == sorted(
        item.source for item in found.findings
    )


# -- a statement under test


def test_what_speaks_against_a_statement_is_found() -> None:
    found = taken(
        "Did an electric car cause the fire on the ferry Meridian?",
        "No electric car was on board the ferry Meridian on that day. The quay is long.",
        problem="An electric car exploded on board the ferry Meridian on that day.",
    )
    assert quotes(found) == ["No electric car was on board the ferry Meridian on that day."]


def test_the_question_is_asked_of_the_names_in_a_statement() -> None:
    found = taken(
        CHILDREN,
        text_of("From memory: Eve is 17 and Finn is 14.", published="2025-07-19"),
        problem="Eve Berg is 15 years old on 2026-11-15 (born on 14 March 2011).",
    )
    assert quotes(found) == ["From memory: Eve is 17 and Finn is 14."]


def test_a_gap_in_other_words_is_looked_into_as_well() -> None:
    found = taken(
        "Who runs Acme Ltd?", "Bolt Ltd was founded in 1904.", problem="When was Bolt Ltd founded?"
    )
    assert quotes(found) == ["Bolt Ltd was founded in 1904."]


# -- leads


def test_those_who_fill_a_hole_are_leads() -> None:
    assert taken(CHILDREN, RUN).leads == ("Ada Berg", "Bo Berg")


def test_what_the_question_names_is_no_lead() -> None:
    assert "Acme Ltd" not in taken(CHILDREN, RUN).leads


def test_what_is_known_is_no_lead_again() -> None:
    assert taken(CHILDREN, RUN, known=(RUN,)).leads == ()


def test_a_child_gets_its_parents_surname_for_the_search() -> None:
    found = taken(
        CHILDREN,
        "Ada and Bo Berg have two children: Eve, who is 13, and Finn, who is 10.",
        known=(RUN,),
    )
    assert found.leads == ("Eve Berg", "Finn Berg")


def test_who_is_settled_is_no_lead() -> None:
    found = taken(
        CHILDREN,
        f"{RUN} Ada and Bo Berg have a daughter, Eve Berg. Eve Berg, born on 14 March 2011, won.",
    )
    assert "Eve Berg" not in found.leads


def test_every_step_towards_an_ultimate_parent_is_a_lead() -> None:
    question = "Who is chair of the company that is the ultimate parent of Acme Ltd?"
    assert "Bolt Ltd" in taken(question, "All shares in Acme Ltd are held by Bolt Ltd.").leads


def test_a_name_of_the_class_asked_for_is_a_lead() -> None:
    question = "Which animal was removed from the island of the blue light study?"
    found = taken(
        question, "The animal was removed from Skarn Island, where the blue light study was made."
    )
    assert found.leads == ("Skarn Island",)


def test_the_answer_to_the_last_clause_is_no_lead() -> None:
    assert taken("Who runs Acme Ltd?", RUN).leads == ()


def test_leads_are_few() -> None:
    known = (RUN,)
    names = ", ".join(f"Child{chr(97 + n)} Berg" for n in range(12))
    assert (
        len(taken(CHILDREN, f"Ada and Bo Berg have twelve children: {names}.", known=known).leads)
        <= MOST_LEADS
    )


# -- plain statements


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("The dam\n  broke.", "The dam broke."),
        ("The **dam** broke.", "The dam broke."),
        ("*The dam broke.*", "The dam broke."),
        ("**", "**"),
        ("", ""),
    ],
)
def test_a_statement_is_a_plain_line(quote: str, expected: str) -> None:
    assert statement_of(quote) == expected


# -- any input

PIECES = st.sampled_from(
    [
        "Ada Berg runs Acme Ltd. ",
        "Her son is Bo Berg. ",
        "03:05. ",
        "\n",
        "\n\n",
        "# Title\n",
        "**Label.** ",
        "- item\n",
        "Born on 3 May 2001, ",
        "“quoted” ",
        "東京。",
        "\u00ad",
        "\u2028",
        "ﬁre ",
        "*",
    ]
)
QUESTIONS = st.sampled_from(
    ["Who runs Acme Ltd?", CHILDREN, "Did Ada Berg run Acme Ltd?", "", "When?", "東京?"]
)


@given(
    st.lists(st.one_of(PIECES, st.text(max_size=60)), max_size=12), QUESTIONS, st.text(max_size=60)
)
def test_every_quote_stands_in_its_text(parts: list[str], question: str, problem: str) -> None:
    body = "".join(parts)
    found = taken(question, body, problem=problem or question)
    for item in found.findings:
        assert item.quote
        assert item.quote in body
        assert item.source == "T1"
        assert item.statement
    assert len(found.leads) <= MOST_LEADS


@given(
    st.lists(st.text(max_size=300), max_size=4),
    st.text(max_size=120),
    st.lists(st.text(max_size=120), max_size=3),
)
@settings(max_examples=60)
def test_no_input_raises_and_the_same_gives_the_same(
    bodies: list[str], question: str, known: list[str]
) -> None:
    first = taken(question, *bodies, known=tuple(known))
    assert first == taken(question, *bodies, known=tuple(known))


@pytest.mark.parametrize(
    "body", ["Ada Berg runs Acme Ltd. " * 40_000, "x" * 1_000_000, "a b\n" * 250_000]
)
def test_a_megabyte_is_read_in_proportion(body: str) -> None:
    with in_proportion():
        taken("Who runs Acme Ltd?", body)


# -- what is open


WHICH, WHO, HOW_OLD = (
    "Which parents run Acme Ltd?",
    "Who are the children of the parents?",
    "How old are the children?",
)


def left(
    *texts: str, known: tuple[str, ...] = (), unanswered: tuple[str, ...] = (WHICH, WHO, HOW_OLD)
) -> list[str]:
    shown = tuple(text_of(body, f"T{n}") for n, body in enumerate(texts, 1))
    task = ExtractFindings(
        question=CHILDREN,
        problems=parts_of(CHILDREN),
        texts=shown,
        known=known,
        unanswered=unanswered,
    )
    return list(extract(task).questions)


def test_where_nobody_asks_what_is_open_nothing_is_said() -> None:
    assert left(RUN, unanswered=()) == []


def test_what_no_text_answers_stays_open_word_for_word() -> None:
    assert left("It rained all day.") == [WHICH, WHO, HOW_OLD]
    assert left(RUN) == [WHO, HOW_OLD]
    assert left("Ada and Bo Berg have a daughter, Eve Berg.", known=(RUN,)) == [HOW_OLD]


def test_what_is_known_and_read_together_answers() -> None:
    assert (
        left(
            "Eve Berg, born on 14 March 2011, won.",
            known=(RUN, "Ada and Bo Berg have a daughter, Eve Berg."),
        )
        == []
    )


def test_of_several_children_those_without_an_age_are_asked_for_by_name() -> None:
    known = (RUN, "Ada and Bo Berg have two daughters, Eve Berg and Ida Berg.")
    assert left("Eve Berg, born on 14 March 2011, won.", known=known) == ["How old is Ida Berg?"]


def test_an_open_question_of_somebody_else_is_closed_only_by_an_answer() -> None:
    asked = ("Who owns Bolt Ltd?",)
    assert left(RUN, unanswered=asked) == ["Who owns Bolt Ltd?"]
    task = ExtractFindings(
        question=CHILDREN,
        problems=parts_of("Who owns Bolt Ltd?"),
        texts=(text_of("Bolt Ltd is owned by Cy Lund."),),
        unanswered=asked,
    )
    assert extract(task).questions == ()


@given(st.lists(st.text(max_size=60), max_size=15), st.text(max_size=200))
def test_any_open_question_is_lived_with_and_none_is_made_up(
    unanswered: list[str], body: str
) -> None:
    said = left(body, unanswered=tuple(unanswered))
    assert len(said) <= 12
    assert all(question in unanswered or question.startswith("How old is") for question in said)


# -- the reader

STATE = "Ada Berg played for a team based in what state?"
ADA = text_of("Ada Berg ran far. She played for the Morden Terns.", "T1", "Ada Berg")
TERNS = text_of("The Morden Terns are a team. They are based in Westland.", "T2", "Morden Terns")


def test_where_the_rules_know_nothing_the_reader_finds_the_sentence_and_the_one_that_led_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {}, whole={("played for", "Westland"): ("Westland", 0.5)})
    found = taken(STATE, ADA, TERNS)
    assert "The Morden Terns are a team. They are based in Westland." in quotes(found)
    assert "Ada Berg ran far. She played for the Morden Terns." in quotes(found)


@pytest.mark.parametrize(
    ("score", "quoted"), [(HEARD_AGAINST, True), (HEARD_AGAINST - 0.01, False)]
)
def test_in_a_text_of_which_the_rules_are_sure_the_reader_is_heard_where_it_is_very_sure(
    monkeypatch: pytest.MonkeyPatch, score: float, quoted: bool
) -> None:
    founded, other = (
        "Acme Ltd was founded in 1904.",
        "The beginnings of Acme lie in 1931, with a shed.",
    )
    teach(monkeypatch, {"1931": score})
    assert quotes(taken("When was Acme Ltd founded?", f"{founded} {other}")) == [
        founded,
        *([other] if quoted else []),
    ]


def test_where_the_rules_are_sure_nothing_known_from_before_is_quoted_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"1931": 0.9})
    known = ("The beginnings of Acme lie in 1931, with a shed.",)
    founded = "Acme Ltd was founded in 1904."
    assert quotes(taken("When was Acme Ltd founded?", founded, known=known)) == [founded]


@pytest.mark.parametrize(("score", "quoted"), [(HEARD_TOO, True), (HEARD_TOO - 0.01, False)])
def test_of_other_texts_than_the_rules_are_sure_of_the_reader_is_heard_where_it_is_sure_too(
    monkeypatch: pytest.MonkeyPatch, score: float, quoted: bool
) -> None:
    founded, other = (
        "Acme Ltd was founded in 1904.",
        "The beginnings of Acme lie in 1931, with a shed.",
    )
    teach(monkeypatch, {"1931": score, "1904": 0.9})
    found = taken("When was Acme Ltd founded?", founded, other)
    assert quotes(found) == ([founded, other] if quoted else [founded])
    assert found.leads == ()


def test_what_is_asked_within_the_question_is_quoted_and_the_next_question_is_a_lead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    born = "Ada Berg was born in Morden."
    teach(monkeypatch, {}, whole={("Ada Berg was born",): ("Morden", 0.6)})
    found = taken(
        "What is the main export of the city where Ada Berg was born?",
        text_of(born, title="Ada Berg"),
    )
    assert born in quotes(found)
    assert found.leads[0] == "What is the main export of Morden?"


@pytest.mark.parametrize(
    "question", ["Why did Ada Berg run?", CHILDREN, "Who is Ada Berg? When did she run?"]
)
def test_what_a_few_words_cannot_answer_is_not_asked_of_the_reader(
    monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    monkeypatch.setattr(reader_answers, "_span", lambda *_: pytest.fail("it was asked"))
    taken(question, ADA, TERNS)


@pytest.mark.parametrize(
    ("body", "quoted"),
    [("Cy Lund owns Ister Hall.", 0), ("Cy Lund designed Ister Hall with care.", 1)],
)
def test_a_name_of_which_nothing_asked_is_said_is_not_quoted(
    monkeypatch: pytest.MonkeyPatch, body: str, quoted: int
) -> None:
    teach(monkeypatch, {"Cy Lund": 0.9})
    assert (
        len(taken("Which famous architect designed Ister Hall in Quorn?", body).findings) == quoted
    )


def test_a_name_that_the_reader_takes_for_the_answer_leads_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"Morden Terns": 0.4})
    assert "Morden Terns" in taken(STATE, ADA).leads
    assert "Morden Terns" not in taken(STATE, ADA, TERNS).leads  # it has been read about
    assert "Morden Terns" not in taken(STATE, ADA, known=("The Morden Terns are a team.",)).leads


def test_a_text_about_what_the_question_names_is_a_step_on_the_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {})
    found = taken(
        "What is the area of the town where Ada Berg was born?",
        text_of("She is of Quorn.", title="Ada Berg"),
    )
    assert quotes(found) == ["She is of Quorn."]
    assert found.leads == ("Quorn",)


def test_what_is_known_leads_to_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {}, whole={("played for", "Westland"): ("Westland", 0.5)})
    found = taken(STATE, TERNS, known=("Ada Berg played for the Morden Terns.",))
    assert any("Westland" in quote for quote in quotes(found))


def test_of_two_that_are_compared_the_first_sentences_are_quoted() -> None:
    one = text_of("Ada Berg was born in 1931. She sings. She likes tea.", "T1", "Ada Berg")
    other = text_of("Bo Lind was born in 1940. It rained that day.", "T2", "Bo Lind")
    found = quotes(taken("Who is older, Ada Berg or Bo Lind?", one, other))
    assert "Ada Berg was born in 1931." in found
    assert "Bo Lind was born in 1940." in found
    assert "It rained that day." not in found


@given(st.text(max_size=200))
@settings(max_examples=25)
def test_whatever_the_reader_points_at_is_quoted_exactly(body: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        teach(patch, dict.fromkeys(body.split()[:2], 0.5))
        found = taken(STATE, text_of(body))
    assert all(quote in body for quote in quotes(found))
