"""The device on which the trainer's tests run: `make test-gpu` names cuda."""

from __future__ import annotations

import os
from typing import Literal

_GIVEN = os.environ.get("TRAINER_TEST_DEVICE")
DEVICE: Literal["cpu", "cuda"] = "cuda" if _GIVEN == "cuda" else "cpu"
