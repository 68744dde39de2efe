"""Copies of pairs with some words replaced by near ones, so that a small set teaches more.

Which words are near comes from the word embeddings of all-MiniLM-L6-v2; `weights.py` writes the
table. In half of the copies a word becomes the same other word everywhere, so that one text bears
on the other as before; in the rest each place gets its own word, which mostly undoes that. Nobody
has labelled a copy: the teacher judges it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from data import UNSAID, Items, joined
from torch import Tensor

COPIES = {
    "mnli": 10, "fever": 4, "fm2": 4, "checkcovid": 6, "wice": 4, "summedits": 2, "begin": 2,
    "cb": 4, "sanli": 2, "conjnli": 2, "scitail": 2, "cad": 2, "boolq": 1, "perspectrum": 1,
    "snli": 1, "near": 1, "rule.claim": 1,
}  # fmt: skip
"""How many copies of a pair, by the start of its source's name: most for scarce texts that resemble
those to be judged."""
SHARE, SHARE_COMMON = 0.22, 0.05
"""The share of words that are replaced: of all, and of the commonest."""
COMMON = 2_200
"""Tokens are numbered by how common they are, from 1,996 on: those below this one are articles,
pronouns and the like."""
MIXER = 0x2545F4914F6CDD1D
SALT = 2_026


def chance(keys: Tensor, salt: int) -> Tensor:
    """Return a number of 31 bits for each key, the same on every machine."""
    mixed = keys * 1_000_003 + salt
    for shift in (29, 32, 27):
        mixed = (mixed ^ (mixed >> shift)) * MIXER
    return (mixed >> 33) & 0x7FFFFFFF


def varied(flat: Tensor, owners: Tensor, alike: Tensor, near: Tensor, salt: int) -> Tensor:
    """Return tokens with some of them replaced.

    Args:
        flat: Tokens, one item after the other.
        owners: The item of each token.
        alike: For each token, whether its item's words are replaced everywhere alike.
        near: For each token of the vocabulary, its possible replacements; itself if there are none.
        salt: Another salt gives another copy.
    """
    tokens = flat.long()
    keys = torch.where(
        alike, owners * near.shape[0] + tokens, torch.arange(len(flat), device=flat.device)
    )
    followed = torch.zeros_like(alike)
    # A piece of the same word comes next: the word is not this token.
    followed[:-1] = near[tokens[1:], 0] == -1
    share = torch.where(tokens < COMMON, SHARE_COMMON, SHARE)
    chosen = (chance(keys, salt) < share * 0x7FFFFFFF) & ~followed
    other = near[tokens, chance(keys, salt + 1) % near.shape[1]]
    return torch.where(chosen & (other >= 0), other, tokens).to(flat.dtype)


def with_copies(items: Items, table: Path) -> Items:
    """Return the items, followed by the copies."""
    near = torch.from_numpy(np.load(table)["near"].astype(np.int64))
    wanted = torch.tensor([_copies(source) for source in items.sources]) * (items.facts[:, 0] == 0)
    parts = [items]
    for number in range(max(COPIES.values())):
        which = (wanted > number).nonzero()[:, 0]
        lengths = items.lengths[which]
        starts = torch.cumsum(lengths, 0) - lengths
        owners = torch.repeat_interleave(which, lengths)
        places = torch.arange(int(lengths.sum())) + torch.repeat_interleave(
            items.starts[which] - starts, lengths
        )
        flat = varied(
            items.flat[places], owners, (owners + number) % 2 == 0, near, SALT + 2 * number
        )
        facts = torch.tensor([0, -1, 0, UNSAID, UNSAID, -1]).repeat(len(which), 1)
        weights = items.weights[which].clamp(max=1.5)
        parts.append(
            Items(
                flat,
                starts,
                lengths,
                items.firsts[which],
                facts,
                weights,
                items.groups[which],
                ["varied"] * len(which),
            )
        )
    return joined(parts)


def _copies(source: str) -> int:
    return next((count for name, count in COPIES.items() if source.startswith(name)), 0)
