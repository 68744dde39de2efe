"""The reader in torch: an encoder with three heads, and the two encoders that it may have."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel
from weights import STUDENT, TEACHERS, unpack

MASKED = -1e4
"""The logit of a token that cannot begin or end an answer."""


class Reader(nn.Module):
    """Judges claims by evidence, finds answers in passages, and rates the passages' relevance."""

    def __init__(self, encoder: nn.Module, width: int, *, has_types: bool) -> None:
        """Take an encoder.

        Args:
            encoder: BERT or MPNet.
            width: The width of its vectors.
            has_types: Whether it is given which tokens belong to the second text.
        """
        super().__init__()
        self.encoder = encoder
        self.has_types = has_types
        self.pool = nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)
        self.verify = nn.Linear(width, 3)
        self.relevance = nn.Linear(width, 1)
        self.span = nn.Linear(width, 2)

    def forward(
        self, ids: Tensor, lengths: Tensor, firsts: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the logits of verdict (3), relevance (1), and each token's start and end (2).

        Args:
            ids: Tokens as the student numbers them, padded with 0.
            lengths: Tokens of each pair.
            firsts: Tokens of each pair's first text, including both marks.
        """
        places = torch.arange(ids.shape[1], device=ids.device)
        mask = places < lengths[:, None]
        second = mask & (places >= firsts[:, None])
        if self.has_types:
            rows = self.encoder(
                input_ids=ids, attention_mask=mask.long(), token_type_ids=second.long()
            )[0]
        else:
            rows = self.encoder(input_ids=renumbered(ids), attention_mask=mask.long())[0]
        pooled = self.drop(torch.tanh(self.pool(rows[:, 0])))
        answer = second.clone()
        answer[:, 0] = True  # the first token stands for "no answer"
        spans = self.span(rows).float().masked_fill(~answer[:, :, None], MASKED)
        return self.verify(pooled).float(), self.relevance(pooled).float()[:, 0], spans


def renumbered(ids: Tensor) -> Tensor:
    """Return BERT's tokens as MPNet numbers them.

    The words are the same, four numbers on, and the marks are different.
    """
    made = ids + 4
    for old, new in ((0, 1), (101, 0), (102, 2), (100, 3)):
        made = torch.where(ids == old, new, made)
    return made


def student(folder: Path | None = None) -> Reader:
    """Return a reader on all-MiniLM-L6-v2, with its weights if a folder is given."""
    shape = BertConfig(
        vocab_size=30_522,
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1_536,
    )
    encoder = BertModel(shape, add_pooling_layer=False)
    if folder:
        _load(encoder, unpack(folder / STUDENT))
    return Reader(encoder, 384, has_types=True)


def teacher(folder: Path) -> Reader:
    """Return a reader on all-mpnet-base-v2."""
    shape = MPNetConfig(vocab_size=30_527, max_position_embeddings=514, layer_norm_eps=1e-5)
    encoder = MPNetModel(shape, add_pooling_layer=False)
    _load(encoder, unpack(*(folder / name for name in TEACHERS)))
    return Reader(encoder, 768, has_types=False)


def _load(encoder: nn.Module, tensors: dict[str, object]) -> None:
    held = {
        name: torch.from_numpy(values)
        for name, values in tensors.items()
        if not name.startswith("pooler")
    }
    held = {name: values for name, values in held.items() if not name.endswith("position_ids")}
    encoder.load_state_dict(held, strict=True)
