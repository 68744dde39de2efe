"""The files that the encoders come with: reading them, checked, and running them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from deepdiver.errors import DamagedStoreError, StoreAccessError

ERRORS = 3
"""The least severe of onnxruntime's own messages that may reach the terminal; warnings are 2."""


def read(file: Path, sha256: str) -> bytes:
    """Return what a file holds, if it is the one that we shipped: 20 ms for 23 MB.

    Raises:
        StoreAccessError: If it is not there, or may not be read.
        DamagedStoreError: If it holds something else, which might still run and give wrong results in silence.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreAccessError(f"{file} cannot be read ({why}): install deepdiver again, it comes with it") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise DamagedStoreError(f"{file} is damaged (it is not what deepdiver comes with): install deepdiver again")
    return data


def session(model: bytes, intra_op: int) -> Any:
    """Return an onnxruntime session on the processor.

    Args:
        model: An ONNX file.
        intra_op: Threads that one run may use; 0 is one for each core.
    """
    import onnxruntime  # type: ignore[import-untyped]

    onnxruntime.disable_telemetry_events()  # On Windows it would tell the system about every session.
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = intra_op
    options.log_severity_level = ERRORS
    # Threads that wait by spinning took a third of the processor's time; on a busy machine they were no faster.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
