"""The page: text is text, nothing is loaded or run, and the diagram shows what the bins say."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.evals import page as page_module
from deepdiver.evals.floors import Bound
from deepdiver.evals.page import SIDE, render_page


def result(**changes: Any) -> dict[str, Any]:
    case = {
        "id": "1",
        "question": "Who?",
        "wanted": ["Ann"],
        "said": "Bob",
        "by": "lead",
        "confidence": 0.75,
        "right": False,
        "loss": "4 read, but no finding quotes the answer",
        "error": "",
    }
    return {
        "set": "multihop/hotpotqa",
        "compared": True,
        "made_by": "deepdiver 0, strategy popper, model embedded, judged by a:b",
        "figures": {"f1": 0.45, "ece": 0.2},
        "counts": {"cases": 1, "right": 0},
        "losses": {"4 read, but no finding quotes the answer": 1},
        "reliability": [{"low": 0.7, "high": 0.8, "count": 1, "confidence": 0.75, "right": 0.5}],
        "cases": [case],
    } | changes


class Tags(HTMLParser):
    """Keeps which elements a page opens, and every address."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@given(
    st.text(max_size=60)
    | st.sampled_from(["<script>x</script>", "\"'><img src=//x>", "</style>", "\0\x1b[2J"])
)
def test_whatever_is_told_is_text(told: str) -> None:
    plain = Tags(render_page(result()))
    case = result()["cases"][0] | {
        "question": told,
        "said": told,
        "wanted": [told],
        "error": told,
        "id": told,
    }
    made = render_page(
        result(set=told, made_by=told, cases=[case], losses={told: 1}, counts={"cases": 1, told: 2})
    )
    seen = Tags(made)
    assert set(seen.tags) <= set(plain.tags)
    assert "script" not in seen.tags
    assert seen.open == []
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", made)


def test_nothing_is_loaded() -> None:
    made = render_page(result())
    assert not {"src", "href", "action", "onload"} & {name for name, _ in Tags(made).attributes}
    assert not {"script", "img", "link", "iframe"} & set(Tags(made).tags)
    assert "default-src 'none'" in made
    assert "http" not in made.replace("http-equiv", "")


def test_a_set_without_confidence_or_losses_has_no_empty_tables() -> None:
    made = render_page(result(reliability=[], losses={}, figures={}))
    assert "<svg" not in made
    assert "Where cases were lost" not in made
    assert "Reliability" not in made


def test_figures_stand_beside_what_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds = [
        Bound("f1", 0.4, True, True),
        Bound("f1", 0.5, True, False),
        Bound("ece", 0.1, False, False),
    ]
    monkeypatch.setattr(page_module, "bounds", lambda name: bounds)
    made = render_page(result())
    assert '<span class="good">floor ≥ 0.4</span>; <span class="bad">aim ≥ 0.5</span>' in made
    assert '<span class="bad">aim ≤ 0.1</span>' in made
    assert "floor" not in render_page(result(compared=False)), (
        "a part of a set is compared with nothing"
    )


def test_the_judge_is_named() -> None:
    assert "judged by a:b" in render_page(result())


def test_the_diagram_shows_the_bins() -> None:
    made = render_page(result())
    assert f'<rect class="bar" x="{0.7 * SIDE:.1f}" y="{0.5 * SIDE:.1f}"' in made
    assert f'cx="{0.75 * SIDE:.1f}" cy="{0.5 * SIDE:.1f}"' in made
    assert "<td>0.7 to 0.8</td>" in made


def test_a_case_tells_its_outcome_and_long_texts_are_cut() -> None:
    made = render_page(result())
    assert "4 read, but no finding quotes the answer</span>" in made
    right = result()["cases"][0] | {"right": True, "said": "x" * 1_000, "confidence": None}
    made = render_page(result(cases=[right]))
    assert '<span class="good">right</span>' in made
    assert "x" * 299 + "…" in made
    assert "x" * 301 not in made
