"""What a training changed comes back from elsewhere as it was, but for a rounding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.training.scripts import load

changes = load("changes")


def weights(seed: int, size: float) -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    return {
        "matrix": chance.normal(0, size, (6, 40)).astype(np.float32),
        "bias": chance.normal(0, size, 40).astype(np.float32),
        "words": np.ones((3, 4), np.float32),
        "nothing": np.zeros((2, 5), np.float32),
    }


def test_changed_weights_come_back_and_others_take_no_room() -> None:
    before, change = weights(1, 0.05), weights(2, 0.002)
    after = {name: before[name] + change[name] for name in ("matrix", "bias", "nothing")}
    after["words"] = before["words"]
    data = changes.pack(before, after)
    assert b"words" not in data
    made = changes.unpack(before, data)
    for name, values in after.items():
        step = changes.steps_of(before[name])
        assert (np.abs(made[name] - values).reshape(len(step), -1) <= 0.51 * step).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_a_large_change_is_not_cut_off(sign: int) -> None:
    before = {"bias": np.full(3, 0.01, np.float32)}
    after = {"bias": np.array([0.01, 0.01 + sign * 5.0, 0.01], np.float32)}
    made = changes.unpack(before, changes.pack(before, after))
    assert made["bias"] == pytest.approx(after["bias"], abs=1e-4)


def test_pieces_are_put_together_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "PIECE", 50)
    before, after = weights(1, 0.05), weights(3, 0.05)
    np.savez(tmp_path / "begin.npz", **before)
    np.savez(tmp_path / "close.npz", **after)
    paths = [str(tmp_path / name) for name in ("begin.npz", "close.npz", "out")]
    assert changes.main(["pack", *paths]) == 0
    assert len(list((tmp_path / "out").iterdir())) > 10, "more than one digit"
    source, target = str(tmp_path / "out" / "close"), str(tmp_path / "made.npz")
    assert changes.main(["apply", paths[0], source, target]) == 0
    with np.load(target) as made:
        assert made["matrix"] == pytest.approx(after["matrix"], abs=1e-3)
