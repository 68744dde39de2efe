"""Train the readers: a teacher on the labelled items, then students on labels and its opinion.

::

    python training/reader/train.py teacher build/reader --epochs 2
    python training/reader/train.py label   build/reader
    python training/reader/train.py student build/reader --steps 24500
    python training/reader/train.py close   build/reader --steps 5000

With `--begin FILE`, `label` takes the close reader's own opinion instead of a teacher's, so that
`close --begin FILE` learns more without forgetting. The README has the settings that were used.
Each command reads the files of `prepare.py` and `weights.py`, and leaves its result beside them. If
a call may not take long, `--seconds 540` ends it with a checkpoint and status 75; the same command
with `--resume` continues, until all steps are made. On a machine without a GPU add `--items 3000`:
it takes minutes, runs the same code, and shows that the loss falls; such a model is of no use.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import data
import model
import numpy as np
import torch
from course import Course, Limits, better, planned
from data import Batch, Items
from torch import Tensor, nn
from torch.nn import functional as f
from vary import with_copies
from weights import NEAR, cut, whole

SEED = 2026
TOKENS = 24_576
"""Tokens of a batch, padding included."""
RATES = {"teacher": 7e-5, "student": 4e-4, "close": 1e-4}
SMOOTHING = 0.05
MORE = {
    "items": ("others.jsonl.xz", "edits.jsonl.xz", "written.jsonl.xz"),
    "held": ("edits-held.jsonl.xz", "written-held.jsonl.xz"),
}
"""What else is learnt from or measured, if it is there."""
SOFT = 0.6
"""The weight of the teacher, beside a label that has the rest."""
LABELS_ONLY = ("written.", "edits.")
"""Items that the close reader, when it goes on, learns by their labels alone: its own opinion of
them is what is to change."""
MARGIN = 0.5
"""The weight of the loss of a difference, for the close reader when it goes on."""
TEACHER = "teacher.npz"
"""The teacher's weights, once it is trained."""
PAUSED = 75
"""The exit status of a training that has steps left."""
BEGAN = time.monotonic()


def say(*words: object) -> None:
    """Print with the seconds since the start."""
    sys.stdout.write(f"[{time.monotonic() - BEGAN:6.1f}] {' '.join(map(str, words))}\n")
    sys.stdout.flush()


def prepared(folder: Path, name: str, limit: int | None, plain: bool = False) -> Items:
    """Return items as tensors; they are cached, since tokenising takes half a minute.

    Args:
        folder: Where the texts are.
        name: The name of their file.
        limit: About how many; None means all.
        plain: Without copies that have other words, and without what `others.py` and `edits.py`
            make.
    """
    kept = folder / f"{name}-{limit or 'all'}{'-plain' if plain else ''}.pt"
    if not kept.exists():
        made = data.tokenised(data.read(folder / f"{name}.jsonl.xz", limit))
        if name == "items" and not plain and (folder / NEAR).exists():
            made = with_copies(made, folder / NEAR)
        more = [] if plain else [folder / file for file in MORE[name]]
        parts = [data.tokenised(data.read(file, limit)) for file in more if file.exists()]
        made = data.joined([made, *parts])
        torch.save(made, kept)
    held: Items = torch.load(kept, weights_only=False)
    return held


