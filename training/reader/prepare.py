"""Choose and make the reader's training data: one command, same input, same bytes.

::

    python training/reader/prepare.py ../shared/data build/reader

It writes `items.jsonl.xz` (training), `held.jsonl.xz` (one evidence text in twenty, and the dev and
test files of sets that have a training file; choices and calibration are made there) and
`counts.json`. An item is a list:

- `["v", evidence, claim, label, two_way, weight, source]`: label 0 supports, 1 refutes, 2 neutral,
  -1 for the teacher to decide; two_way marks sets whose "neutral" hides refutations, from which
  only "supports" is learnt;
- `["a", question, passage, start, end, relevant, weight, source]`: characters of the answer, -1 if
  there is none, -2 if nobody said; relevant 1, 0, or -1 if nobody said.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import rules

Item = list[Any]
Row = dict[str, Any]

SEED = 20_261
LABELS = {"supports": 0, "refutes": 1, "neutral": 2}
UNKNOWN, NONE = -1, -1
UNSAID = -2

PAIRS = {
    "mnli_ni.train": 1.5, "mnli_olora.train": 1.5, "snli_ni.train": 0.7, "cad_nli.train": 1.0,
    "conjnli.train": 1.0, "sanli_wiki.train": 1.0, "fever.dev": 2.0, "fever_symmetric.dev": 2.0,
    "fm2.dev": 2.0, "checkcovid.train": 3.0, "breaking_nli.test": 0.5, "cb.train": 1.0,
    "boolq_yesno.train": 1.0, "help.train": 0.5, "med.test": 0.5, "scitail_ni.train": 1.0,
    "begin.dev": 1.0, "begin.test": 1.0, "begin_v1.dev": 1.0, "begin_v1.test": 1.0, "wice.dev": 2.0,
    "wice.test": 2.0, "wice_partial.train": 1.0, "summedits.test": 1.0,
}  # fmt: skip
"""The sets of pairs, and the weight of a pair. A set without a training file here is trained on
with the files it has."""
TWO_WAY = frozenset(
    "help.train med.test scitail_ni.train begin.dev begin.test begin_v1.dev begin_v1.test wice.dev "
    "wice.test"
    " wice_partial.train".split()
)
UNLABELLED = ("fm2_nei_weak.dev", "perspectrum_ni.stance")
"""Guesses and stances: the texts are used, their labels are not."""
HELD_PAIRS = (
    "checkcovid.dev",
    "checkcovid.test",
    "conjnli.dev",
    "sanli_wiki.test",
    "fm2.test",
    "boolq_yesno.dev",
)
FACTUAL = (
    "mnli",
    "conjnli",
    "sanli",
    "fever",
    "fm2",
    "checkcovid",
    "scitail",
    "cb",
    "wice",
    "begin",
)
"""Sets about the world rather than about pictures: rules are applied to their claims."""
SPANS = {
    "qed_nq.train": 1.5, "squadshifts.new_wiki": 1.0, "squadshifts.reddit": 0.7,
    "squadshifts.amazon_reviews": 0.7, "iirc_ni.train": 1.0, "qasper_ni.train": 1.0,
    "covidqa.all": 1.0, "quoref_contrast.test": 1.0, "scitail_qa_ni.train": 0.5,
    "tweetqa_ni.train": 0.7, "squad2.devhalf": 1.5, "disflqa_ni.train": 1.0,
}  # fmt: skip
HELD_SPANS = ("qed_nq.dev", "xquad_en.test")
RANKS = (
    "fm2.dev",
    "multirc_ni.train",
    "squad2.devhalf",
    "squadshifts.new_wiki",
    "wice.dev",
    "wice.test",
)
HELD_RANKS = ("fm2.test",)

LONGEST = 1_100
"""Characters of evidence: about 256 tokens. A longer pair would be cut, and its label would be
wrong."""
LONGEST_PASSAGE = 1_500
COMMON = 150
"""A word in more texts than this does not relate them."""


def read(file: Path) -> list[Row]:
    """Return the rows of a set."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def key(text: str) -> str:
    """Return a text in the form in which it is compared."""
    return " ".join(re.findall(r"\w+", text.lower()))


def held_out(text: str) -> bool:
    """Return whether a text is in the twentieth that is not trained on."""
    return int(hashlib.md5(key(text).encode(), usedforsecurity=False).hexdigest(), 16) % 20 == 0


