"""The reader.

Judges a claim by evidence, finds the answer to a question in a passage, and says if the passage
matters.

One small encoder with three heads, in int8 through onnxruntime. As with the embeddings, a pair's
result depends on nothing but the pair: the graph quantises each token by itself, and pairs share a
batch only with pairs of exactly their length. Results are rounded to four places, so that
processors that add in another order still agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from deepdiver.encoders import embed, onnx_model, weigh_parts
from deepdiver.encoders.weigh_parts import JudgedPart

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Encoding, Tokenizer

    Floats = npt.NDArray[np.float32]

MAX_TOKENS = 256
"""Tokens of a pair, marks included: it was trained on no more. Evidence and claim are cut, the
longer one first."""

QUESTION_TOKENS = 64
"""Tokens of a question; the rest of it is not read, so that there is room for the passage."""

OVERLAP = 64
"""Tokens that neighbouring windows of a long passage share: an answer on an edge is whole in one of
them."""

ANSWER_TOKENS = 24
"""The longest answer: nineteen in twenty of those it was trained on are shorter."""

MAX_CHARACTERS = 64 * MAX_TOKENS
"""What the tokenizer is given of evidence or claim."""

PASSAGE_CHARACTERS = 100_000
"""What is read of a passage: some 120 windows."""

CHUNK = 512
"""Pairs that are tokenised before they are judged."""

BATCH_TOKENS = 1_024
"""Tokens in one run of the graph."""

DIGITS = 4
"""Places that results are rounded to."""

TEMPERATURE = 1.14
"""What verdicts' logits are divided by; training/reader/quantise.py finds it on held-out pairs."""

DECIDED = 0.6
"""A stance under this in every sentence is no stance: the document says not enough. Found with the
first prototype."""

FOLDER = Path(__file__).parent / "reader_model"
"""The model file, and a README that says where it comes from. The tokenizer is that of the
embeddings."""

HASHES = {"model.onnx": "6c9908bdb141679074d77dcc835824ec8848eca392a65b38ca6ae40518fd3940"}
"""SHA-256 of the file; training/reader/quantise.py makes it and prints it."""

