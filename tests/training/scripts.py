"""Loads scripts of `training/reader`, which is not a package: they import each other by name."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "training" / "reader"


def load(name: str) -> Any:
    """Return a script as a module; one that needs torch or onnx is not for these tests."""
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return importlib.import_module(name)
