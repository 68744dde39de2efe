"""A training that can stop and resume; one file holds everything that decides its steps.

A course of N steps has the same plan of batches and the same learning rates however many calls it
takes; on a CPU it ends with the same weights, bit by bit.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from data import Batch
from torch import Tensor, nn

WARM = 0.05
"""The share of the training during which the learning rate rises; then it falls to zero in a
straight line."""
AVERAGE = 0.999
"""The factor of the running average of the weights in each step."""
TAIL = 0.1
"""The last share of the training: its weights are also averaged evenly, and held-out items decide
which average to use."""
SAID = 250
"""Steps between two printed lines."""

Say = Callable[..., None]


@dataclass(frozen=True)
class Limits:
    """How long to train, and how fast."""

    steps: int
    """Steps of all calls together: the learning rate depends on these."""
    rate: float
    """The highest learning rate."""
    seconds: float
    """This call ends after at most so many seconds, with a checkpoint; the next one continues from
    there."""
    every: float
    """Seconds between two checkpoints."""


class Average:
    """An average of the weights of all steps so far.

    Torch's own makes the GPU wait at each step.
    """

    def __init__(self, reader: nn.Module, share: float | None) -> None:
        """Start with the current weights.

        Args:
            reader: The model.
            share: The weight of a step; None averages all steps evenly.
        """
        self.weights = [weight.detach().clone() for weight in reader.parameters()]
        self.share = share
        self.steps = 0

    def add(self, reader: nn.Module) -> None:
        """Add the current weights."""
        share = 1 / (self.steps + 1) if self.share is None or self.steps == 0 else self.share
        torch._foreach_lerp_(
            self.weights, [weight.detach() for weight in reader.parameters()], share
        )
        self.steps += 1

    def applied(self, reader: nn.Module) -> nn.Module:
        """Return a copy of the reader with the average's weights."""
        made = copy.deepcopy(reader)
        with torch.no_grad():
            for own, held in zip(made.parameters(), self.weights, strict=True):
                own.copy_(held)
        return made

    def state_dict(self) -> dict[str, Any]:
        """Return the state to save."""
        return {"weights": self.weights, "steps": self.steps}

    def load_state_dict(self, held: dict[str, Any]) -> None:
        """Restore a saved state."""
        for own, kept in zip(self.weights, held["weights"], strict=True):
            own.copy_(kept)
        self.steps = held["steps"]


class Course:
    """The weights, their averages, the optimiser and the number of the next step."""

    def __init__(self, reader: nn.Module, limits: Limits, size: int) -> None:
        """Start a course.

        Args:
            reader: The model to train.
            limits: How long, and how fast.
            size: The number of training items; a checkpoint of another size is refused.
        """
        matrices = [weight for weight in reader.parameters() if weight.dim() > 1]
        small = [weight for weight in reader.parameters() if weight.dim() <= 1]
        groups = [
            {"params": matrices, "weight_decay": 0.01},
            {"params": small, "weight_decay": 0.0},
        ]
        self.reader = reader
        self.limits = limits
        self.adam = torch.optim.AdamW(groups, lr=limits.rate, fused=matrices[0].is_cuda)
        self.running = Average(reader, 1 - AVERAGE)
        self.tail = Average(reader, None)
        self.step = 0
        self.plan = {"items": size, "steps": limits.steps, "rate": limits.rate}

    @property
    def finished(self) -> bool:
        """Whether all steps are made."""
        return self.step >= self.limits.steps

    def advance(
        self, batches: list[Batch], loss_of: Callable[[Batch], Tensor], file: Path, say: Say
    ) -> None:
        """Train until all steps are made or this call's time is over, and leave a checkpoint.

        Args:
            batches: The whole plan, from the first step on.
            loss_of: Returns the loss of a batch.
            file: Where the checkpoint goes.
            say: Prints.
        """
        recent: list[Tensor] = []
        began = saved = time.monotonic()
        self.reader.train()
        while not self.finished and (now := time.monotonic()) - began < self.limits.seconds:
            recent.append(self._learn(loss_of, batches[self.step]))
            if self.step % SAID == 0 or self.finished:
                done = self.step / self.limits.steps
                say(f"step {self.step}, {done:.0%} done, loss {torch.stack(recent).mean():.4f}")
                recent.clear()
            if now - saved >= self.limits.every:
                self.save(file)
                saved = time.monotonic()
        self.save(file)
        say(
            f"finished after {self.step} steps"
            if self.finished
            else f"paused after {self.step} steps: --resume goes on"
        )

    def _learn(self, loss_of: Callable[[Batch], Tensor], which: Batch) -> Tensor:
        """Make a step."""
        done = self.step / self.limits.steps
        for group in self.adam.param_groups:
            group["lr"] = self.limits.rate * min((done + 0.003) / WARM, (1 - done) / (1 - WARM))
        loss = loss_of(which)
        loss.backward()
        nn.utils.clip_grad_norm_(self.reader.parameters(), 1.0)
        self.adam.step()
        self.adam.zero_grad()
        self.running.add(self.reader)
        if done >= 1 - TAIL:
            self.tail.add(self.reader)
        self.step += 1
        return loss.detach()

    def save(self, file: Path) -> None:
        """Write a checkpoint; an existing one is replaced completely or not at all."""
        held = {
            name: getattr(self, name).state_dict() for name in ("reader", "adam", "running", "tail")
        }
        chance = {"cpu": torch.get_rng_state(), "cuda": torch.cuda.get_rng_state_all()}
        new = file.with_suffix(".new")
        torch.save({**held, "chance": chance, "step": self.step, "plan": self.plan}, new)
        new.replace(file)

    def load(self, file: Path) -> None:
        """Resume from a checkpoint."""
        held: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
        if held["plan"] != self.plan:
            raise SystemExit(f"{file} is of another training: {held['plan']}, and not {self.plan}")
        for name in ("reader", "adam", "running", "tail"):
            getattr(self, name).load_state_dict(held[name])
        self.step = held["step"]
        torch.set_rng_state(held["chance"]["cpu"])
        if len(held["chance"]["cuda"]) == torch.cuda.device_count():
            torch.cuda.set_rng_state_all(held["chance"]["cuda"])

    def averages(self) -> dict[str, nn.Module]:
        """Return the reader with each average of its weights: the running one, and the tail's."""
        return {
            "running": self.running.applied(self.reader),
            "tail": self.tail.applied(self.reader),
        }


def better(
    averages: dict[str, nn.Module], cost: Callable[[nn.Module], float], say: Say
) -> nn.Module:
    """Return the average with the lower loss on held-out items."""
    costs = {name: cost(average) for name, average in averages.items()}
    say(
        "held-out loss of the averages:",
        ", ".join(f"{name} {value:.4f}" for name, value in costs.items()),
    )
    return averages[min(costs, key=lambda name: costs[name])]


def planned(
    make: Callable[[np.random.Generator], list[Batch]], epochs: int, steps: int | None, seed: int
) -> list[Batch]:
    """Return the batches of all steps, shuffled again in each epoch.

    Args:
        make: Returns the batches of one epoch.
        epochs: How many epochs, if no number of steps is given.
        steps: How many steps, over as many epochs as they take.
        seed: The seed of the order.
    """
    chance = np.random.default_rng(seed)
    made: list[Batch] = []
    for _ in range(epochs if steps is None else steps):
        made += make(chance)
        if steps is not None and len(made) >= steps:
            break
    return made[:steps]