Stance = Literal["supports", "refutes", "neutral"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How evidence bears on a claim: three probabilities, calibrated, that add up to one."""

    supports: float
    """That the evidence bears the claim out."""
    refutes: float
    """That it contradicts the claim."""
    neutral: float
    """That it says not enough."""

    @property
    def stance(self) -> Stance:
        """The likeliest of the three; where two are equal, the more careful one."""
        if self.neutral >= max(self.supports, self.refutes):
            return "neutral"
        return "refutes" if self.refutes >= self.supports else "supports"


NOTHING = Verdict(0.0, 0.0, 1.0)
"""The verdict where there is nothing to judge by."""


@dataclass(frozen=True, slots=True)
class DocumentVerdict:
    """How a document bears on a claim, judged by its sentences and by pairs of adjacent ones."""

    supports: float
    """The most that any of these supports the claim."""
    refutes: float
    """The most that any of these refutes it."""
    verdict: Verdict
    """The verdict of the strongest of them."""
    first: int
    """The number of the strongest's first sentence; -1 where the document has none."""
    last: int
    """The number of its last sentence."""
    whole: Verdict = NOTHING
    """What all of them say together: calibrated, where the strongest of many is overconfident."""
    leaning: float = -math.inf
    """How far the one that favours the claim most does so rather than deny it, for ranking claims;
    see `weighing`."""

    @property
    def stance(self) -> Stance:
        """What the strongest say: not enough unless a side is likelier than DECIDED somewhere."""
        if max(self.supports, self.refutes) < DECIDED:
            return "neutral"
        return "supports" if self.supports > self.refutes else "refutes"


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """The best answer to a question in one passage."""

    text: str
    """It, as it stands in the passage; empty where the passage has no words."""
    start: int
    """Where it begins in the passage, in characters."""
    end: int
    """Where it ends."""
    score: float
    """How likely these are its first and last word, 0 to 1."""
    none: float
    """How likely the passage does not answer, 0 to 1."""


class Reader:
    """Reads pairs of texts; threads may share it. The files are read at the first call."""

    def __init__(self, folder: Path = FOLDER, *, threads: int = 0) -> None:
        """Say what to use.

        Args:
            folder: Where the model's file is.
            threads: How many one call may use; 0 is one for each core.
        """
        self._folder = folder
        self._threads = threads
        self._loaded = onnx_model.Once(self._load)

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """Return a verdict for each pair of evidence and claim, in their order.

        Without words nothing is judged.

        Raises:
            StoreAccessError: If a file of the model is not there.
            DamagedStoreError: If it is another than we shipped.
        """
        tokenizer, _, session = self._loaded()
        made: list[Verdict] = []
        for start in range(0, len(pairs), CHUNK):
            texts = [
                (_readable(evidence), _readable(claim))
                for evidence, claim in pairs[start : start + CHUNK]
            ]
            rows = _run(session, tokenizer.encode_batch(texts), "verdict", self._threads)
            made += [
                _verdict(row) if all(map(_worded, pair)) else NOTHING
                for pair, row in zip(texts, rows, strict=True)
            ]
        return made

    def verify_document(self, sentences: Sequence[str], claim: str) -> DocumentVerdict:
        """Judge a claim by each sentence and by each pair of adjacent ones, and return the strongest.

        Whole documents are judged worse: on SciFact the macro F1 of sentences and pairs was higher
        by 0.1.
        """
        return self.verify_documents([(sentences, claim)])[0]

    def verify_documents(
        self, documents: Sequence[tuple[Sequence[str], str]]
    ) -> list[DocumentVerdict]:
        """Judge several documents, each with its claim; faster than one at a time."""
        return [
            _weighed(sentences, claim, parts)
            for (sentences, claim), parts in zip(documents, self.parts(documents), strict=True)
        ]

    def parts(self, documents: Sequence[tuple[Sequence[str], str]]) -> list[list[JudgedPart]]:
        """Judge the sentences of several documents, and each pair of adjacent ones, by each document's claim."""
        units = [
            (number, first, last)
            for number, (sentences, _) in enumerate(documents)
            for first in range(len(sentences))
            for last in (first, first + 1)
            if last < len(sentences)
        ]
        pairs = [
            (" ".join(documents[at][0][first : last + 1]), documents[at][1])
            for at, first, last in units
        ]
        made: list[list[JudgedPart]] = [[] for _ in documents]
        for (number, first, last), verdict in zip(units, self.verify(pairs), strict=True):
            made[number].append(JudgedPart(first, last, verdict.supports, verdict.refutes))
        return made

    def spans(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
        """Return the best answer to a question in each passage, in their order."""
        import numpy as np

        made = [AnswerSpan("", 0, 0, 0.0, 1.0)] * len(passages)
        for number, window, logits in self._asked(question, passages, "spans"):
            begins, ends = _shares(logits[:, 0], window), _shares(logits[:, 1], window)
            both = np.triu(begins[1:, None] * ends[None, 1:]) - np.triu(
                begins[1:, None] * ends[None, 1:], ANSWER_TOKENS
            )
            begin, end = (int(at) + 1 for at in np.unravel_index(int(both.argmax()), both.shape))
            score, none = (
                round(float(both.max()), DIGITS),
                round(float(begins[0] * ends[0]), DIGITS),
            )
            before = made[number]
            if score > before.score:
                start, stop = window.offsets[begin][0], window.offsets[end][1]
                made[number] = AnswerSpan(
                    passages[number][start:stop], start, stop, score, min(none, before.none)
                )
            elif none < before.none:
                made[number] = AnswerSpan(before.text, before.start, before.end, before.score, none)
        return made

    def relevance(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return how likely each passage bears on a question or a claim, 0 to 1.

        Of a long one, its best window.
        """
        import numpy as np

        made = [0.0] * len(passages)
        for number, _, logits in self._asked(question, passages, "relevance"):
            made[number] = max(
                made[number], round(float(1 / (1 + np.exp(-float(logits[0])))), DIGITS)
            )
        return made

    def _asked(
        self, question: str, passages: Sequence[str], what: str
    ) -> Iterator[tuple[int, Encoding, Floats]]:
        """Yield, for each window of each passage, the passage's number, the window, and what the model says of it."""
        tokenizer, windows, session = self._loaded()
        short = _readable(question)
        tokens = tokenizer.encode(short, add_special_tokens=False).offsets
        short = short[: tokens[QUESTION_TOKENS - 1][1]] if len(tokens) > QUESTION_TOKENS else short
        for start in range(0, len(passages), CHUNK):
            part = [
                (short, onnx_model.encodable(text, PASSAGE_CHARACTERS))
                for text in passages[start : start + CHUNK]
            ]
            whole = windows.encode_batch(part)
            found = [
                (at, window)
                for at, first in enumerate(whole)
                for window in (first, *first.overflowing)
            ]
            rows = _run(session, [window for _, window in found], what, self._threads)
            for (at, window), logits in zip(found, rows, strict=True):
                yield start + at, window, logits

    def _load(self) -> tuple[Tokenizer, Tokenizer, Any]:
        file, sha256 = embed.FOLDER / "tokenizer.json", embed.HASHES["tokenizer.json"]
        tokenizer, windows = (
            onnx_model.load_tokenizer(file, sha256),
            onnx_model.load_tokenizer(file, sha256),
        )
        tokenizer.enable_truncation(MAX_TOKENS)
        windows.enable_truncation(MAX_TOKENS, stride=OVERLAP, strategy="only_second")
        model = onnx_model.read_checked(self._folder / "model.onnx", HASHES["model.onnx"])
        return tokenizer, windows, onnx_model.open_session(model)


@cache
def load_reader() -> Reader:
    """Return the process's one reader."""
    return Reader()


def _readable(text: str) -> str:
    return onnx_model.encodable(text, MAX_CHARACTERS)


def _worded(text: str) -> bool:
    return any(map(str.isalnum, text))


def _weighed(sentences: Sequence[str], claim: str, parts: Sequence[JudgedPart]) -> DocumentVerdict:
    """Return what the parts of a document say together.

    Where two are as strong, the first counts.
    """
    if not parts:
        return DocumentVerdict(0.0, 0.0, NOTHING, -1, -1)
    supports, refutes = max(part.supports for part in parts), max(part.refutes for part in parts)
    strongest = max(parts, key=lambda part: max(part.supports, part.refutes))
    verdict = _of_sides(strongest.supports, strongest.refutes)
    whole = _of_sides(*weigh_parts.weigh(weigh_parts.features(sentences, claim, parts)))
    leaning = weigh_parts.leaning(parts)
    return DocumentVerdict(
        supports, refutes, verdict, strongest.first, strongest.last, whole, leaning
    )


def _of_sides(supports: float, refutes: float) -> Verdict:
    """Return the verdict of two probabilities; what they leave says not enough."""
    supports, refutes = round(supports, DIGITS), round(refutes, DIGITS)
    return Verdict(supports, refutes, round(1 - supports - refutes, DIGITS))


def _verdict(logits: Floats) -> Verdict:
    import numpy as np

    scaled = np.exp((logits - logits.max()) / TEMPERATURE)
    shares = scaled / scaled.sum()
    return _of_sides(float(shares[0]), float(shares[1]))


def _shares(logits: Floats, window: Encoding) -> Floats:
    """Return the probability of each token.

    Only words of the passage, and the first mark for none, have any.
    """
    import numpy as np

    allowed = np.array(window.type_ids) == 1
    allowed[-1] = False  # the mark at the end
    allowed[0] = True
    shares = np.where(allowed, np.exp(logits - logits[allowed].max()), 0)
    return np.asarray(shares / shares.sum(), np.float32)


def _run(session: Any, found: Sequence[Encoding], what: str, threads: int) -> list[Floats]:
    """Return one output of the model for each pair, in their order."""
    import numpy as np

    given = {"ids": [pair.ids for pair in found], "types": [pair.type_ids for pair in found]}
    made: list[Floats] = [np.empty(0, np.float32)] * len(found)
    kept = (
        MAX_TOKENS if what == "spans" else 1
    )  # verdict and relevance are read off the first token
    for number, row in onnx_model.run_batches(
        session, what, given, BATCH_TOKENS, threads, kept=kept
    ):
        made[number] = row
    return made
