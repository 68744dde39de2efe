"""How far a source is believed: within bounds, with reasons, and the user has the last word."""

from __future__ import annotations

import itertools
import re
import tomllib
from datetime import date, timedelta
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import sample
from deepdiver.core.record import Credibility, Mark, SourceKind
from deepdiver.core.settings import Rating, Settings, load
from deepdiver.errors import SettingsError
from deepdiver.tools.credibility import (
    FADING,
    HIGHEST,
    LACKING,
    LOWEST,
    NEAR,
    NEAR_DAYS,
    check_ratings,
    credibility,
    intelligence,
    kind_named,
    longest,
    rating_of,
    table,
)
from deepdiver.tools.hit import Hit
from deepdiver.tools.source_age import AgeNeed, age_need_of

FULL = Hit(url="https://example.org", author="A. Holm", published="2026-02-08", complete=True)
AS_OF = "2026-11-15"
NOW = age_need_of("Who is the chair?", AS_OF)
KINDS = table().kinds
SIGNED = [name for name, kind in KINDS.items() if kind.signed]


def of(
    need: AgeNeed | None = None, ratings: dict[str, Any] | None = None, **known: object
) -> tuple[float, tuple[str, ...]]:
    settings = load({"ratings": ratings}) if ratings else None
    found = credibility(FULL.model_copy(update=known), need, settings)
    return found.score, found.reasons


# -- ratings that are wrong


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("newspapr", "did you mean newspaper?"),
        ("oracle", "known are register, log, official"),
        ("Blogg", "blog?"),
    ],
)
def test_a_rating_of_an_unknown_kind_is_refused(kind: str, says: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(says)) as caught:
        check_ratings({"example.org": Rating(kind=kind)})
    assert "example.org" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_ratings_that_are_right_pass() -> None:
    check_ratings({})
    check_ratings(
        {"a.org": Rating(kind="Press release"), "b.org": Rating(score=0.1), "c.org": Rating()}
    )


def test_a_rating_of_an_unknown_kind_is_a_reason_if_it_could_not_be_refused() -> None:
    score, reasons = of(ratings={"example.org": {"kind": "oracle"}})
    assert score == table().unknown[SourceKind.PAGE].score
    assert "your rating names the kind 'oracle', which is not in the table" in reasons


# -- the table


def test_the_table_is_sound() -> None:
    held = table()
    assert 80 <= len(held.domains) <= 150
    assert set(held.unknown) == set(SourceKind)
    assert set(held.domains.values()) <= set(held.kinds)
    for name, kind in held.kinds.items():
        assert LOWEST <= kind.score <= HIGHEST
        assert kind.says
        assert kind.standing in {"", "primary", "secondary"}
        assert name == kind_named(name)
    for domain in held.domains:
        assert re.fullmatch(r"(?:[a-z0-9-]+\.)*(?:[a-z0-9-]+|\*)", domain), domain


def test_no_domain_is_listed_twice() -> None:
    held = tomllib.loads(
        (files("deepdiver.tools") / "credibility.toml").read_text(encoding="utf-8")
    )
    listed = [domain for kind in held["kinds"].values() for domain in kind["domains"]]
    assert len(listed) == len(set(listed)) == len(table().domains)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.cdc.gov/flu", "official"),
        ("https://www.ons.gov.uk", "official"),
        ("https://stats.gov.pl", "official"),
        ("https://who.int/news", "official"),
        ("https://ec.europa.eu/x", "official"),
        ("https://navy.mil", "official"),
        ("https://mit.edu", "university"),
        ("https://www.ox.ac.uk", "university"),
        ("https://u-tokyo.ac.jp", "university"),
        ("https://plato.stanford.edu/entries/x", "encyclopedia"),
        ("https://www.academia.edu/1", "aggregator"),
        ("https://www.sec.gov/edgar", "register"),
        ("https://pubmed.ncbi.nlm.nih.gov/1", "scientific"),
        ("https://hansard.parliament.uk/x", "minutes"),
        ("https://petition.parliament.uk/x", "petition"),
        ("https://parliament.uk", "official"),
        ("https://EN.Wikipedia.org/wiki/X", "encyclopedia"),
        ("https://someone.substack.com/p/1", "blog"),
        ("https://export.arxiv.org/abs/1", "preprint"),
        ("https://old.reddit.com/r/x", "forum"),
    ],
)
def test_the_longest_suffix_wins(url: str, kind: str) -> None:
    assert of(url=url)[0] == KINDS[kind].score
    assert of(url=url)[1][0] == KINDS[kind].says


