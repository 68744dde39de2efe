from __future__ import annotations

import tomllib
from pathlib import Path

import deepdiver
from deepdiver.core.version import VERSION


def test_there_is_one_version() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["project"]["version"] == VERSION == deepdiver.__version__
