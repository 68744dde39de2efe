"""Spans.

Exact offsets, quotes found whatever the typesetter did, and nothing found that is not there.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deepdiver.core.text import (
    PASSAGE_CHARS,
    STOPWORDS,
    Span,
    blocks,
    count_words,
    fold,
    in_brief,
    join_lines,
    locate,
    part_scripts,
    passages,
    sentences,
    shingles,
    stem,
    terms,
    whole,
    words,
)
from tests.patience import in_proportion

# Letters, ends of sentences, marks of lists and headings, white space and typesetting, so that they
# meet often.
HOSTILE = "aB1é.!?…。 \t\n\r\u2028\u00a0-–—'’\"“”«()[]#*>|•/ﬁ½²\u00ad\u200b\u0301漢あ가ب߂Я\ud800"
TEXTS = st.text(st.sampled_from(HOSTILE) | st.characters(exclude_categories=()), max_size=80)
PROSE = st.lists(
    st.sampled_from(
        [
            "The harbour froze on 3 March.",
            "Dr. Berg said so!",
            "“Why?” she asked.",
            "# A heading",
            "## Another one ##",
            "- an item",
            "1. A numbered item. With two sentences.",
            "| a | row |",
            "> quoted",
            "",
            "x" * 40,
            "It cost 3.5 million... Nobody paid.",
            "漢字。これは文です。",
        ]
    ),
    max_size=12,
).map("\n".join)


def cut(text: str, spans: list[Span]) -> list[str]:
    return [span.of(text) for span in spans]


def in_order(text: str, spans: list[Span]) -> bool:
    """Whether spans lie in the text, are not empty, and follow each other without overlapping."""
    inside = all(0 <= span.start < span.end <= len(text) for span in spans)
    return inside and all(one.end <= other.start for one, other in pairwise(spans))


class TestBlocks:
    @given(TEXTS | PROSE)
    def test_lie_in_the_text_in_order_and_are_stripped(self, text: str) -> None:
        found = [span for span, _ in blocks(text)]
        assert in_order(text, found)
        assert all(span.of(text) == span.of(text).strip() for span in found)

    @given(TEXTS | PROSE)
    def test_leave_out_nothing_but_marks_and_white_space(self, text: str) -> None:
        at = 0
        left = []
        for span, _ in blocks(text):
            left.append(text[at : span.start])
            at = span.end
        left.append(text[at:])
        # What stands between blocks: white space and the marks of items, numbers among them.
        assert set("".join(left)) - set("-*+•>|.)0123456789") <= {
            char for char in text if char.isspace()
        }

    def test_are_paragraphs_headings_items_and_rows(self) -> None:
        text = (
            "# Title\nFirst line\nsecond line\n\n- one\n- two\n  goes on\n1) three\n> quoted\n| a "
            "| b |\n## Sub\nEnd"
        )
        assert [(span.of(text), heading) for span, heading in blocks(text)] == [
            ("# Title", True),
            ("First line\nsecond line", False),
            ("one", False),
            ("two\n  goes on", False),
            ("three", False),
            ("quoted", False),
            ("a | b |", False),
            ("## Sub", True),
            ("End", False),
        ]

    @pytest.mark.parametrize("fence", ["```", "~~~"])
    def test_a_comment_in_code_between_fences_is_no_heading(self, fence: str) -> None:
        text = f"# Title\n{fence}sh\n# make install\n{fence}\n# Next\nEnd"
        heads = [span.of(text) for span, heading in blocks(text) if heading]
        assert heads == ["# Title", "# Next"]
        assert "# make install" in " ".join(span.of(text) for span in sentences(text))

    def test_comments_of_settings_are_sentences_and_no_headings(self) -> None:
        text = "# Bans last.\n# They do.\n[a]\n# One.\n# Two.\nb = 1\n\n# Three.\n# Four.\nc = 2\n"
        assert not any(heading for _, heading in blocks(text))
        assert any("They do" in span.of(text) for span in sentences(text))
        assert any(heading for _, heading in blocks(text.replace("# T", "T")))

    @pytest.mark.parametrize("odd", ["```", "~~~ x", "a ``` b", "```one``` line\n```two```"])
    def test_what_nothing_closes_is_no_fence(self, odd: str) -> None:
        text = f"# Title\n{odd}\n# Next\nEnd"
        assert [span.of(text) for span, heading in blocks(text) if heading] == ["# Title", "# Next"]

    @pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\t\r\n\u00a0"])
    def test_of_nothing_there_are_none(self, text: str) -> None:
        assert blocks(text) == []
        assert sentences(text) == []
        assert passages(text) == []

    def test_a_hyphen_within_a_line_or_a_year_at_its_start_opens_no_item(self) -> None:
        text = "It was well-\nknown in\n2025. Then -5 degrees."
        assert len(blocks(text)) == 1


class TestSentences:
    @given(TEXTS | PROSE)
    def test_lie_in_the_text_in_order_and_are_stripped(self, text: str) -> None:
        found = sentences(text)
        assert in_order(text, found)
        for span in found:
            assert span.of(text) == text[span.start : span.end] == span.of(text).strip()

    @given(TEXTS | PROSE)
    def test_together_are_all_that_is_no_heading(self, text: str) -> None:
        inside = [span for span, heading in blocks(text) if not heading]
        found = sentences(text)
        assert all(
            any(one.start <= span.start and span.end <= one.end for one in inside) for span in found
        )
        said = "".join("".join(span.of(text).split()) for span in found)
        assert said == "".join("".join(span.of(text).split()) for span in inside)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
            ("No end", ["No end"]),
            (
                "Dr. Anna Berg met Capt. Holm. They spoke.",
                ["Dr. Anna Berg met Capt. Holm.", "They spoke."],
            ),
            (
                "J. R. R. Tolkien and J.R.R. Tolkien. One man.",
                ["J. R. R. Tolkien and J.R.R. Tolkien.", "One man."],
            ),
            (
                "Smith v. Jones was decided. It stands.",
                ["Smith v. Jones was decided.", "It stands."],
            ),
            (
                "It fell by 3.5 per cent. No. 7 fell too.",
                ["It fell by 3.5 per cent.", "No. 7 fell too."],
            ),
            (
                "He left, e.g. Monday, at 3 p.m. sharp. Then",
                ["He left, e.g. Monday, at 3 p.m. sharp.", "Then"],
            ),
            ("“Stop!” he said. “Why?” She left.", ["“Stop!” he said.", "“Why?”", "She left."]),
            ("He said (quietly.) Then he left.", ["He said (quietly.)", "Then he left."]),
            ("Wait... what? Yes.", ["Wait... what?", "Yes."]),
            ("It sank. 12 were saved.", ["It sank.", "12 were saved."]),
            (
                "See H.J.Res. 88, signed in June. It holds.",
                ["See H.J.Res. 88, signed in June.", "It holds."],
            ),
            ("She has a Ph.D. in law. It helps.", ["She has a Ph.D. in law.", "It helps."]),
            ("It sank. $5 million went down.", ["It sank.", "$5 million went down."]),
            ("First. **Second** thing.", ["First.", "**Second** thing."]),
            ("A line ends.\n          The next begins.", ["A line ends.", "The next begins."]),
            ("# Not this. Nor this\nBut this.", ["But this."]),
            ("www.example.org is a site. Yes.", ["www.example.org is a site.", "Yes."]),
            ("これは文です。次の文！終わり", ["これは文です。", "次の文！", "終わり"]),
            ("彼は「はい。」と言った。", ["彼は「はい。」", "と言った。"]),
            ("Это так. Он сказал. и ушёл.", ["Это так.", "Он сказал. и ушёл."]),
            ("هذه جملة. وهذه جملة أخرى.", ["هذه جملة.", "وهذه جملة أخرى."]),
            ("Er kam. Über Nacht.", ["Er kam.", "Über Nacht."]),
            ("„Halt!“ Dann ging er.", ["„Halt!“", "Dann ging er."]),
            ("Vino. ¿Por qué? ¡Nadie lo sabe!", ["Vino.", "¿Por qué?", "¡Nadie lo sabe!"]),
        ],
    )
    def test_end_where_a_reader_would_say(self, text: str, expected: list[str]) -> None:
        assert cut(text, sentences(text)) == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (
                "港口结冰了。没有人受伤！真的吗？是的",
                ["港口结冰了。", "没有人受伤！", "真的吗？", "是的"],
            ),
            ("他说：“船沉了。”然后走了。", ["他说：“船沉了。”", "然后走了。"]),
            ("真的吗?是的!好", ["真的吗?", "是的!", "好"]),
            ("値は３．５である．次の文．", ["値は３．５である．", "次の文．"]),
            (
                "배가 가라앉았다. 아무도 다치지 않았다.",
                ["배가 가라앉았다.", "아무도 다치지 않았다."],
            ),
            (
                "هل غرقت السفينة؟ نعم، غرقت. لم يصب أحد!",
                ["هل غرقت السفينة؟", "نعم، غرقت.", "لم يصب أحد!"],
            ),
            ("کشتی ڈوب گئی۔ کوئی زخمی نہیں ہوا۔", ["کشتی ڈوب گئی۔", "کوئی زخمی نہیں ہوا۔"]),
            (
                "הספינה טבעה. \u200fאיש לא נפגע.\u200f הים היה סוער.",
                ["הספינה טבעה.", "\u200fאיש לא נפגע.\u200f", "הים היה סוער."],
            ),
            ("जहाज़ डूब गया। कोई घायल नहीं हुआ। क्यों?", ["जहाज़ डूब गया।", "कोई घायल नहीं हुआ।", "क्यों?"]),
            ("သင်္ဘော နစ်သည်။ ဘယ်သူမှ မထိခိုက်။", ["သင်္ဘော နစ်သည်။", "ဘယ်သူမှ မထိခိုက်။"]),
            ("መርከቡ ሰመጠ። ማንም አልተጎዳም።", ["መርከቡ ሰመጠ።", "ማንም አልተጎዳም።"]),
            ("Նավը խորտակվեց։ Ոչ ոք չտուժեց։", ["Նավը խորտակվեց։", "Ոչ ոք չտուժեց։"]),
        ],
        ids=[
            "zh",
            "zh-quote",
            "zh-plain",
            "ja-wide",
            "ko",
            "ar",
            "ur",
            "he",
            "hi",
            "my",
            "am",
            "hy",
        ],
    )
    def test_end_where_a_reader_of_any_script_would_say(
        self, text: str, expected: list[str]
    ) -> None:
        assert cut(text, sentences(text)) == expected

    def test_of_thai_end_in_spaces_but_not_in_every_one(self) -> None:
        clause = "เรือเฟอร์รี่ชนท่าเรือในหมอกหนาเมื่อเช้าวันอังคารเวลาหกโมงเช้าที่ท่าเรือแห่งหนึ่ง"
        short = "นายสมชาย ใจดี กล่าวว่า"
        assert (
            cut(f"{clause} {clause} {clause}", sentences(f"{clause} {clause} {clause}"))
            == [clause] * 3
        )
        assert cut(short, sentences(short)) == [short]


class TestPassages:
    @given(TEXTS | PROSE, st.integers(1, 60))
    def test_lie_in_the_text_in_order_and_are_not_too_long(self, text: str, size: int) -> None:
        found = passages(text, size)
        assert in_order(text, found)
        assert all(span.end - span.start <= 2 * size for span in found)

    @given(TEXTS | PROSE, st.integers(1, 60))
    def test_hold_every_block(self, text: str, size: int) -> None:
        covered = {i for span in passages(text, size) for i in range(span.start, span.end)}
        wanted = {
            i
            for span, _ in blocks(text)
            for i in range(span.start, span.end)
            if not text[i].isspace()
        }
        assert wanted <= covered

    @given(PROSE, st.integers(60, 200))
    def test_cut_no_sentence_that_fits(self, text: str, size: int) -> None:
        ends = {span.end for span in passages(text, size)}
        for span in sentences(text):
            if span.end - span.start <= size:
                assert not any(span.start < end < span.end for end in ends)

    @pytest.mark.parametrize("lines", [2, 3])
    def test_a_sentence_is_cut_from_twice_the_size_on(self, lines: int) -> None:
        text = "\n".join(["x" * 40] * lines)
        assert len(sentences(text)) == 1
        assert len(passages(text, 60)) == (1 if len(text) <= 120 else 2)

    def test_are_about_as_long_as_asked(self) -> None:
        text = "This is a sentence of some forty characters. " * 200
        lengths = [span.end - span.start for span in passages(text)]
        assert all(PASSAGE_CHARS * 0.8 < length <= PASSAGE_CHARS for length in lengths[:-1])

    @pytest.mark.parametrize("word", ["harbour", "ท่าเรือ", "किनारा", "ميناء"])
    def test_an_endless_sentence_is_cut_between_words(self, word: str) -> None:
        text = f"{word} " * 2_000
        found = passages(text)
        assert all(set(span.of(text).split()) == {word} for span in found)
        assert all(
            PASSAGE_CHARS // 2 <= span.end - span.start <= 2 * PASSAGE_CHARS for span in found[:-1]
        )

    @pytest.mark.parametrize(
        "sentence",
        ["这是一个关于港口结冰的句子。", "هذه جملة عن الميناء المتجمد؟ ", "यह बंदरगाह के बारे में है। "],
    )
    def test_of_any_script_are_whole_sentences_of_about_the_size(self, sentence: str) -> None:
        text = sentence * 300
        found = passages(text)
        assert "".join(span.of(text) for span in found).replace(" ", "") == text.replace(" ", "")
        assert all(span.of(text).endswith(sentence.strip()) for span in found)
        assert all(
            PASSAGE_CHARS * 0.8 < span.end - span.start <= PASSAGE_CHARS for span in found[:-1]
        )

    def test_an_endless_sentence_is_cut(self) -> None:
        text = "x" * 10 * PASSAGE_CHARS
        assert all(span.end - span.start <= 2 * PASSAGE_CHARS for span in passages(text))
        assert "".join(cut(text, passages(text))) == text

    @pytest.mark.parametrize("before", [0, 100, 250, 500, 850, 899])
    @pytest.mark.parametrize("after", [10, 300, 880, 1_200])
    def test_a_heading_stays_with_what_follows_it(self, before: int, after: int) -> None:
        text = f"{'a' * before}\n\n# The heading\n\n{'b' * after}"
        (holder,) = [part for part in cut(text, passages(text)) if "# The heading" in part]
        assert "b" in holder

    def test_headings_one_after_the_other_stay_together(self) -> None:
        text = f"{'a' * 700}\n\n# Title\n## Part\n### Chapter\n{'b' * 700}"
        assert cut(text, passages(text))[1] == f"# Title\n## Part\n### Chapter\n{'b' * 700}"

    @given(st.lists(st.sampled_from([40, 90, 200]), min_size=1, max_size=8), st.integers(150, 400))
    def test_divide_no_section_that_fits_for_what_is_before_it(
        self, lengths: list[int], size: int
    ) -> None:
        """Its format has told where each begins; the text shows lines like any other."""
        sections = [f"Part {at}\n\n{'word ' * (length // 5)}." for at, length in enumerate(lengths)]
        text = "\n\n".join(sections)
        starts = {text.index(section) for section in sections}
        found = cut(text, passages(text, size, headings=starts))
        for section in sections:
            if len(section) <= size:
                assert any(section in part for part in found)
        together = itertools.pairwise(found)
        assert all(len(one) + len(other) + 2 > size for one, other in together), "as few as can be"

    def test_a_section_that_does_not_fit_begins_a_passage(self) -> None:
        long = "One. " * 100
        text = f"Before.\n\nHead\n\n{long}"
        found = cut(text, passages(text, 300, headings=[text.index("Head")]))
        assert found[0] == "Before."
        assert found[1].startswith("Head\n\nOne.")

    def test_a_text_of_nothing_but_headings_is_cut_all_the_same(self) -> None:
        text = "# heading\n\n" * 1_000
        found = passages(text)
        assert len(found) > 5
        assert max(span.end - span.start for span in found) <= PASSAGE_CHARS

    def test_a_heading_at_the_end_is_not_lost(self) -> None:
        text = "Some text.\n\n# The end"
        assert passages(text)[-1].of(text).endswith("# The end")


class TestFold:
    @given(TEXTS, st.sampled_from(["", "-", "- "]))
    def test_knows_where_each_character_came_from(self, text: str, joint: str) -> None:
        folded, at = fold(text, joint)
        assert len(folded) == len(at)
        assert all(0 <= offset < len(text) for offset in at)
        assert all(one <= other for one, other in pairwise(at))

    @given(TEXTS)
    def test_leaves_one_space_between_words_and_no_other(self, text: str) -> None:
        folded, _ = fold(text)
        assert "  " not in folded
        assert not folded.startswith(" ")
        assert all(char == " " or not char.isspace() for char in folded)

    @given(
        st.text(
            st.characters(codec="ascii", categories=["L", "N"]) | st.sampled_from(" ,.;'\"-"),
            max_size=40,
        )
    )
    def test_leaves_plain_text_as_it_is(self, text: str) -> None:
        plain = " ".join(text.split())
        folded, at = fold(plain)
        assert folded == plain
        assert at == list(range(len(plain)))

    @pytest.mark.parametrize(
        ("text", "plain"),
        [
            ("‘a’ ‚b‛ ‹c› d′ `e´", "'a' 'b' 'c' d' 'e'"),
            ("“a” „b‟ «c» d″", '"a" "b" "c" d"'),
            ("a‐b‑c‒d–e—f―g−1", "a-b-c-d-e-f-g-1"),
            ("a\u00a0b\u2009c\u3000d\t\n e", "a b c d e"),
            ("ﬁnd the ﬂoor…", "find the floor..."),
            ("ＡＢＣ１２３，", "ABC123,"),
            ("so\u00adft, ze\u200bro, \ufeffbom, \u200eleft", "soft, zero, bom, left"),
            ("inter-\nnational", "international"),
            ("inter\u2010\n  national", "international"),
            ("inter\u00ad\nnational", "international"),
            ("Anglo-\nSaxon, COVID-\n19", "Anglo-Saxon, COVID-19"),
            ("a dash -\nthen", "a dash - then"),
            ("-\nitem", "- item"),
            ("cafe\u0301", "café"),
            ("\u1112\u1161\u11ab", "한"),
            ("か\u3099", "が"),
            ("10⁶ m² H₂O ½ ①", "10⁶ m² H₂O ½ ①"),
            ("﹘ Ⅳ №", "- IV No"),
            ("¨", "¨"),
        ],
    )
    def test_takes_away_what_typesetting_adds(self, text: str, plain: str) -> None:
        assert fold(text)[0] == plain

    def test_a_hyphen_at_a_line_end_can_be_read_in_three_ways(self) -> None:
        assert [fold("pre-\nwar", joint)[0] for joint in ("", "-", "- ")] == [
            "prewar",
            "pre-war",
            "pre- war",
        ]


SETTERS: dict[str, Callable[[str], str]] = {
    "curly quotes": lambda text: text.replace("'", "’").replace('"', "“"),
    "dashes": lambda text: text.replace(" - ", " – ").replace("-", "\u2011"),
    "line breaks": lambda text: text.replace(" ", "\n"),
    "windows line breaks": lambda text: text.replace(" ", "\r\n"),
    "hard spaces": lambda text: text.replace(" ", "\u00a0"),
    "wide spaces": lambda text: text.replace(" ", "   "),
    "ligatures": lambda text: text.replace("fi", "ﬁ").replace("fl", "ﬂ"),
    "soft hyphens": lambda text: text.replace("ation", "a\u00adtion"),
    "hyphenation": lambda text: text.replace("ation", "a-\ntion"),
    "soft hyphenation": lambda text: text.replace("ation", "a\u00ad\ntion"),
    "hyphens at line ends": lambda text: text.replace("well-", "well-\n"),
    "zero width": lambda text: text.replace("e", "e\u200b"),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "full width": lambda text: text.replace("12", "１２"),
    "ellipsis": lambda text: text.replace("...", "…"),
}
QUOTE = (
    'The well-known "Åre affair" - its first citation, in fact - '
    "cost 12 million... That's the café's flow."
)


class TestLocate:
    @pytest.mark.parametrize("quote", ["", " ", "\n", "\u200b", "\u00ad\u200b"])
    def test_nothing_is_nowhere(self, quote: str) -> None:
        assert locate(quote, "some text \u200b") in (None, Span(10, 11))
        assert locate(quote, "some text") is None

    @given(st.data(), TEXTS)
    def test_any_part_of_a_text_is_found(self, data: st.DataObject, text: str) -> None:
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        quote = text[start:end].strip()
        assume(quote)
        span = locate(quote, text)
        assert span is not None
        assert span.of(text) == quote

    @given(TEXTS, TEXTS)
    def test_what_is_found_says_the_same(self, quote: str, text: str) -> None:
        span = locate(quote, text)
        if span is None:
            assert quote.strip() not in text or not quote.strip()
            return
        assert 0 <= span.start < span.end <= len(text)
        found = span.of(text)
        readings = [
            (fold(found, joint)[0].strip(), fold(quote, joint)[0].strip())
            for joint in ("", "-", "- ")
        ]
        assert any(one == other for one, other in readings)

    @given(
        st.data(),
        st.text(st.sampled_from("abAé fi1-–—'’\"“ \n\u00a0ﬁ…\u0301"), min_size=1, max_size=40),
    )
    def test_a_part_set_anew_is_found(self, data: st.DataObject, text: str) -> None:
        """Fold a part of the text: that is what a model may write instead of it."""
        parts = fold(text)[0].split()
        assume(parts)
        start = data.draw(st.integers(0, len(parts) - 1))
        quote = " ".join(parts[start : data.draw(st.integers(start + 1, len(parts)))])
        span = locate(quote, text)
        assert span is not None, quote
        assert fold(span.of(text))[0].strip() == quote or span.of(text) == quote

    @pytest.mark.parametrize("setter", SETTERS.values(), ids=SETTERS)
    @pytest.mark.parametrize("changed", ["text", "quote"])
    def test_typesetting_hides_nothing(self, setter: Callable[[str], str], changed: str) -> None:
        other = setter(QUOTE)
        assert other != QUOTE, "the setter has something to do"
        around = f"Before it stood this. {other if changed == 'text' else QUOTE} And more after it."
        span = locate(QUOTE if changed == "text" else other, around)
        assert span is not None
        assert span.of(around) == (other if changed == "text" else QUOTE)

    def test_all_of_it_at_once(self) -> None:
        text = "x " + QUOTE + " y"
        for setter in (
            "curly quotes",
            "ligatures",
            "hyphenation",
            "hard spaces",
            "ellipsis",
            "decomposed",
        ):
            text = SETTERS[setter](text)
        span = locate(QUOTE, text)
        assert span is not None
        assert (span.start, span.end) == (2, len(text) - 2)

    @pytest.mark.parametrize(
        ("quote", "text"),
        [
            ("the ship sank", "the ship did not sink"),
            ("12 million", "13 million"),
            ("106 cells", "10⁶ cells"),
            ("m2", "m²"),
            ("1", "½"),
            ("f", "ﬁ"),
            ("..", "…"),
            ("Sank", "sank"),
            ("no where", "nowhere"),
            ("nowhere", "no where"),
            ("resign", "re-sign"),
            ("re-sign", "resign"),
            ("cafe", "café"),
            ("a b", "a, b"),
            ("one two", "one\n\ntwo three".replace("\n\n", ". ")),
            ("wellknown", "well -\nknown"),
            ("longer than the text", "longer"),
        ],
    )
    def test_what_is_not_there_is_not_found(self, quote: str, text: str) -> None:
        assert locate(quote, text) is None

    def test_letters_within_a_ligature_do_not_hide_the_word_behind_it(self) -> None:
        text = "ﬁ f’"
        span = locate("f'", text)
        assert span is not None
        assert span.of(text) == "f’"

    def test_white_space_around_a_quote_does_not_count(self) -> None:
        assert locate("\n b \t", "a b c") == Span(2, 3)

    def test_the_first_of_several_is_found(self) -> None:
        assert locate("a", "b a a") == Span(2, 3)
        assert locate("‘a’", "b 'a' 'a'") == Span(2, 5)

    def test_an_accent_behind_the_quote_is_part_of_its_last_letter(self) -> None:
        text = "au  cafe\u0301 noir"
        span = locate("au café", text)
        assert span is not None
        assert span.of(text) == "au  cafe\u0301"


@pytest.mark.parametrize("text", ["One ferry", f"One ferry{' ' * 2_000}"])
def test_words_are_not_changed_by_those_who_asked_for_them(text: str) -> None:
    words(text).clear()
    assert words(text) == ["one", "ferry"]


class TestWords:
    @given(TEXTS)
    def test_are_in_lower_case_and_stand_in_the_text(self, text: str) -> None:
        whole = unicodedata.normalize("NFC", text).lower().replace("’", "'")
        for word in words(text):
            assert word
            assert word in whole
            assert " " not in word

    def test_keep_hyphens_and_apostrophes_inside(self) -> None:
        assert words("The well-known O’Brien's -dash- 3,5 'quoted'") == [
            "the",
            "well-known",
            "o'brien's",
            "dash",
            "3",
            "5",
            "quoted",
        ]

    def test_an_accent_does_not_end_a_word(self) -> None:
        assert words("Ba\u0308cktja\u0308rn") == words("Bäcktjärn") == ["bäcktjärn"]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("किताब और कलम।", ["किताब", "और", "कलम"]),
            ("מְדִינָה קטנה", ["מְדִינָה", "קטנה"]),
            ("مُحَمَّد كتب", ["مُحَمَّد", "كتب"]),
            ("ที่ท่าเรือ นั้น", ["ที่ท่าเรือ", "นั้น"]),
        ],
    )
    def test_vowels_around_the_letters_do_not_end_a_word(
        self, text: str, expected: list[str]
    ) -> None:
        assert words(text) == expected

    def test_of_nothing_there_are_none(self) -> None:
        assert words("") == words(" .,!") == []
        assert terms("the of and") == []

    @pytest.mark.parametrize(
        "group",
        [
            ["child", "children", "child's"],
            ["run", "runs", "running", "ran"],
            ["company", "companies"],
            ["class", "classes"],
            ["plan", "plans", "planned", "planning"],
            ["move", "moves", "moved", "moving"],
            ["house", "houses", "housing"],
            ["date", "dates", "dated"],
            ["box", "boxes"],
            ["fall", "falls", "falling"],
            ["pass", "passes", "passed"],
            ["person", "people"],
            ["birth", "births", "born"],
            ["own", "owned", "owns"],
        ],
        ids=lambda group: group[0],
    )
    def test_forms_of_one_word_have_one_stem(self, group: list[str]) -> None:
        assert len({stem(word) for word in group}) == 1

    @pytest.mark.parametrize(
        "word",
        ["is", "us", "bus", "gas", "red", "king", "ring", "series", "a", "", "basis", "2025"],
    )
    def test_short_words_keep_something(self, word: str) -> None:
        assert len(stem(word)) >= min(2, len(word))

    @given(st.text(max_size=20))
    def test_no_word_breaks_the_stemmer(self, word: str) -> None:
        assert len(stem(word)) <= max(len(word), len("person"))

    def test_different_words_keep_different_stems(self) -> None:
        listed = (
            "harbour nickel guillemot cheese register foundation inspector ferry milk lake parish "
            "council"
        ).split()
        assert len({stem(word) for word in listed}) == len(listed)

    def test_terms_are_what_a_text_is_about(self) -> None:
        assert terms("Who are the children of the parents who run Svedjan?") == [
            "child",
            "parent",
            "run",
            "svedjan",
        ]
        assert terms("the parents' child runs") == ["parent", "child", "run"]

    def test_stopwords_are_words(self) -> None:
        assert len(STOPWORDS) > 100
        assert all(words(word) == [word] for word in STOPWORDS)
        assert {"the", "who", "which", "not"} <= STOPWORDS


class TestShingles:
    def test_are_all_runs_of_words(self) -> None:
        assert shingles("A b c, d!", 2) == {"a b", "b c", "c d"}
        assert shingles("a b", 5) == {"a b"}
        assert shingles("", 5) == {""}

    @given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=12), st.integers(1, 6))
    def test_each_has_its_size_and_stands_in_the_text(self, listed: list[str], size: int) -> None:
        text = " ".join(listed)
        for run in shingles(text, size):
            assert run in text
            assert len(run.split()) == min(size, len(listed))

    def test_copies_share_them_and_strangers_do_not(self) -> None:
        story = (
            "The ferry Vanta struck the quay at Lodbaken in thick fog shortly after six in the "
            "morning on Tuesday"
        )
        copy = "VANTSKÄR: " + story.replace(",", "").upper() + "."
        other = (
            "A quite different account of the annual cheese fair that was held in the old school "
            "of the parish"
        )
        shared = shingles(story) & shingles(copy)
        assert len(shared) / len(shingles(story)) > 0.9
        assert not shingles(story) & shingles(other)


LONG: dict[str, str] = {
    "prose": "The harbour’s ice broke on 3 March. Nobody was hurt, they said.\n",
    "dots": ".",
    "dots and letters": ".a",
    "closing quotes": ".''''''''",
    "sentences": "A. ",
    "blank lines": "\n",
    "headings": "# a\n",
    "items": "- a\n",
    "spaces": " ",
    "line-end hyphens": "a-\n",
    "soft hyphens": "\u00ad",
    "accents": "\u0301",
    "ellipses": "…",
    "no space": "漢字。",
    "arabic": "نص عربي طويل. ",
    "arabic questions": "؟",
    "hindi": "यह बंदरगाह है। ",
    "thai": "เรือ ",
    "turned": ".\u200f",
    "plain marks in chinese": "吗?",
}


def read_in_every_way(text: str) -> None:
    with in_proportion():
        for function in (sentences, passages, fold, words, shingles):
            function(text)
        assert locate("what does “not” stand here", text) is None


@pytest.mark.parametrize("name", LONG)
def test_long_texts_take_time_in_proportion(name: str) -> None:
    """100,000 characters take a second at most; in the square, they would take minutes."""
    sample = LONG[name]
    read_in_every_way(sample * (100_000 // len(sample)) + "x")


@pytest.mark.slow
def test_two_megabytes_of_prose_take_time_in_proportion() -> None:
    read_in_every_way(LONG["prose"] * (2_000_000 // len(LONG["prose"])))


def test_a_quote_that_nearly_fits_everywhere_costs_no_more() -> None:
    with in_proportion():
        assert locate("." * 50_000, "…" * 200_000) is None
        assert locate("a" * 50_000 + "’", "a" * 200_000 + '"') is None


@pytest.mark.parametrize(
    ("quote", "text", "expected"),
    [
        ("5 million", "It cost 25 million in all.", "25 million"),
        ("250 cows", "They keep 1,250 cows.", "1,250 cows"),
        ("costs 3", "It costs 3.75 now.", "costs 3.75"),
        ("old", "The golden boat.", "golden"),
        ("the boat", "Take the boat, please.", "the boat"),
        ("in 1998", "Founded in 1998. Sold later.", "in 1998"),
        ("経営", "田中が経営する会社。", "経営"),
        ("เรือ", "ที่ท่าเรือนั้น", "เรือ"),
        ("A", "A", "A"),
    ],
)
def test_a_span_is_widened_to_whole_words_and_numbers(quote: str, text: str, expected: str) -> None:
    span = locate(quote, text)
    assert span is not None
    assert whole(span, text).of(text) == expected


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_widening_only_widens_and_ends(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    wide = whole(Span(start, end), text)
    assert 0 <= wide.start <= start <= end <= wide.end <= len(text)
    assert whole(wide, text) == wide


@pytest.mark.parametrize(
    ("text", "parted"),
    [
        ("", ""),
        ("plain words, 12 of them", "plain words, 12 of them"),
        ("AIOの完了", "AIO の完了"),
        ("上限は16384個", "上限は 16384 個"),
        ("epoll、inotify", "epoll、inotify"),
        ("POSIX와", "POSIX 와"),
        ("ใช้Linuxได้", "ใช้ Linux ได้"),
        ("日本語とкириллица", "日本語と кириллица"),
    ],
)
def test_scripts_without_spaces_are_parted_from_names(text: str, parted: str) -> None:
    assert part_scripts(text) == parted
    assert part_scripts(parted) == parted


@given(st.text(max_size=60))
def test_parting_scripts_adds_nothing_but_spaces(text: str) -> None:
    assert part_scripts(text).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    "parts",
    [
        ["Use p.e. 1023M o más.", "Es el límite."],
        ["Er kostet z.B. Zeit bzw. Geld.", "Das ist viel."],
        ["Los tamaños son Z e Y.", "También hay otros, y también estos."],
        ["It is written by J. Smith.", "He is the author."],
        ["Vea la opción -v.", "Este archivo es este mismo."],
        ["John F. Kennedy spoke.", "The crowd of the town listened."],
        ["Véase la pág. 12 y el art. 5.", "Son claros."],
        ["Ontario's O. Reg. 114/94 and Sec. 7 apply.", "Art. 5 does not."],
        ["See Para. 3 of Vol. 2.", "It says so."],
        ["She taught Art.", "It paid little."],
        ["括弧 (この場合。 次も同じ。) は一つである。", "次の文。"],
        ["彼は「行く。すぐに帰る」と言った。", "終わり。"],
        ["開き括弧 ( だけがある。", "次の文。"],
    ],
)
def test_abbreviations_initials_and_brackets_do_not_end_a_sentence(parts: list[str]) -> None:
    text = " ".join(parts)
    assert [span.of(text) for span in sentences(text)] == parts


@pytest.mark.parametrize("piece", ["A. The ", "(。", "（あ。", "p.e. ", "「。」"])
def test_hard_stops_take_time_in_proportion(piece: str) -> None:
    with in_proportion():
        sentences(piece * 100_000)


@pytest.mark.parametrize(
    ("text", "many"),
    [
        ("", 0),
        ("three plain words", 3),
        ("룬드 항구는 열렸다", 3),
        ("日本語の文である。", 4),
        ("epollとinotifyを使う", 4),
    ],
)
def test_length_is_told_in_words_by_characters_where_there_are_no_spaces(
    text: str, many: int
) -> None:
    assert count_words(text) == many


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Por de\u2010\n       fecto, sí", "Por defecto, sí"),
        ("the inter\u00ad\nnational", "the international"),
        ("a well-\n  known case", "a well-known case"),
        ("1990 -\n1995", "1990 - 1995"),
        ("通知を行\n       わないである。\n次", "通知を行わないである。次"),
        ("使う ino\u2010\ntify は", "使う inotify は"),
        ("plain\nlines  and\tblanks", "plain lines and blanks"),
        ("", ""),
    ],
)
def test_lines_are_joined_as_they_are_read(text: str, shown: str) -> None:
    assert join_lines(text) == shown


@pytest.mark.parametrize(
    ("text", "most", "left"),
    [
        ("", 10, ""),
        ("One sentence that is longer than wanted. Two.", 10, None),
        ("no stop at all and longer than wanted", 10, "no stop at all and longer than wanted"),
        ("One. Two. Three.", 16, "One. Two. Three."),
        ("One. Two. Three.", 15, "One. Two."),
        ("One. Two. Three.", 9, "One. Two."),
        ("一つ目の文。二つ目の文。", 8, "一つ目の文。"),
    ],
)
def test_a_long_text_is_told_by_its_first_sentences(text: str, most: int, left: str | None) -> None:
    whole_first = "One sentence that is longer than wanted."
    assert in_brief(text, most) == (whole_first if left is None else left)


@given(TEXTS | PROSE, st.integers(1, 80))
def test_what_is_told_in_brief_begins_the_text_and_ends_with_a_sentence(
    text: str, most: int
) -> None:
    brief = in_brief(text, most)
    assert text.startswith(brief)
    assert len(text) > most or brief == text
    ends = {span.end for span in sentences(text)}
    assert brief == text or len(brief) in ends or not ends