def read(reader: nn.Module, items: Items, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Return a reader's output for a batch: verdicts, relevance, and answers' starts and ends."""
    said: tuple[Tensor, Tensor, Tensor] = reader(
        items.gather(items.flat, batch), items.lengths[batch.which], items.firsts[batch.which]
    )
    return said


def loss_of(
    reader: nn.Module,
    items: Items,
    batch: Batch,
    opinion: dict[str, Tensor] | None,
    margin: float = 0.0,
) -> Tensor:
    """Return the loss of a batch, by labels and, if there is one, by the teacher's opinion.

    With a margin, the loss of the difference between right and wrong sentences is added.
    """
    verdict, relevance, spans = read(reader, items, batch)
    which = batch.which
    kind, label, two_way, first, last, relevant = items.facts[which].unbind(1)
    soft = SOFT * opinion["heeded"][which] if opinion else torch.zeros_like(items.weights[which])
    hard = 1 - soft

    three = f.cross_entropy(
        verdict, label, ignore_index=-1, reduction="none", label_smoothing=SMOOTHING
    )
    log = verdict.log_softmax(1)
    supports, other = log[:, 0], torch.logsumexp(log[:, 1:], 1)
    two = -torch.where(label == 0, supports, other)
    judged = torch.where(two_way == 1, two, three) * (label >= 0) * hard

    begins = f.cross_entropy(spans[:, :, 0], first, ignore_index=data.UNSAID, reduction="none")
    ends = f.cross_entropy(spans[:, :, 1], last, ignore_index=data.UNSAID, reduction="none")
    matters = f.binary_cross_entropy_with_logits(
        relevance, relevant.clamp(min=0).float(), reduction="none"
    )
    asked = (0.5 * (begins + ends) + 0.5 * matters * (relevant >= 0)) * hard

    if opinion:
        # A pair without a label has the teacher's word only.
        alone = torch.where(label >= 0, soft, torch.ones_like(soft))
        judged = judged + alone * f.cross_entropy(
            verdict, opinion["verdict"][which].float().softmax(1), reduction="none"
        )
        if "spans" in opinion:
            taught = items.gather(opinion["spans"], batch, model.MASKED).float()
            for side in (0, 1):
                asked = asked + soft * 0.5 * f.cross_entropy(
                    spans[:, :, side], taught[:, :, side].softmax(1), reduction="none"
                )
        believed = opinion["relevance"][which].float().sigmoid()
        asked = asked + soft * 0.5 * f.binary_cross_entropy_with_logits(
            relevance, believed, reduction="none"
        )
    weights = items.weights[which]
    loss = (torch.where(kind == 0, judged, asked) * weights).sum() / len(which)
    if margin:
        right = (kind == 0) & (label == 0)
        wrong = (kind == 0) & (label > 0)
        compared = difference(supports - other, items.groups[which], right, wrong)
        loss = loss + margin * (compared * weights).sum() / len(which)
    return loss


def difference(odds: Tensor, groups: Tensor, right: Tensor, wrong: Tensor) -> Tensor:
    """Return for each wrong sentence how little less it is supported than the right ones.

    This is the mean logistic loss of the difference to each right sentence about the same
    evidence, and 0 where there is none.
    """
    beside = wrong[:, None] & right[None, :] & (groups[:, None] == groups[None, :])
    loss = f.softplus(odds[:, None] - odds[None, :]) * beside
    return loss.sum(1) / beside.sum(1).clamp(min=1)


def train(
    reader: nn.Module,
    items: Items,
    held: Items,
    opinion: dict[str, Tensor] | None,
    asked: argparse.Namespace,
) -> nn.Module | None:
    """Train; return the average that held-out items prefer, or None if steps are left.

    Both averages are saved: other figures may prefer the other one.
    """
    device, role = str(items.flat.device), asked.what
    margin = MARGIN if role == "close" and asked.begin else 0.0
    made = passes(items, asked.tokens, halves=asked.halves)
    batches = planned(made, asked.epochs, asked.steps, SEED)
    limits = Limits(len(batches), asked.rate or RATES[role], asked.seconds, asked.every)
    course = Course(reader, limits, len(items))
    file = asked.checkpoint or asked.folder / f"{role}.checkpoint"
    if asked.resume and file.exists():
        course.load(file)
        say(role, f"goes on from step {course.step} of {limits.steps}")

    def loss(batch: Batch) -> Tensor:
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device != "cpu"):
            return loss_of(reader, items, batch, opinion, margin)

    course.advance(batches, loss, file, lambda *words: say(role, *words))
    if not course.finished:
        return None
    averages = course.averages()
    for name, average in averages.items():
        save(average, asked.folder / f"{role}-{name}.npz")
    return better(
        averages, lambda average: held_loss(average, held), lambda *words: say(role, *words)
    )


def passes(
    items: Items, tokens: int, *, halves: bool
) -> Callable[[np.random.Generator], list[Batch]]:
    """Return what makes the batches of a pass over the items.

    Args:
        items: The items.
        tokens: Tokens of a batch.
        halves: Whether a pass has only half of what `written.py` makes, and the next one the rest:
            a long training learns dossiers by heart.
    """
    written = torch.tensor([source.startswith("written.") for source in items.sources])
    left = written.to(items.groups.device) & halves
    turns = itertools.cycle((0, 1))

    def made(chance: np.random.Generator) -> list[Batch]:
        which = (~left | (items.groups // 8 % 2 == next(turns))).nonzero()[:, 0]
        found = data.batches(items.lengths[which], items.groups[which], tokens, chance)
        return [Batch(which[batch.which], batch.width) for batch in found]

    return made


@torch.no_grad()
def held_loss(reader: nn.Module, held: Items) -> float:
    """Return a reader's loss on held-out items, by their labels."""
    device = str(held.flat.device)
    reader.eval()
    total = 0.0
    for batch in data.batches(held.lengths, held.groups, 4 * TOKENS, None):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device != "cpu"):
            total += float(loss_of(reader, held, batch, None)) * len(batch.which)
    return total / len(held)