@pytest.mark.parametrize(
    "url",
    [
        "https://notreuters.com",
        "https://reuters.com.evil.example",
        "https://evil.example/reuters.com",
        "https://reuters.com@evil.example",
        "https://gov.example.org",
        "https://mygov",
        "https://ac.info",
        "https://xac.uk",
        "https://edu.example",
    ],
)
def test_what_only_looks_like_a_listed_domain_is_not(url: str) -> None:
    assert of(url=url)[1] == (table().unknown[SourceKind.PAGE].says,)


LABELS = st.sampled_from(["a", "b", "co", "uk", "gov"])
HOSTS = st.lists(LABELS, min_size=1, max_size=4).map(".".join)


@given(HOSTS, st.sets(HOSTS, max_size=6))
def test_no_longer_rule_fits_than_the_one_that_wins(host: str, domains: set[str]) -> None:
    fitting = [domain for domain in domains if host == domain or host.endswith(f".{domain}")]
    found = longest(host, dict.fromkeys(domains, 1))
    assert (found[0] if found else None) == max(fitting, key=len, default=None)


def test_a_name_goes_before_a_star_and_a_star_is_a_country() -> None:
    rules = {"ac.*": "any", "ac.uk": "british", "x.ac.*": "x"}
    assert longest("ox.ac.uk", rules) == ("ac.uk", "british")
    assert longest("ox.ac.jp", rules) == ("ac.*", "any")
    assert longest("x.ac.uk", rules) == ("x.ac.*", "x")
    assert longest("ox.ac.com", rules) is None
    assert longest("ac", rules) is longest("", rules) is None


# -- the user's word


@given(
    st.floats(0, 1),
    st.builds(Hit, url=st.just("http://news.example.org/1"), title=st.text(), author=st.text()),
)
def test_a_score_of_the_users_is_taken_as_it_is(score: float, hit: Hit) -> None:
    settings = Settings(ratings={"example.org": Rating(score=score, reason="we know them")})
    found = credibility(hit, NOW, settings)
    assert (found.score, found.reasons) == (score + 0.0, ("we know them",))


def test_a_kind_of_the_users_goes_through_the_rules() -> None:
    rated = {"example.org": {"kind": "Press-Release", "reason": "their newsroom"}}
    assert of(ratings=rated) == (0.5, ("a press release", "primary", "their newsroom"))
    assert of(ratings=rated, published="")[0] == pytest.approx(0.45)
    assert (
        of(ratings={"wikipedia.org": {"kind": "blog"}}, url="https://de.wikipedia.org/x")[0] == 0.3
    )


def test_a_rating_without_a_word_changes_nothing_but_says_so() -> None:
    score, reasons = of(ratings={"example.org": {}})
    assert (score, reasons) == (of()[0], (*of()[1], "rated by you"))


def test_of_the_users_ratings_too_the_longest_wins() -> None:
    ratings = load(
        {
            "ratings": {
                "https://www.example.org/": {"score": 0.2},
                "*.news.example.org": {"score": 0.8},
                "org": {"score": 0},
            }
        }
    ).ratings
    for host, domain in (
        ("a.news.example.org", "news.example.org"),
        ("b.example.org", "example.org"),
        ("x.org", "org"),
    ):
        found = rating_of(host, ratings)
        assert found is not None
        assert found[0] == domain
    assert rating_of("example.com", ratings) is None


def test_a_rating_finds_hosts_of_any_script() -> None:
    assert (
        of(ratings={"bücher.example": {"score": 0.9}}, url="https://www.xn--bcher-kva.example/x")[0]
        == 0.9
    )
    assert of(ratings={"bücher.example": {"score": 0.9}}, url="https://BÜCHER.example/x")[0] == 0.9


def test_a_rating_is_for_the_web_and_not_for_files() -> None:
    rated = {"example.org": {"score": 0.0}}
    for url in (
        "/home/me/example.org/a.md",
        "sample:example.org",
        "tool:example.org",
        "example.org",
    ):
        assert of(ratings=rated, url=url, kind=SourceKind.DOCUMENT) == of(
            url=url, kind=SourceKind.DOCUMENT
        )


# -- kinds


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_publisher_starts_from_the_table(kind: str) -> None:
    entry = KINDS[kind]
    assert of(publisher_kind=kind) == (
        entry.score,
        (entry.says, *([entry.standing] if entry.standing else [])),
    )


@pytest.mark.parametrize("kind", SourceKind)
def test_an_unknown_publisher_starts_from_the_kind_of_source(kind: SourceKind) -> None:
    entry = table().unknown[kind]
    assert of(kind=kind) == (entry.score, (entry.says,))
    assert of(kind=kind, publisher_kind="oracle") == of(kind=kind)


