"""The prepared items as tokens in tensors, and batches of pairs of similar length."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from weights import TOKENIZER

LONGEST = 256
"""Tokens of a pair."""
CHUNK = 20_000
SEPARATOR = 102
UNSAID = -100
"""The token number for an answer that nobody labelled; `cross_entropy` ignores it."""


class Batch(NamedTuple):
    """Some of the items."""

    which: Tensor
    """Their numbers."""
    width: int
    """The tokens of the longest item; computed beforehand, since asking the GPU makes it wait."""


@dataclass
class Items:
    """All items: their tokens one after the other, and the facts about each."""

    flat: Tensor
    starts: Tensor
    lengths: Tensor
    firsts: Tensor
    facts: Tensor
    """Kind (0 verify, 1 ask), label, two-way, first and last token of the answer, relevance: one
    row for each item."""
    weights: Tensor
    groups: Tensor
    """The evidence of a pair as a number: sentences about the same evidence are compared."""
    sources: list[str]

    def __len__(self) -> int:
        return len(self.lengths)

    def to(self, device: str) -> Items:
        """Return the items on a device."""
        held = (self.flat, self.starts, self.lengths, self.firsts, self.facts, self.weights)
        moved = (tensor.to(device) for tensor in (*held, self.groups))
        return Items(*moved, self.sources)

    def gather(self, flat: Tensor, batch: Batch, fill: float = 0) -> Tensor:
        """Return rows of consecutive values, padded."""
        lengths = self.lengths[batch.which]
        places = torch.arange(batch.width, device=flat.device)
        inside = places < lengths[:, None]
        found = flat[(self.starts[batch.which][:, None] + places).clamp(max=len(flat) - 1)]
        return torch.where(inside if found.dim() == 2 else inside[:, :, None], found, fill)


def joined(parts: Sequence[Items]) -> Items:
    """Return items of several kinds as one."""
    ends = np.cumsum([0, *(len(part.flat) for part in parts)])
    return Items(
        torch.cat([part.flat for part in parts]),
        torch.cat([part.starts + int(end) for part, end in zip(parts, ends[:-1], strict=True)]),
        *(
            torch.cat([getattr(part, name) for part in parts])
            for name in ("lengths", "firsts", "facts", "weights", "groups")
        ),
        [source for part in parts for source in part.sources],
    )


def read(file: Path, limit: int | None = None) -> list[list[Any]]:
    """Return the items of a file; with a limit, so many of them, spread over the file."""
    lines = lzma.decompress(file.read_bytes()).decode().rstrip("\n").split("\n")
    step = max(1, len(lines) // limit) if limit else 1
    return [json.loads(line) for line in lines[::step]]


def tokenised(rows: list[list[Any]]) -> Items:
    """Turn items into tensors."""
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.enable_truncation(LONGEST)
    tokens: list[np.ndarray[Any, Any]] = []
    firsts: list[int] = []
    facts: list[tuple[int, ...]] = []
    for at in range(0, len(rows), CHUNK):
        part = rows[at : at + CHUNK]
        for row, found in zip(
            part, tokenizer.encode_batch([(row[1], row[2]) for row in part]), strict=True
        ):
            ids = found.ids
            tokens.append(np.array(ids, np.int32))
            firsts.append(ids.index(SEPARATOR) + 1)
            facts.append(_facts(row, found, firsts[-1]))
    lengths = np.array([len(ids) for ids in tokens])
    return Items(
        torch.from_numpy(np.concatenate(tokens)),
        torch.from_numpy(np.cumsum(lengths) - lengths),
        torch.from_numpy(lengths),
        torch.tensor(firsts),
        torch.tensor(facts),
        torch.tensor([row[5] if row[0] == "v" else row[6] for row in rows], dtype=torch.float32),
        torch.tensor([_group(row) for row in rows]),
        [row[-1] for row in rows],
    )


def _group(row: list[Any]) -> int:
    """Return a number of the text that an item is read in."""
    text = row[1] if row[0] == "v" else row[2]
    return int.from_bytes(hashlib.md5(text.encode(), usedforsecurity=False).digest()[:7])


def _facts(row: list[Any], found: Any, first: int) -> tuple[int, ...]:
    if row[0] == "v":
        return (0, row[3], row[4], UNSAID, UNSAID, -1)
    start, end, relevant = row[3:6]
    if start == -2:
        return (1, -1, 0, UNSAID, UNSAID, relevant)
    if start == -1:
        return (1, -1, 0, 0, 0, relevant)
    offsets = found.offsets  # made anew at each look
    begins = [place for place in range(first, len(offsets) - 1) if offsets[place][1] > start]
    ends = [place for place in range(first, len(offsets) - 1) if offsets[place][0] < end]
    if not begins or not ends or ends[-1] < begins[0] or offsets[ends[-1]][1] < end:
        return (1, -1, 0, 0, 0, relevant)  # cut off: not in what is read
    return (1, -1, 0, begins[0], ends[-1], relevant)


def batches(
    lengths: Tensor, groups: Tensor, tokens: int, generator: np.random.Generator | None
) -> Iterator[Batch]:
    """Yield batches of items of similar length, those of a group together.

    They are in random order if a generator is given.
    """
    _, own = np.unique(groups.cpu().numpy(), return_inverse=True)
    sizes = lengths.cpu().numpy()
    longest = np.zeros(own.max(initial=0) + 1)
    np.maximum.at(longest, own, sizes)
    noise = generator.uniform(0, 4, len(longest)) if generator else 0
    order = np.lexsort((own, (longest + noise)[own]))
    made, at = [], 0
    while at < len(order):
        count = max(1, tokens // int(longest[own[order[min(at + tokens // 64, len(order) - 1)]]]))
        made.append(order[at : at + count])
        at += count
    if generator:
        generator.shuffle(made)
    for which in made:
        yield Batch(torch.from_numpy(which).to(lengths.device), int(sizes[which].max()))
