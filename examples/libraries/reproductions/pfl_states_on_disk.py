"""pfl 0.6.0: a user state that was saved on disk is not loaded by torch 2.6 or later."""

import tempfile

import torch
from pfl.data.user_state import DiskUserStateStorage
from pfl.model.pytorch import PyTorchModel  # noqa: F401 - makes torch the framework
from pfl.stats import MappedVectorStatistics

storage = DiskUserStateStorage(tempfile.mkdtemp())
storage.save_state(MappedVectorStatistics({"x": torch.ones(1)}), "0", "local_c")
try:
    print("expected the state, got", storage.load_state("0", "local_c"))
except Exception as error:
    print("expected the state, got", type(error).__name__)