def evaluated(data: Path) -> set[str]:
    """Return all texts of the evaluation sets; nothing that contains one of them is trained on."""
    found: list[str] = []
    for name in ("mnli_olora.dev", "fever_symmetric.test"):
        for row in read(data / "training" / f"pairs.{name}.jsonl.gz"):
            found += [row["premise"], row["claim"]]
    fields = ("claim", "question")
    for file in sorted(
        [
            *data.glob("citation/*.jsonl"),
            *data.glob("retrieval/scifact.*.claims.jsonl"),
            *data.glob("reading/*.jsonl"),
            *data.glob("multihop/*.jsonl"),
            *data.glob("conflict/*.jsonl"),
        ]
    ):
        for line in file.read_text(encoding="utf-8").strip().split("\n"):
            row = json.loads(line)
            found += [row[field] for field in fields if isinstance(row.get(field), str)]
    return {key(text) for text in found}


class Maker:
    """Collects items."""

    def __init__(self, data: Path) -> None:
        """Take the folder of the data."""
        self.data = data
        self.chance = random.Random(SEED)  # noqa: S311
        self.forbidden = evaluated(data)
        self.items: list[Item] = []
        self.held: list[Item] = []
        self.seen: set[tuple[str, str]] = set()
        self.pairs: list[Item] = []
        self.asks: list[Item] = []
        self.names: list[str] = []
        self.dropped = 0

    def verify(
        self, evidence: str, claim: str, label: int, source: str, weight: float = 1.0
    ) -> None:
        """Add a pair for training, once."""
        mark = (evidence, claim)
        if (
            mark in self.seen
            or len(evidence) + len(claim) > LONGEST
            or not evidence.strip()
            or not claim.strip()
        ):
            return
        self.seen.add(mark)
        self.items.append(["v", evidence, claim, label, int(source in TWO_WAY), weight, source])

    def ask(
        self,
        question: str,
        passage: str,
        span: tuple[int, int],
        relevant: int,
        source: str,
        weight: float,
    ) -> None:
        """Add a question and a passage for training, once."""
        mark = (question, passage)
        if mark in self.seen or len(passage) > LONGEST_PASSAGE:
            return
        self.seen.add(mark)
        self.items.append(["a", question, passage, *span, relevant, weight, source])

    # The sets as they are

    def take_pairs(self) -> None:
        """Take the sets of pairs."""
        for name, weight in PAIRS.items():
            for row in read(self.data / "training" / f"pairs.{name}.jsonl.gz"):
                evidence, claim, label = row["premise"], row["claim"], LABELS[row["label"]]
                if key(claim) in self.forbidden or key(evidence) in self.forbidden:
                    self.dropped += 1
                elif held_out(evidence):
                    self.held.append(
                        ["v", evidence, claim, label, int(name in TWO_WAY), weight, name]
                    )
                else:
                    self.verify(evidence, claim, label, name, weight)
        self.pairs = list(self.items)
        for name in UNLABELLED:
            for row in read(self.data / "training" / f"pairs.{name}.jsonl.gz"):
                self.verify(row["premise"], row["claim"], UNKNOWN, name)
        for name in HELD_PAIRS:
            for row in read(self.data / "training" / f"pairs.{name}.jsonl.gz"):
                self.held.append(
                    ["v", row["premise"], row["claim"], LABELS[row["label"]], 0, 1.0, name]
                )

    def take_spans(self) -> None:
        """Take the questions with passages, without passages that a held-out set shares."""
        shared = {
            key(row["context"])
            for name in HELD_SPANS
            for row in read(self.data / "training" / f"spans.{name}.jsonl.gz")
        }
        for name, weight in SPANS.items():
            for row in read(self.data / "training" / f"spans.{name}.jsonl.gz"):
                span = span_of(row)
                if (
                    span is None
                    or key(row["question"]) in self.forbidden
                    or key(row["context"]) in shared
                ):
                    self.dropped += 1
                elif held_out(row["context"]):
                    self.held.append(["a", row["question"], row["context"], *span, 1, weight, name])
                else:
                    self.ask(
                        row["question"],
                        row["context"],
                        span,
                        UNKNOWN if span[0] < 0 else 1,
                        name,
                        weight,
                    )
        self.asks = [item for item in self.items if item[0] == "a"]
        for name in HELD_SPANS:
            for row in read(self.data / "training" / f"spans.{name}.jsonl.gz"):
                self.held.append(
                    [
                        "a",
                        row["question"],
                        row["context"],
                        *(span_of(row) or (UNSAID, UNSAID)),
                        1,
                        1.0,
                        name,
                    ]
                )

    def take_ranks(self) -> None:
        """Take the rankings: a query, a passage that is relevant, and some that are not."""
        for name in (*RANKS, *HELD_RANKS):
            for row in read(self.data / "training" / f"rank.{name}.jsonl.gz"):
                held = name in HELD_RANKS or held_out(row["positive"])
                if key(row["query"]) in self.forbidden:
                    continue
                for passage, relevant in [
                    (row["positive"], 1),
                    *((text, 0) for text in row["negatives"][:4]),
                ]:
                    if held:
                        self.held.append(
                            [
                                "a",
                                row["query"],
                                passage,
                                UNSAID,
                                UNSAID,
                                relevant,
                                1.0,
                                f"rank.{name}",
                            ]
                        )
                    elif not held_out(passage):
                        self.ask(
                            row["query"], passage, (UNSAID, UNSAID), relevant, f"rank.{name}", 1.0
                        )

    # Made by rule

    def edit_passages(self) -> None:
        """Make pairs from passages: a sentence as it is, with a fact changed, and unrelated."""
        passages = sorted({item[2] for item in self.asks})
        self.names = sorted(
            {name for text in passages for name in rules.NAME.findall(text)} - set(rules.FAMILY)
        )
        for passage in passages:
            found = [text for text in rules.sentences(passage) if 30 < len(text) < 320]
            for place in self.chance.sample(range(len(found)), min(4, len(found))):
                self.edit_sentence(found, place)

    def edit_sentence(self, found: list[str], place: int) -> None:
        """Make the pairs of one sentence of a passage."""
        chance, text = self.chance, found[place]
        first, last = max(0, place - chance.randint(0, 2)), place + 1 + chance.randint(0, 2)
        evidence = " ".join(found[first:last])
        changed = rules.edit(text, chance)
        if changed:
            self.verify(evidence, changed, 1, "rule.edit", 0.7)
        renamed = rules.name(text, self.names, chance)
        if renamed and chance.random() < 0.5:
            self.verify(evidence, renamed[0], UNKNOWN if renamed[1] else 1, "rule.name", 0.5)
        if chance.random() < 0.5:
            self.verify(evidence, text, 0, "rule.same", 0.5)
        beside = [other for spot, other in enumerate(found) if spot < first or spot >= last]
        if beside:
            self.verify(evidence, chance.choice(beside), 2, "rule.beside", 0.7)

    def edit_claims(self) -> None:
        """Make pairs from pairs: the claim changed, denied, and asked about."""
        for _, evidence, claim, label, two_way, _, source in self.pairs:
            chance = self.chance
            factual = source.startswith(FACTUAL)
            if chance.random() < (0.6 if factual else 0.15):
                changed = rules.edit(claim, chance)
                if changed:
                    self.verify(evidence, changed, 1 if label == 0 else UNKNOWN, "rule.claim", 0.7)
            question = rules.asked(claim)
            if not question or two_way or chance.random() > (0.5 if factual else 0.15):
                continue
            self.verify(f"{question} {evidence}", claim, label, "rule.asked", 0.7)
            said = chance.random()
            if said < 0.3:
                answer, meant = chance.choice([("Yes", 0), ("No", 1)])
                tail = chance.choice([".", f", {evidence}"]) if meant == label else "."
                self.verify(f"{question} {answer}{tail}", claim, meant, "rule.yesno", 0.5)
            elif said < 0.4:
                self.verify(f"{question} No answer could be found.", claim, 2, "rule.noanswer", 0.3)

    def state_answers(self) -> None:
        """Make pairs from questions: the answer stated, right, wrong, and from elsewhere."""
        answers: dict[str, list[str]] = defaultdict(list)
        for _, question, passage, start, end, *_ in self.asks:
            if start >= 0:
                answers[question.split()[0].lower()].append(passage[start:end])
        for _, question, passage, start, end, *_ in self.asks:
            if start < 0:
                continue
            answer = passage[start:end]
            right = rules.statement(question, answer)
            if not right:
                continue
            near = around(passage, start, end, self.chance)
            other = self.chance.choice(answers[question.split()[0].lower()])
            wrong = rules.statement(question, other) if key(other) not in key(near) else None
            asked = f"{question.rstrip('? ')}? {answer}."
            self.verify(near, right, 0, "rule.stated", 0.7)
            self.verify(asked, right, 0, "rule.stated", 0.5)
            if wrong:
                self.verify(near, wrong, 1, "rule.misstated", 0.7)
                self.verify(asked, wrong, 1, "rule.misstated", 0.5)
            changed = rules.edit(right, self.chance)
            if changed:
                self.verify(near, changed, 1, "rule.misstated", 0.7)

    def pair_with_neighbours(self) -> None:
        """Pair claims and questions with texts that share rare words, for the teacher to judge."""
        for source in PAIRS:
            rows = [item for item in self.pairs if item[6] == source]
            texts = sorted({item[1] for item in rows})
            found = neighbours([item[2] for item in rows], texts)
            share = 0.4 if source == "snli_ni.train" else 1.0
            for item, near in zip(rows, found, strict=True):
                for place in near:
                    if texts[place] != item[1] and self.chance.random() < share:
                        self.verify(texts[place], item[2], UNKNOWN, "near", 1.0)
                        break
                if self.chance.random() < share / 3:
                    self.verify(item[2], item[1], UNKNOWN, "swapped", 1.0)
        texts = sorted({item[2] for item in self.asks})
        for item, near in zip(
            self.asks, neighbours([item[1] for item in self.asks], texts), strict=True
        ):
            answer = key(item[2][item[3] : item[4]]) if item[3] >= 0 else ""
            for place in near:
                if texts[place] != item[2] and (not answer or answer not in key(texts[place])):
                    self.ask(item[1], texts[place], (NONE, NONE), 0, "near", 0.5)
                    break