def test_primary_sources_go_before_the_press_and_the_press_before_hearsay() -> None:
    order = ["register", "official", "newspaper", "company", "blog", "forum", "retracted"]
    scores = [KINDS[kind].score for kind in order]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


@pytest.mark.parametrize(
    ("kind", "standing"),
    [
        ("official", "primary"),
        ("company", "primary"),
        ("scientific", "primary"),
        ("newspaper", "secondary"),
        ("encyclopedia", "secondary"),
        ("blog", "secondary"),
    ],
)
def test_primary_or_secondary_is_a_reason(kind: str, standing: str) -> None:
    assert standing in of(publisher_kind=kind)[1]


@pytest.mark.parametrize(
    "title",
    [
        "Blue light: a systematic review",
        "A meta-analysis of lamps",
        "Gulls and light: a review",
        "Review of gull diets",
    ],
)
def test_a_review_is_secondary_and_loses_nothing_for_it(title: str) -> None:
    score, reasons = of(publisher_kind="scientific", title=title)
    assert (score, reasons[1]) == (
        KINDS["scientific"].score,
        "secondary: a review of what others found",
    )
    assert of(publisher_kind="newspaper", title=title)[1][1] == "secondary"


@pytest.mark.parametrize(
    "title", ["Peer reviewers in court", "The reviewing of light", "Preview of the fair"]
)
def test_a_paper_that_is_not_a_review_stays_primary(title: str) -> None:
    assert of(publisher_kind="scientific", title=title)[1][1] == "primary"


@pytest.mark.parametrize(
    "title", ["Retracted: Blue light", "RETRACTED ARTICLE: Blue light", "[Withdrawn] Blue light"]
)
def test_a_retracted_paper_is_hardly_believed_anywhere(title: str) -> None:
    for url in (
        "https://pubmed.ncbi.nlm.nih.gov/1/",
        "https://doi.org/10.1/1",
        "https://www.nature.com/x",
    ):
        assert of(url=url, title=title, publisher_kind="scientific")[0] == KINDS["retracted"].score
    assert of(title="Retraction notice: Blue light")[0] == 0.5
    assert of(title=title, ratings={"example.org": {"score": 0.7}})[0] == 0.7


@pytest.mark.parametrize(
    ("url", "title"),
    [
        ("https://docs.example.org/stable/api.html", "Example 2.0 – API"),
        ("https://example.org/docs/limits", "Limits — Example documentation"),
        ("https://developer.wind-mill.co.uk/x", "Wind Mill for developers"),
        ("https://example.readthedocs.io/en/latest/", "Welcome"),
    ],
)
def test_documentation_of_its_own_makers_is_primary_and_needs_no_date(url: str, title: str) -> None:
    kind = KINDS["documentation"]
    found = of(url=url, title=title, published="", author="")
    assert found == (kind.score, (kind.says, "primary"))


@pytest.mark.parametrize(
    ("url", "title"),
    [
        ("https://docs.example.org/", "Why Acme is unsafe"),
        ("https://example.org/docs/", ""),
        ("https://example.org/blog/docs/", "Example documentation"),
        ("https://docsexample.org/", "docsexample"),
        ("https://docs/", "docs"),
        ("https://docs.io/", "docs"),
        ("https://docs.ab.org/", "ab"),
        ("/home/ann/docs/example.org/docs", "Example"),
        ("http://[", "Example"),
    ],
)
def test_what_is_not_documentation_of_its_own_makers(url: str, title: str) -> None:
    assert KINDS["documentation"].says not in of(url=url, title=title)[1]


def test_documentation_on_a_listed_host_is_what_the_host_is() -> None:
    found = of(url="https://docs.medium.com/docs/", title="Medium documentation", author="")
    assert found[1][0] == KINDS["blog"].says


def test_messages_that_are_dated_are_a_dated_source() -> None:
    dated = Mark(start=0, kind="message", label="1, Anna, 2026-02-08 10:00")
    undated = Mark(start=0, kind="message", label="1, Anna")
    assert "no date" not in of(published="", marks=(undated, dated))[1]
    assert "no date" in of(published="", marks=(undated,))[1]
    page = Mark(start=0, kind="page", label="2026-02-08")
    assert "no date" in of(published="", marks=(page,))[1]


