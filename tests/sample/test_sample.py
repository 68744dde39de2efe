"""The sample library has what its questions promise, and contradicts itself only on purpose."""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import date, datetime
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from deepdiver import sample
from deepdiver.sample import LIBRARY, Question, QuestionKind, questions

KINDS = {
    *("register", "official", "company", "newspaper", "wire", "blog"),
    *("forum", "scientific", "minutes", "newsletter", "log"),
}
REQUIRED = ["title", "publisher", "kind", "published", "url"]
SYNDICATED = {
    "harbour/vantskar-posten.md",
    "harbour/kustbladet.txt",
    "harbour/nordkusten-nyheter.md",
}
AGE_QUESTIONS = {"svedjan-children", "svedjan-children-seed"}
SEED_QUESTION = (
    "What is the age of the children for the parents which run the company Svedjan Ost AB."
)
NEWEST = date(2026, 11, 15)
PACKAGE_LIMIT = 400_000
EARTH_KM = 6371.0
QUESTIONS = {question.id: question for question in questions()}


class Document(NamedTuple):
    """A document of the library, taken apart."""

    header: list[tuple[str, str]]
    body: str


def read(path: Path) -> Document:
    """Split a document into its front matter and its body, strictly."""
    text = path.read_text(encoding="utf-8")
    found = re.fullmatch(r"---\n((?:[a-z]+: \S.*\n)+)---\n(.+)", text, flags=re.DOTALL)
    assert found, f"{path}: no front matter of 'key: value' lines between two --- lines"
    lines = [line.partition(": ") for line in found[1].splitlines()]
    return Document([(key, value) for key, _, value in lines], found[2])


DOCUMENTS = {
    path.relative_to(LIBRARY).as_posix(): read(path)
    for path in sorted(LIBRARY.rglob("*"))
    if path.is_file()
}


def flat(name: str) -> str:
    """The body of a document with every run of white space as one blank."""
    return " ".join(DOCUMENTS[name].body.split())


def holds(text: str, words: str) -> bool:
    """Whether the text holds the words as whole words, letter case aside."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, flags=re.IGNORECASE) is not None


def shingles(name: str) -> set[tuple[str, ...]]:
    """All runs of five words in a document."""
    words = re.findall(r"\w+", DOCUMENTS[name].body.lower())
    return {tuple(words[start : start + 5]) for start in range(len(words) - 4)}


def day(text: str) -> date:
    """Read a date as the documents write it: 14 March 2011."""
    return datetime.strptime(f"{text} +0000", "%d %B %Y %z").date()


def age(born: date, on: date) -> int:
    """Full years from birth to a day."""
    return on.year - born.year - ((on.month, on.day) < (born.month, born.day))


def births() -> dict[str, date]:
    """The birth date of every Kvarnlöf child, from all documents that state one."""
    found = re.findall(r"(\w+) Kvarnlöf, born on (\d+ \w+ \d{4})", " ".join(map(flat, DOCUMENTS)))
    assert len({name for name, _ in found}) == len(set(found)), (
        "two documents give different birth dates"
    )
    return {name: day(text) for name, text in found}


def position(name: str, before: str) -> tuple[float, float]:
    """The first position, in degrees, that a document gives after some words."""
    found = re.search(rf"{re.escape(before)}.*?(\d+\.\d{{4}}) N, (\d+\.\d{{4}}) E", flat(name))
    assert found, f"{name}: no position after {before!r}"
    return float(found[1]), float(found[2])


def kilometres(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The distance between two positions along the surface of the earth."""
    (lat_a, lon_a), (lat_b, lon_b) = (tuple(map(math.radians, point)) for point in (a, b))
    half = math.sin((lat_b - lat_a) / 2) ** 2
    half += math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    return 2 * EARTH_KM * math.asin(math.sqrt(half))


# -- reading the questions


def table(**changes: object) -> dict[str, object]:
    """A well-formed question as it comes out of the file, with changes."""
    return {"id": "x", "text": "Why?", "kind": "single", "hops": 1, "answers": ["42"]} | changes


def test_a_question_with_an_unknown_key_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        sample._question(table(colour="blue"))


