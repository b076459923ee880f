"""One thread: these tests are small, and their numbers must not depend on the machine."""

from __future__ import annotations

import torch

torch.set_num_threads(1)
