"""Array types by element, used in every signature."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
I8 = npt.NDArray[np.int8]
Bool = npt.NDArray[np.bool_]