@torch.no_grad()
def opinions(reader: nn.Module, items: Items) -> dict[str, Tensor]:
    """Return a reader's output for all items: verdicts, relevance, and spans by token."""
    device = str(items.flat.device)
    made = {
        "verdict": torch.zeros(len(items), 3, dtype=torch.float16, device=device),
        "relevance": torch.zeros(len(items), dtype=torch.float16, device=device),
        "spans": torch.full((len(items.flat), 2), model.MASKED, dtype=torch.float16, device=device),
    }
    reader.eval()
    for batch in data.batches(items.lengths, items.groups, 4 * TOKENS, None):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device != "cpu"):
            verdict, relevance, spans = read(reader, items, batch)
        which = batch.which
        made["verdict"][which], made["relevance"][which] = verdict.half(), relevance.half()
        lengths = items.lengths[which]
        places = torch.arange(spans.shape[1], device=device)
        inside = places < lengths[:, None]
        made["spans"][(items.starts[which][:, None] + places)[inside]] = spans[inside].half()
    return made


def report(said: dict[str, Tensor], items: Items) -> None:
    """Print the share of right answers by source."""
    by: dict[str, list[int]] = defaultdict(list)
    for number, source in enumerate(items.sources):
        by[source].append(number)
    facts, verdict = items.facts.cpu().numpy(), said["verdict"].float().cpu().numpy()
    for source, numbers in sorted(by.items()):
        rows = facts[numbers]
        if rows[0, 0] == 0 and len(numbers) >= 100:
            found = verdict[numbers].argmax(1)
            right = (found == rows[:, 1]) if not rows[0, 2] else ((found == 0) == (rows[:, 1] == 0))
            two = verdict[numbers, 0] > verdict[numbers, 1]
            sides = (
                [np.mean(two[rows[:, 1] == 0]), np.mean(~two[rows[:, 1] == 1])]
                if (rows[:, 1] == 1).any()
                else []
            )
            say(
                "held",
                source,
                len(numbers),
                f"right {right.mean():.3f}",
                f"balanced {np.mean(sides):.3f}" if sides else "",
            )
        elif rows[0, 0] == 1 and source.startswith("rank"):
            score, good = said["relevance"][numbers].float().cpu().numpy(), rows[:, 5] == 1
            ranks = np.argsort(np.argsort(score)) + 1
            area = (ranks[good].sum() - good.sum() * (good.sum() + 1) / 2) / max(
                1, good.sum() * (~good).sum()
            )
            say("held", source, len(numbers), f"relevance AUC {area:.3f}")
    _report_spans(said, items)


def _report_spans(said: dict[str, Tensor], items: Items) -> None:
    right: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for number, source in enumerate(items.sources):
        first, last = items.facts[number, 3:5].tolist()
        if first < 0:
            continue
        at, size = int(items.starts[number]), int(items.lengths[number])
        spans = said["spans"][at : at + size].float()
        begin, end = int(spans[1:, 0].argmax()) + 1, int(spans[1:, 1].argmax()) + 1
        none = bool(spans[0].sum() > spans[begin, 0] + spans[end, 1])
        right[source].append((first > 0, none if first == 0 else (begin, end) == (first, last)))
    for source, found in sorted(right.items()):
        there, absent = [ok for has, ok in found if has], [ok for has, ok in found if not has]
        say(
            "held",
            source,
            f"exact {np.mean(there):.3f} of {len(there)};" if there else "",
            f"none {np.mean(absent):.3f} of {len(absent)}" if absent else "",
        )


def save(reader: nn.Module, file: Path) -> None:
    """Save weights as float16."""
    np.savez(
        file, **{name: weight.half().cpu().numpy() for name, weight in reader.state_dict().items()}
    )


def load(reader: nn.Module, file: Path) -> nn.Module:
    """Load weights that `save` wrote, whole or in pieces."""
    held = np.load(whole(file))
    reader.load_state_dict({name: torch.from_numpy(held[name]).float() for name in held.files})
    return reader


