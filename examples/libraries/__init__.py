"""Libraries of federated learning that others wrote, run on boundcheck's quadratics: `make libraries`.

Everything here uses boundcheck as its users do. It has an environment of its own, because the versions that the
libraries need contradict those of boundcheck's lock files; nothing in `make test` depends on it.

FedLab imports torchvision for its image data sets. None of them is used, and an empty module stands in for it.
"""

import sys
from types import ModuleType

_stand_in = ModuleType("torchvision")
_stand_in.transforms = ModuleType("torchvision.transforms")  # type: ignore[attr-defined]
sys.modules.setdefault("torchvision", _stand_in)
