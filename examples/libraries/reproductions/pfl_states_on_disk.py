import tempfile

import pfl.data.user_state
import pfl.model.pytorch
import torch

storage = pfl.data.user_state.DiskUserStateStorage(tempfile.mkdtemp())
storage.save_state(pfl.stats.MappedVectorStatistics({"x": torch.ones(1)}), "0", "local_c")
try:
    print("expected the state, got", storage.load_state("0", "local_c"))
except Exception as error:
    print("expected the state, got", type(error).__name__)
