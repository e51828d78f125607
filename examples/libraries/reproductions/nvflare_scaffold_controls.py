import numpy as np
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.workflows.scaffold import scaffold_aggregate_fn

# two of four clients take part; both change their control variates by 1
meta = {"scaffold_c_diff": {"x": np.ones(1)}}
results = [FLModel(params={"x": np.zeros(1)}, meta={**meta, "client_name": name}) for name in "ab"]
print("expected 2/4 = 0.5, got", scaffold_aggregate_fn(results).meta["scaffold_c_diff"]["x"].item())
