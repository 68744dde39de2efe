"""The readers judge claims by evidence, find answers in passages, and rate their relevance.

There are two, each one encoder with three heads, in int8 through onnxruntime. The reader is small
and rates hundreds of passages; the close reader is four times as large and slow, reads the few that
matter, and checks sentences. As with the embeddings, the result for a pair depends on the pair
alone: the graph quantises each token separately, and only pairs of exactly the same length share a
batch. Results are rounded to four places, so that processors that add in a different order still
agree.
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
"""Tokens of a pair, marks included: the training pairs had no more. Evidence and claim are cut to
fit, the longer one first."""

QUESTION_TOKENS = 64
"""Tokens of a question; the rest is dropped, to leave room for the passage."""

OVERLAP = 64
"""Tokens that neighbouring windows of a long passage share, so that an answer on an edge is
complete in one of them."""

ANSWER_TOKENS = 24
"""The longest answer: 95 % of the answers in the training data are shorter."""

MAX_CHARACTERS = 64 * MAX_TOKENS
"""Characters of the evidence or the claim that the tokenizer sees."""

PASSAGE_CHARACTERS = 100_000
"""Characters of a passage that are read, in about 120 windows."""

WINDOWS = 256
"""Windows of a passage that are read: technical prose of PASSAGE_CHARACTERS has 150. As many signs,
each a token of its own, would have 520 and take 40 seconds of one core."""

CHUNK = 512
"""Pairs that are tokenised at a time, before they are judged."""

DIGITS = 4
"""Decimal places that results are rounded to."""

DECIDED = 0.6
"""If no sentence takes a side with at least this probability, the document is neutral. Found with
the first prototype."""

FILE = "model.onnx"
"""The name of a model's file."""


@dataclass(frozen=True, slots=True)
class ReaderModel:
    """A model that deepdiver ships. All of them use the tokenizer of the embeddings."""

    folder: Path
    """The folder of its file; a README there says where it comes from."""
    sha256: str
    """The hash of its file; training/reader/quantise.py makes it and prints both."""
    temperature: float
    """The divisor of the verdicts' logits, found on held-out pairs."""
    supports: float
    """The probability from which on it takes evidence to support a claim. That of the close one is
    the highest with one decimal at which it agrees with 65 % of the right sentences for choosing
    (`bench/audit.py`)."""
    contradicts: float
    """The probability from which on it is almost sure that evidence contradicts a claim. That of
    the small one is the lowest with two decimals at which at most 1 % of the held-out sentences
    that their quote supports are called contradicted in every set of 200 or more: 0.6 % in the
    worst and 0.18 % of all 7,173. That of the close one, whose probabilities lie closer together,
    is the lowest with three at which at most 1.5 %, half of the false alarms that are allowed, are
    of all held-out sentences together, those of `edits.py` and `written.py` included. Their
    probabilities end at 0.955 and 0.93."""
    batch_tokens: int
    """Tokens in one run of the graph: with more it is not faster, and needs more memory."""
    packed: bool = True
    """Whether the runtime holds its weights in a second layout."""


SMALL = ReaderModel(
    folder=Path(__file__).parent / "reader_model",
    sha256="6c9908bdb141679074d77dcc835824ec8848eca392a65b38ca6ae40518fd3940",
    temperature=1.14,
    supports=0.6,
    contradicts=0.93,
    batch_tokens=1_024,
)
CLOSE = ReaderModel(
    folder=Path(__file__).parent / "close_reader_model",
    sha256="0a6e85834b723b66f7a8144d41483f3a09c011081c55d439e6350ac565ef20cd",
    temperature=1.44,
    supports=0.7,
    contradicts=0.907,
    batch_tokens=512,
    packed=False,
)