def test_a_source_is_believed_against_itself_only() -> None:
    assert of(url="https://a.blogspot.com", publisher_kind="register")[0] == KINDS["blog"].score
    assert (
        of(url="https://www.nature.com/x", publisher_kind="preprint")[0] == KINDS["preprint"].score
    )
    assert (
        of(url="https://doi.org/10.1/1", publisher_kind="scientific")[0]
        == KINDS["scientific"].score
    )


@given(st.sampled_from(sorted(table().domains)), st.sampled_from(sorted(KINDS)))
def test_no_claim_lifts_a_listed_domain(domain: str, claim: str) -> None:
    url = f"https://x.{domain.replace('*', 'se')}/1"
    assert of(url=url, publisher_kind=claim)[0] <= of(url=url)[0]


def test_a_publishers_kind_is_read_whatever_its_case() -> None:
    assert of(publisher_kind=" Blog ") == of(publisher_kind="blog")
    assert of(publisher_kind="Press  release") == of(publisher_kind="press_release")


# -- what is missing


def test_missing_details_lower_the_score_and_are_reasons() -> None:
    paper = ("a newspaper with an editor", "secondary")
    assert of(publisher_kind="newspaper", published="") == (0.65, (*paper, "no date"))
    assert of(publisher_kind="newspaper", published="last week") == (0.65, (*paper, "no date"))
    assert of(publisher_kind="newspaper", author="") == (0.65, (*paper, "no author"))
    assert of(publisher_kind="newspaper", author=" Anonymous ") == (0.65, (*paper, "no author"))
    assert of(publisher_kind="newspaper", complete=False) == (
        0.65,
        (*paper, "only an extract was read"),
    )
    assert of(publisher_kind="register", author="") == (0.95, ("an official register", "primary"))
    assert of(
        publisher_kind="blog", author="", published="", url="http://example.org", complete=False
    ) == (
        0.1,
        (
            "a blog without an editor",
            "secondary",
            "only an extract was read",
            "no date",
            "no author",
            "not served over https",
        ),
    )


def test_only_a_page_can_be_an_extract() -> None:
    for kind in (SourceKind.DOCUMENT, SourceKind.TOOL, SourceKind.FEED):
        assert of(kind=kind, complete=False) == of(kind=kind)
    assert of(complete=False, snapshot="abc") == of()


def test_only_the_web_can_be_served_insecurely() -> None:
    for url in ("sample:a.md", "/home/me/a.md", "tool:search", "https://example.org"):
        assert of(url=url)[1] == (table().unknown[SourceKind.PAGE].says,)
    assert "not served over https" in of(url="HTTP://example.org")[1]


# -- age


def test_a_question_about_now_makes_old_sources_lose_in_steps() -> None:
    scores = [
        of(NOW, published=f"{year}-11-15", publisher_kind="official")[0]
        for year in range(2026, 2020, -1)
    ]
    start = KINDS["official"].score
    assert scores[0] == start
    assert scores[1] == pytest.approx(start * (1 - FADING / 2), abs=0.01)
    assert scores[2] == pytest.approx(start * (1 - FADING * 3 / 4), abs=0.01)
    assert scores == sorted(scores, reverse=True)
    assert of(NOW, published="1850", publisher_kind="official")[0] == pytest.approx(
        start * (1 - FADING), abs=0.01
    )


def test_the_reason_names_the_age() -> None:
    assert of(NOW, published="2020-11-15")[1][-1] == "6 years old, and the question is about now"
    news = age_need_of("What happened this week?", AS_OF)
    assert of(news, published="2026-11-01")[1][-1] == "14 days old, and the question is about now"
    assert of(news, published="2026-08-01")[1][-1] == "3 months old, and the question is about now"


def test_the_benefit_of_the_doubt_about_the_day() -> None:
    assert of(NOW, published="2026") == of(NOW, published="2026-11-15") == of(published="2026")
    assert of(NOW, published="2025")[0] == of(NOW, published="2025-12-31")[0]


def test_what_is_undated_or_from_tomorrow_does_not_age() -> None:
    assert of(NOW, published="") == of(published="")
    assert of(NOW, published="2027-05-01") == of()


DATES = st.dates(date(1900, 1, 1), date(2030, 12, 31))


@given(
    DATES,
    st.integers(0, 20_000),
    st.sampled_from(sorted(KINDS)),
    st.sampled_from(["now", "this week", "price"]),
)
def test_about_now_the_older_never_scores_higher(
    day: date, days: int, kind: str, word: str
) -> None:
    need = age_need_of(f"Say it {word}", AS_OF)
    older = date.fromordinal(max(day.toordinal() - days, 1))
    assert (
        of(need, published=older.isoformat(), publisher_kind=kind)[0]
        <= (of(need, published=day.isoformat(), publisher_kind=kind)[0])
    )