def test_a_question_with_a_missing_key_is_refused() -> None:
    incomplete = table()
    del incomplete["answers"]
    with pytest.raises(TypeError, match="answers"):
        sample._question(incomplete)


def test_a_question_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="riddle"):
        sample._question(table(kind="riddle"))


def test_a_table_becomes_a_question_that_cannot_be_changed() -> None:
    question = sample._question(table(as_of=NEWEST, support=["a.md"]))
    assert question == Question(
        id="x",
        text="Why?",
        kind=QuestionKind.SINGLE,
        hops=1,
        answers=("42",),
        support=("a.md",),
        as_of=NEWEST,
    )
    assert hash(question) == hash(sample._question(table(as_of=NEWEST, support=["a.md"])))
    with pytest.raises(AttributeError):
        question.hops = 2  # type: ignore[misc]


# -- the documents


def test_there_are_at_least_forty_documents_of_both_formats() -> None:
    suffixes = Counter(Path(name).suffix for name in DOCUMENTS)
    assert set(suffixes) == {".md", ".txt"}
    assert suffixes.total() >= 40
    assert min(suffixes.values()) >= 10


def test_the_documents_lie_in_one_folder_per_affair() -> None:
    assert {Path(name).parent.as_posix() for name in DOCUMENTS} == {
        "svedjan",
        "harbour",
        "lake",
        "seabird",
    }


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_has_a_short_name_and_150_to_800_words(name: str) -> None:
    assert re.fullmatch(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*\.(md|txt)", name)
    assert 150 <= len(DOCUMENTS[name].body.split()) <= 800


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_front_matter_is_complete_and_valid(name: str) -> None:
    header = DOCUMENTS[name].header
    keys = [key for key, _ in header]
    assert keys in (REQUIRED, [*REQUIRED[:3], "author", *REQUIRED[3:]])
    values = dict(header)
    assert values["kind"] in KINDS
    assert date.fromisoformat(values["published"]) <= NEWEST
    url = urlsplit(values["url"])
    assert url.scheme == "https"
    assert url.hostname is not None
    assert url.hostname.endswith(".example")
    # A blank after a colon, or a # after a blank, would mean something else to a YAML reader.
    assert not [value for value in values.values() if ": " in value or " #" in value]


def test_every_kind_of_publisher_occurs() -> None:
    assert {dict(document.header)["kind"] for document in DOCUMENTS.values()} == KINDS


def test_no_two_documents_share_an_address() -> None:
    addresses = Counter(dict(document.header)["url"] for document in DOCUMENTS.values())
    assert [url for url, count in addresses.items() if count > 1] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_mentions_no_address_outside_the_example_domain(name: str) -> None:
    assert re.findall(r"https?://\S+", DOCUMENTS[name].body) == []


def test_only_the_syndicated_story_is_printed_more_than_once() -> None:
    assert set(DOCUMENTS) >= SYNDICATED
    of = {name: shingles(name) for name in DOCUMENTS}
    for a, b in combinations(DOCUMENTS, 2):
        jaccard = len(of[a] & of[b]) / len(of[a] | of[b])
        if {a, b} <= SYNDICATED:
            assert jaccard > 0.8, (a, b)
        else:
            assert jaccard < 0.3, (a, b)


def test_the_syndicated_story_stands_under_three_publishers() -> None:
    assert len({dict(DOCUMENTS[name].header)["publisher"] for name in SYNDICATED}) == 3


def test_the_package_stays_small() -> None:
    folder = Path(sample.__file__).parent
    size = sum(
        path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    assert size < PACKAGE_LIMIT


# -- the questions against the documents


def test_the_questions_cover_what_they_must() -> None:
    kinds = Counter(question.kind for question in QUESTIONS.values())
    hops = Counter(question.hops for question in QUESTIONS.values())
    assert len(QUESTIONS) == len(questions())
    assert 12 <= len(QUESTIONS) <= 16
    assert set(kinds) == set(QuestionKind)
    assert kinds[QuestionKind.SINGLE] >= 2
    assert kinds[QuestionKind.CONFLICT] >= 2
    assert kinds[QuestionKind.UNANSWERABLE] == 1
    assert hops[2] >= 4
    assert hops[3] + hops[4] >= 2


def test_one_question_is_the_demonstration_and_the_seed_asks_the_same() -> None:
    (demo,) = [question for question in QUESTIONS.values() if question.demo]
    (seed,) = [question for question in QUESTIONS.values() if question.text == SEED_QUESTION]
    assert demo.text == "How old are the children of the parents who run Svedjan Ost AB?"
    assert {demo.id, seed.id} == AGE_QUESTIONS
    assert demo.answers == seed.answers
    assert demo.as_of == seed.as_of == NEWEST


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_the_support_of_a_question_exists_and_is_long_enough(question: Question) -> None:
    assert set(question.support) <= set(DOCUMENTS)
    assert len(set(question.support)) == len(question.support)
    if question.kind is QuestionKind.UNANSWERABLE:
        assert not question.support
        assert not question.answers
    else:
        assert len(question.support) >= question.hops >= 1
        assert question.answers


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_a_stated_answer_stands_in_the_support(question: Question) -> None:
    if question.id in AGE_QUESTIONS:
        assert question.as_of is not None
        ages = [age(born, question.as_of) for born in births().values()]
        assert sorted(ages) == sorted(int(answer) for answer in question.answers)
        return
    for answer in question.answers:
        assert any(holds(flat(name), answer) for name in question.support), answer


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_a_wrong_answer_is_planted_in_the_library(question: Question) -> None:
    for wrong in question.must_not:
        assert any(holds(flat(name), wrong) for name in DOCUMENTS), wrong
        assert not any(holds(answer, wrong) for answer in question.answers)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_the_document_where_a_chain_begins_does_not_hold_its_end(question: Question) -> None:
    if question.kind is QuestionKind.MULTIHOP:
        assert question.hops >= 2
        first = flat(question.support[0])
        assert not any(holds(first, answer) for answer in question.answers)


def test_the_unanswerable_question_asks_for_what_no_document_holds() -> None:
    (question,) = [one for one in QUESTIONS.values() if one.kind is QuestionKind.UNANSWERABLE]
    assert question.absent
    assert question.absent in question.text.lower()
    library = " ".join(path.read_text(encoding="utf-8") for path in LIBRARY.rglob("*.*")).lower()
    assert question.absent not in library


# -- coherence: what is not a planted disagreement must agree


def test_the_three_children_are_born_in_three_documents_that_do_not_name_the_company() -> None:
    sources = {
        "Alma": "svedjan/ski-club-newsletter.md",
        "Hjalmar": "svedjan/school-newsletter.txt",
        "Siri": "svedjan/parish-notice.txt",
    }
    assert set(births()) == set(sources)
    for child, name in sources.items():
        assert f"{child} Kvarnlöf, born on" in flat(name)
        assert "Tyra and Eskil Kvarnlöf" in flat(name)
        assert "Svedjan Ost AB" not in flat(name)


@pytest.mark.parametrize(
    "name", ["svedjan/feature-cellar.md", "svedjan/correction-four-children.txt"]
)
def test_ages_that_the_newspaper_states_agree_with_the_birth_dates(name: str) -> None:
    on = date.fromisoformat(dict(DOCUMENTS[name].header)["published"])
    stated = re.findall(r"(Alma|Hjalmar|Siri)(?: Kvarnlöf|, who) is (\d+)", flat(name))
    assert {child: int(years) for child, years in stated} == {
        child: age(born, on) for child, born in births().items()
    }
    assert len(stated) == 3


def test_the_blog_is_wrong_about_every_age() -> None:
    name = "svedjan/blog-cheese-road.md"
    on = date.fromisoformat(dict(DOCUMENTS[name].header)["published"])
    stated = re.findall(r"(Alma|Hjalmar|Siri) is (\d+)", flat(name))
    assert len(stated) == 3
    assert not [child for child, years in stated if int(years) == age(births()[child], on)]


def test_days_of_the_week_agree_with_their_dates() -> None:
    text = " ".join(map(flat, DOCUMENTS))
    weekday = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
    dated = re.findall(rf"({weekday}) (\d+ [A-Z][a-z]+ \d{{4}})", text)
    assert len(dated) >= 3
    assert [(name, on) for name, on in dated if day(on).strftime("%A") != name] == []


@pytest.mark.parametrize(
    ("a", "b", "stated", "expected"),
    [
        (
            ("harbour/port-log.txt", "berth 4:"),
            ("harbour/grid-log.txt", "position"),
            "0.7 kilometres",
            0.7,
        ),
        (
            ("harbour/port-log.txt", "berth 4:"),
            ("harbour/weather-log.txt", "Lighthouse"),
            "1.5 kilometres",
            1.5,
        ),
        (
            ("lake/shift-log.txt", "outfall pipe"),
            ("lake/fishing-club.md", "The place"),
            "600 metres",
            0.6,
        ),
        (
            ("lake/shift-log.txt", "outfall pipe"),
            ("lake/inspectorate-report.md", "Point T3"),
            "150 metres",
            0.15,
        ),
    ],
)
def test_stated_distances_follow_from_the_positions(
    a: tuple[str, str], b: tuple[str, str], stated: str, expected: float
) -> None:
    assert holds(flat(b[0]), stated)
    assert kilometres(position(*a), position(*b)) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("detection", ["Detection 1", "Detection 2"])
def test_the_satellite_saw_berth_4_within_its_uncertainty(detection: str) -> None:
    assert holds(flat("harbour/thermal-bulletin.txt"), "uncertain by about 200 metres")
    berth = position("harbour/port-log.txt", "berth 4:")
    assert kilometres(berth, position("harbour/thermal-bulletin.txt", detection)) < 0.2


def test_the_dip_the_smoke_and_the_satellite_pass_lie_within_minutes() -> None:
    def minute(name: str, pattern: str) -> int:
        found = re.search(pattern, flat(name))
        assert found, (name, pattern)
        return int(found[1]) * 60 + int(found[2])

    dip = minute("harbour/grid-log.txt", r"(\d\d):(\d\d):\d\d UTC\. A voltage dip")
    smoke = minute("harbour/port-log.txt", r"(\d\d):(\d\d) UTC\. Harbour guard reports smoke")
    heat = minute("harbour/thermal-bulletin.txt", r"Detection 1\. At (\d\d):(\d\d) UTC")
    assert dip < smoke < heat <= dip + 15
    overflow = minute(
        "lake/shift-log.txt", r"(\d\d):(\d\d)\. Basin 2 of the Voltnäs plant overflows"
    )
    dead_fish = minute("lake/fishing-club.md", r"at (\d\d):(\d\d) local time on 10 June 2026")
    assert 0 < dead_fish + 24 * 60 - overflow <= 8 * 60


@pytest.mark.parametrize(
    ("name", "lost", "followed", "percent"),
    [
        ("seabird/original-paper.md", 18, 87, 41),
        ("seabird/correction-note.txt", 18, 76, 32),
    ],
)
def test_the_falls_in_predation_follow_from_the_nests(
    name: str, lost: int, followed: int, percent: int
) -> None:
    before = 28 / 80
    assert "28 of 80 nests were lost (35.0 percent)" in flat("seabird/original-paper.md")
    assert round(100 * (1 - lost / followed / before)) == percent
    assert holds(flat(name), str(lost))
    assert holds(flat(name), str(followed))
    assert holds(flat(name), f"{percent} percent")


def test_the_replication_found_what_its_nests_say() -> None:
    text = flat("seabird/replication.md")
    assert "35 of 120 nests with blue lamps and 36 of 120 nests with dummies were lost" in text
    ratio, error = 35 / 36, math.sqrt(1 / 35 + 1 / 36 - 2 / 120)
    low, high = (round(100 * (1 - ratio * math.exp(sign * 1.96 * error))) for sign in (1, -1))
    assert (round(100 * (1 - ratio)), low, high) == (3, -44, 34)
    assert "was 3 percent, with a 95 percent interval from minus 44 to 34 percent" in text


def test_the_council_vote_adds_up() -> None:
    found = re.search(
        r"Present: (\d+) of 41 members.* by (\d+) votes to (\d+) ", flat("lake/council-minutes.md")
    )
    assert found
    present, yes, no = map(int, found.groups())
    assert yes + no == present - 1, "one member, disqualified, left the room"