Stance = Literal["supports", "refutes", "neutral"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How evidence bears on a claim: three calibrated probabilities that add up to one."""

    supports: float
    """That the evidence supports the claim."""
    refutes: float
    """That the evidence contradicts the claim."""
    neutral: float
    """That the evidence does not decide."""

    @property
    def stance(self) -> Stance:
        """The likeliest of the three; in a tie, the more cautious one."""
        if self.neutral >= max(self.supports, self.refutes):
            return "neutral"
        return "refutes" if self.refutes >= self.supports else "supports"


NOTHING = Verdict(0.0, 0.0, 1.0)
"""The verdict when there is no evidence or no claim to judge."""


@dataclass(frozen=True, slots=True)
class DocumentVerdict:
    """How a document bears on a claim, judged by its sentences and pairs of adjacent ones."""

    supports: float
    """The highest probability that one of these parts supports the claim."""
    refutes: float
    """The highest probability that one of them refutes it."""
    verdict: Verdict
    """The verdict of the strongest part."""
    first: int
    """The number of the strongest part's first sentence; -1 if the document is empty."""
    last: int
    """The number of the strongest part's last sentence."""
    whole: Verdict = NOTHING
    """The verdict of all parts together. It is calibrated; the strongest of many parts is
    overconfident."""
    leaning: float = -math.inf
    """How far the part that favours the claim most supports it rather than denies it, for ranking
    claims; see `weigh_parts`."""

    @property
    def stance(self) -> Stance:
        """The side of the strongest part; neutral unless a part decides with at least DECIDED."""
        if max(self.supports, self.refutes) < DECIDED:
            return "neutral"
        return "supports" if self.supports > self.refutes else "refutes"


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """The best answer to a question in one passage."""

    text: str
    """The answer, as it stands in the passage; empty if the passage has no words."""
    start: int
    """Where it begins in the passage, in characters."""
    end: int
    """Where it ends."""
    score: float
    """The probability that these are the answer's first and last words, 0 to 1."""
    none: float
    """The probability that the passage does not answer, 0 to 1."""


class Reader:
    """Reads pairs of texts. Threads may share it. It reads its files at the first call."""

    def __init__(self, model: ReaderModel = SMALL, *, threads: int = 0) -> None:
        """Choose the model and the number of threads.

        Args:
            model: Which of the models.
            threads: How many threads one call may use; 0 means one for each core.
        """
        self._model = model
        self._threads = threads
        self._loaded = onnx_model.Once(self._load)

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """Return a verdict for each pair of evidence and claim, in the order of the pairs.

        A pair in which one text has no words gets the verdict NOTHING.

        Raises:
            StoreAccessError: If a file of the model is missing.
            DamagedStoreError: If a file is not the one that deepdiver ships.
        """
        tokenizer, _, session = self._loaded()
        made: list[Verdict] = []
        for start in range(0, len(pairs), CHUNK):
            texts = [
                (_readable(evidence), _readable(claim))
                for evidence, claim in pairs[start : start + CHUNK]
            ]
            rows = self._run(session, tokenizer.encode_batch(texts), "verdict")
            made += [
                _verdict(row, self._model.temperature) if all(map(_worded, pair)) else NOTHING
                for pair, row in zip(texts, rows, strict=True)
            ]
        return made

    def verify_document(self, sentences: Sequence[str], claim: str) -> DocumentVerdict:
        """Return the strongest verdict of the sentences and of the pairs of adjacent ones.

        Judging whole documents works worse: on SciFact, sentences and pairs gave a macro F1 that
        was higher by 0.1.
        """
        return self.verify_documents([(sentences, claim)])[0]

    def verify_documents(
        self, documents: Sequence[tuple[Sequence[str], str]]
    ) -> list[DocumentVerdict]:
        """Judge several documents, each with its own claim; this is faster than one at a time."""
        return [
            _weighed(sentences, claim, parts)
            for (sentences, claim), parts in zip(documents, self.parts(documents), strict=True)
        ]

    def parts(self, documents: Sequence[tuple[Sequence[str], str]]) -> list[list[JudgedPart]]:
        """Judge each sentence and each pair of adjacent ones in several documents."""
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
        """Return the best answer to a question in each passage, in the order of the passages."""
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
        """Return the probability that each passage bears on a question or a claim, 0 to 1.

        A long passage gets the probability of its best window.
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
        """Yield each window with the number of its passage and the model's output for it."""
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
                for window in (first, *first.overflowing)[:WINDOWS]
            ]
            rows = self._run(session, [window for _, window in found], what)
            for (at, window), logits in zip(found, rows, strict=True):
                yield start + at, window, logits

    def _run(self, session: Any, found: Sequence[Encoding], what: str) -> list[Floats]:
        """Return one output of the model for each pair, in the order of the pairs."""
        import numpy as np

        given = {"ids": [pair.ids for pair in found], "types": [pair.type_ids for pair in found]}
        made: list[Floats] = [np.empty(0, np.float32)] * len(found)
        # Verdict and relevance are read off the first token.
        kept = MAX_TOKENS if what == "spans" else 1
        for number, row in onnx_model.run_batches(
            session, what, given, self._model.batch_tokens, self._threads, kept=kept
        ):
            made[number] = row
        return made

    def _load(self) -> tuple[Tokenizer, Tokenizer, Any]:
        model = onnx_model.checked(self._model.folder / FILE, self._model.sha256)
        return *_tokenizers(), onnx_model.open_session(model, packed=self._model.packed)


@cache
def _tokenizers() -> tuple[Tokenizer, Tokenizer]:
    """Return the tokenizers of pairs, and of windows of long passages; both readers use them."""
    file, sha256 = embed.FOLDER / "tokenizer.json", embed.HASHES["tokenizer.json"]
    tokenizer, windows = (
        onnx_model.load_tokenizer(file, sha256),
        onnx_model.load_tokenizer(file, sha256),
    )
    tokenizer.enable_truncation(MAX_TOKENS)
    windows.enable_truncation(MAX_TOKENS, stride=OVERLAP, strategy="only_second")
    return tokenizer, windows


@cache
def load_reader() -> Reader:
    """Return the reader that the whole process shares."""
    return Reader()


@cache
def load_close_reader() -> Reader:
    """Return the close reader that the whole process shares."""
    return Reader(CLOSE)


def _readable(text: str) -> str:
    return onnx_model.encodable(text, MAX_CHARACTERS)


def _worded(text: str) -> bool:
    return any(map(str.isalnum, text))


def _weighed(sentences: Sequence[str], claim: str, parts: Sequence[JudgedPart]) -> DocumentVerdict:
    """Return the verdict of a document's parts; of two equally strong parts the first counts."""
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
    """Return the verdict of two probabilities; the rest is neutral."""
    supports, refutes = round(supports, DIGITS), round(refutes, DIGITS)
    return Verdict(supports, refutes, round(1 - supports - refutes, DIGITS))


def _verdict(logits: Floats, temperature: float) -> Verdict:
    import numpy as np

    scaled = np.exp((logits - logits.max()) / temperature)
    shares = scaled / scaled.sum()
    return _of_sides(float(shares[0]), float(shares[1]))


def _shares(logits: Floats, window: Encoding) -> Floats:
    """Return the probability of each token.

    Only the words of the passage have one, and the first mark, which stands for "no answer".
    """
    import numpy as np

    allowed = np.array(window.type_ids) == 1
    allowed[-1] = False  # the mark at the end
    allowed[0] = True
    shares = np.where(allowed, np.exp(logits - logits[allowed].max()), 0)
    return np.asarray(shares / shares.sum(), np.float32)