def span_of(row: Row) -> tuple[int, int] | None:
    """Return the place of the answer: (-1, -1) if there is none, None if the row is unusable."""
    start, answer, passage = row["start"], row["answer"], row["context"]
    if start < 0:
        return (NONE, NONE)
    if not answer or passage[start : start + len(answer)] != answer:
        return None
    return (start, start + len(answer))


def around(passage: str, start: int, end: int, chance: random.Random) -> str:
    """Return the sentence that contains an answer, sometimes with its neighbours."""
    at, found = 0, rules.sentences(passage)
    for place, text in enumerate(found):
        at = passage.find(text, at)
        if at <= start and end <= at + len(text):
            return " ".join(
                found[max(0, place - chance.randint(0, 1)) : place + 1 + chance.randint(0, 1)]
            )
    return passage


def neighbours(queries: Sequence[str], texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield, for each query, the numbers of the texts that share most rare words with it."""
    index: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        for word in set(key(text).split()):
            index[word].append(number)
    for query in queries:
        found: Counter[int] = Counter()
        for word in sorted(set(key(query).split())):
            if len(index[word]) <= COMMON:
                for number in index[word]:
                    found[number] += 1
        yield [number for number, _ in found.most_common(3)]


def write(file: Path, items: Iterable[Item]) -> str:
    """Write items, grouped by text for the best compression; return the hash of the contents."""
    ordered = sorted(
        items, key=lambda item: (item[1] if item[0] == "v" else item[2], item[2], item[1])
    )
    data = "".join(
        json.dumps(item, ensure_ascii=False, separators=(",", ":")) + "\n" for item in ordered
    ).encode()
    file.write_bytes(lzma.compress(data, preset=6))
    return hashlib.sha256(data).hexdigest()


def main(arguments: list[str]) -> int:
    """Make the files."""
    data, folder = map(Path, arguments)
    folder.mkdir(parents=True, exist_ok=True)
    made = Maker(data)
    for step in (
        made.take_pairs,
        made.take_spans,
        made.take_ranks,
        made.edit_passages,
        made.edit_claims,
        made.state_answers,
        made.pair_with_neighbours,
    ):
        step()
        sys.stderr.write(f"{step.__name__}: {len(made.items):,} items\n")
    counts = {
        "dropped": made.dropped,
        "items": dict(Counter(f"{item[0]} {item[-1]}" for item in made.items)),
        "labels": dict(Counter(str(item[3]) for item in made.items if item[0] == "v")),
        "held": dict(Counter(f"{item[0]} {item[-1]}" for item in made.held)),
        "sha256": {
            name: write(folder / f"{name}.jsonl.xz", items)
            for name, items in (("items", made.items), ("held", made.held))
        },
    }
    (folder / "counts.json").write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
