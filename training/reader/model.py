"""The reader in torch: an encoder with three heads, and the two encoders that it may have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel
from transformers.models.mpnet.modeling_mpnet import MPNetSelfAttention
from weights import STUDENT, TEACHERS, unpack

MASKED = -1e4
"""The logit of a token that cannot begin or end an answer."""
LAYERS = (0, 2, 3, 5, 6, 8, 9, 11)
"""The teacher's layers that the close reader begins with."""


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


def teacher(folder: Path | None = None) -> Reader:
    """Return a reader on all-mpnet-base-v2, with its weights if a folder is given."""
    made = _on_mpnet(12)
    if folder:
        _load(made.encoder, unpack(*(folder / name for name in TEACHERS)))
    return made


def close(trained: Reader | None = None) -> Reader:
    """Return the close reader: some layers of a teacher that was trained, if one is given."""
    made = _on_mpnet(len(LAYERS))
    if trained:
        held = trained.state_dict()
        kept = {f".layer.{old}.": f".layer.{new}." for new, old in enumerate(LAYERS)}
        chosen = {}
        for name, values in held.items():
            layer = re.search(r"\.layer\.\d+\.", name)
            if not layer:
                chosen[name] = values
            elif layer[0] in kept:
                chosen[name.replace(layer[0], kept[layer[0]])] = values
        made.load_state_dict(chosen)
    return made


def _on_mpnet(layers: int) -> Reader:
    shape = MPNetConfig(
        vocab_size=30_527,
        num_hidden_layers=layers,
        max_position_embeddings=514,
        layer_norm_eps=1e-5,
    )
    return Reader(MPNetModel(shape, add_pooling_layer=False), 768, has_types=False)


def look_fast() -> None:
    """Let MPNet attend with torch's own kernel: half of a step's time on an H200."""

    def forward(
        self: Any,
        hidden_states: Tensor,
        attention_mask: Tensor | None = None,
        position_bias: Tensor | None = None,
        output_attentions: bool = False,
        **_: Any,
    ) -> tuple[Tensor]:
        pairs, width, _size = hidden_states.shape
        heads = (
            part(hidden_states).view(pairs, width, self.num_attention_heads, -1).transpose(1, 2)
            for part in (self.q, self.k, self.v)
        )
        # What a head adds by distance stays as it is: its gradient would cost as much as attention.
        mask = position_bias.detach()
        if attention_mask is not None:
            mask = mask + attention_mask
        seen = nn.functional.scaled_dot_product_attention(
            *heads, attn_mask=mask.to(hidden_states.dtype), dropout_p=0.1 if self.training else 0.0
        )
        return (self.o(seen.transpose(1, 2).reshape(pairs, width, -1)),)

    MPNetSelfAttention.forward = forward


def _load(encoder: nn.Module, tensors: dict[str, object]) -> None:
    held = {
        name: torch.from_numpy(values)
        for name, values in tensors.items()
        if not name.startswith("pooler")
    }
    held = {name: values for name, values in held.items() if not name.endswith("position_ids")}
    encoder.load_state_dict(held, strict=True)