def options() -> argparse.Namespace:
    """Return the command-line options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["teacher", "label", "student", "close"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, help="train for so many steps, whatever the epochs")
    parser.add_argument("--items", type=int, help="train on about so many items only")
    parser.add_argument("--plain", action="store_true", help="no copies of pairs with other words")
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help="end this call after so long; see --resume"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on from the checkpoint, if there is one"
    )
    parser.add_argument(
        "--checkpoint", type=Path, help="its file; WHAT.checkpoint in the folder if not given"
    )
    parser.add_argument("--every", type=float, default=60.0, help="seconds between two checkpoints")
    parser.add_argument(
        "--pieces", type=Path, help="write the weights here too, in pieces of 15 MB"
    )
    parser.add_argument(
        "--begin",
        type=Path,
        help="the weights to begin with, instead of those that were never trained",
    )
    parser.add_argument(
        "--agree",
        type=Path,
        action="append",
        default=[],
        help="an earlier opinion, for label to heed",
    )
    parser.add_argument("--rate", type=float)
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of a batch")
    parser.add_argument(
        "--halves", action="store_true", help="in a pass only half of what written.py makes"
    )
    return parser.parse_args()


def main() -> int:
    """Train."""
    asked = options()
    folder: Path = asked.folder
    torch.manual_seed(SEED)
    torch.backends.cuda.matmul.allow_tf32 = True
    # cuDNN's attention makes a plan for each new shape of a batch, and ours all differ: three times
    # slower.
    torch.backends.cuda.enable_cudnn_sdp(False)
    model.look_fast()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    items = prepared(folder, "items", asked.items, asked.plain)
    held = prepared(folder, "held", asked.items)
    say(f"{len(items):,} items of {len(items.flat):,} tokens; held out {len(held):,}")
    items, held = items.to(device), held.to(device)
    if asked.what == "teacher":
        known = subset(items, (items.facts[:, 0] == 1) | (items.facts[:, 1] >= 0))
        say(f"{len(known):,} items have labels: {int(known.lengths.sum()):,} tokens")
        return finish(
            train(model.teacher(folder).to(device), known, held, None, asked), held, asked
        )
    if asked.what == "label":
        known = (model.close(), asked.begin) if asked.begin else (model.teacher(), folder / TEACHER)
        reader = load(*known).to(device)
        said = opinions(reader, items)
        np.savez(folder / "spans.npz", spans=said.pop("spans").cpu().numpy())
        for earlier in asked.agree:
            agree(said, earlier)
        np.savez(
            folder / "opinion.npz", **{name: values.cpu().numpy() for name, values in said.items()}
        )
        say("labelled")
        return 0
    opinion = {
        name: torch.from_numpy(values).to(device)
        for file in ("opinion.npz", "spans.npz")  # the second may be left out
        if (folder / file).exists()
        for name, values in np.load(folder / file).items()
    }
    if opinion and len(opinion["verdict"]) != len(items):
        raise SystemExit(
            f"the teacher's opinion is of {len(opinion['verdict']):,} items, not of these "
            f"{len(items):,}"
        )
    if opinion:
        opinion["heeded"] = _heeded(items, goes_on=asked.what == "close" and bool(asked.begin))
    reader = _beginner(asked)
    return finish(train(reader.to(device), items, held, opinion, asked), held, asked)


def _heeded(items: Items, *, goes_on: bool) -> Tensor:
    """Return for each item 1 if the teacher's opinion of it counts, and 0 if not."""
    return torch.tensor(
        [float(not (goes_on and source.startswith(LABELS_ONLY))) for source in items.sources],
        device=items.weights.device,
    )


def _beginner(asked: argparse.Namespace) -> nn.Module:
    """Return the student as it is before its training."""
    if asked.what == "close":
        if asked.begin:
            made = load(model.close(), asked.begin)
            made.encoder.embeddings.requires_grad_(False)  # most words are rare among so few texts
            return made
        return model.close(load(model.teacher(), asked.folder / TEACHER))
    return load(model.student(), asked.begin) if asked.begin else model.student(asked.folder)


def finish(reader: nn.Module | None, held: Items, asked: argparse.Namespace) -> int:
    """Save the trained model and print its results; do nothing if steps are left."""
    if reader is None:
        return PAUSED
    file: Path = asked.folder / f"{asked.what}.npz"
    save(reader, file)
    if asked.pieces:
        asked.pieces.mkdir(parents=True, exist_ok=True)
        for piece in cut(file, asked.pieces):
            say(piece.name, f"{piece.stat().st_size:,} bytes")
    report(opinions(reader, held), held)
    return 0


def agree(said: dict[str, Tensor], earlier: Path) -> None:
    """Average an opinion with an earlier teacher's, for the items that the earlier one saw."""
    for name, values in np.load(earlier).items():
        now = said[name][: len(values)]
        now.copy_((now.float() + torch.from_numpy(values).to(now.device).float()) / 2)


def subset(items: Items, wanted: Tensor) -> Items:
    """Return some of the items; the tokens stay where they are."""
    return Items(
        items.flat,
        items.starts[wanted],
        items.lengths[wanted],
        items.firsts[wanted],
        items.facts[wanted],
        items.weights[wanted],
        items.groups[wanted],
        [items.sources[number] for number in wanted.nonzero()[:, 0].tolist()],
    )


if __name__ == "__main__":
    sys.exit(main())