@given(
    DATES,
    st.sampled_from(["What causes rain?", "What happened in 1990?"]),
    st.sampled_from(sorted(KINDS)),
)
def test_no_source_loses_by_age_where_the_question_is_not_about_now(
    day: date, question: str, kind: str
) -> None:
    need = age_need_of(question, AS_OF)
    assert of(need, published=day.isoformat(), publisher_kind=kind)[0] >= of(publisher_kind=kind)[0]
    if need.when == "any":
        assert of(need, published=day.isoformat(), publisher_kind=kind) == of(publisher_kind=kind)


def test_a_record_made_at_the_time_asked_about_gains_where_that_is_sure() -> None:
    need = age_need_of("What happened on 8 February 2026?", AS_OF)
    last = date(2026, 2, 8) + timedelta(days=NEAR_DAYS)
    near = (0.9, (*of(publisher_kind="minutes")[1], "made at the time asked about"))
    assert near[0] == round(KINDS["minutes"].score + NEAR, 2)
    assert of(need, publisher_kind="minutes", published="2026-02-08") == near
    assert of(need, publisher_kind="minutes", published=last.isoformat()) == near
    for published in ("2026-02-07", (last + timedelta(days=1)).isoformat(), "2026-02", "2026"):
        assert of(need, publisher_kind="minutes", published=published) == of(
            publisher_kind="minutes"
        ), published


@pytest.mark.parametrize("kind", ["newspaper", "wire", "blog", "scientific", "preprint", ""])
def test_early_news_is_not_better_news(kind: str) -> None:
    need = age_need_of("What happened on 8 February 2026?", AS_OF)
    assert of(need, publisher_kind=kind, published="2026-02-08") == of(publisher_kind=kind)


# -- bounds


def test_no_belief_reaches_its_bounds() -> None:
    for kind, source, url in itertools.product([*KINDS, ""], SourceKind, ("http://x", "https://x")):
        for author, published in itertools.product(("", "A"), ("", "2026", "1850")):
            score, reasons = of(
                NOW, publisher_kind=kind, kind=source, url=url, author=author, published=published
            )
            assert LOWEST <= score <= HIGHEST
            assert reasons


HITS = st.builds(
    Hit,
    url=st.text()
    | st.sampled_from(
        ["https://reuters.com/x", "http://a.gov.uk", "https://[::1", "https://x.medium.com"]
    ),
    title=st.text(),
    kind=st.sampled_from(SourceKind),
    publisher_kind=st.text() | st.sampled_from(sorted(KINDS)),
    author=st.text(),
    published=st.text() | DATES.map(date.isoformat),
    complete=st.booleans(),
)


@given(HITS, st.sampled_from(["Who is it?", "In 1990?", "Why?"]))
def test_whatever_a_source_says_of_itself(hit: Hit, question: str) -> None:
    need = age_need_of(question, AS_OF)
    found = credibility(hit, need, Settings())
    assert LOWEST <= found.score <= HIGHEST
    assert found.reasons
    assert all(found.reasons)
    assert credibility(hit, need, Settings()) == found
    assert round(found.score, 2) == found.score


@given(st.sampled_from([*KINDS, ""]), st.booleans(), st.booleans())
def test_knowing_more_never_costs(kind: str, author: bool, published: bool) -> None:
    less = Hit(
        url="https://x", publisher_kind=kind, author="A" * author, published="2026" * published
    )
    more = less.model_copy(update={"author": "A", "published": "2026", "complete": True})
    assert credibility(more).score >= credibility(less).score


def test_the_table_covers_the_sample() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sample.LIBRARY.rglob("*.*")]
    kinds = {
        match[1] for text in texts if (match := re.search(r"^kind: (.+)$", text, re.MULTILINE))
    }
    assert len(kinds) > 5
    assert kinds <= KINDS.keys()
    assert SIGNED == ["scientific", "newspaper", "preprint", "blog"]
    assert LACKING > 0


@pytest.mark.parametrize(
    ("reasons", "wanted"),
    [
        (("a newspaper with an editor",), "news"),
        (("a news agency", "secondary"), "news"),
        (("a log kept at the time", "primary"), "log"),
        (("rated by you",), ""),
        ((), ""),
    ],
)
def test_the_type_of_intelligence_goes_by_the_kind_of_publisher(
    reasons: tuple[str, ...], wanted: str
) -> None:
    assert intelligence(Credibility(score=0.5, reasons=reasons)) == wanted
