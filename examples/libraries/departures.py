"""Words for what the libraries do otherwise than the composition of a paper, with their reproductions.

A text is printed where the comparison of its pair found a difference, and nowhere else: `page` refuses a text whose
pair agrees, and a difference without a text is printed as unexplained.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Departure:
    """A title, where it stands, what is meant and what is done, and a script of `reproductions`.

    pairs: (library, algorithm, "full", "partial" or "cohorts") of the comparisons that it explains; none for what was
    seen beside them, in algorithms that no composition covers.
    """

    title: str
    where: str
    text: str
    script: str
    pairs: tuple[tuple[str, str, str], ...] = ()


_OPTIONS = ("SCAFFOLD, option I", "SCAFFOLD, option II")

DEPARTURES = (
    Departure(
        "pfl: SCAFFOLD corrects with the opposite sign",
        "pfl 0.6.0, `pfl/algorithm/scaffold.py` (`train_one_user`) with `pfl/internal/bridge/pytorch/scaffold.py`",
        "In the paper c_i is near the gradient of client i, and local steps follow g_i(y) - c_i + c. The library "
        "computes the new c_i from `get_model_difference`, the trained model less the received one, which is minus a "
        "gradient. The local step adds c - c_i all the same. So the correction has the opposite sign: it doubles the "
        "drift of the clients instead of removing it, and on this page option II diverges. The list above names this "
        "mistake for option II. In option I the saved c_i also share their memory with the model's buffer of "
        "differences, and with `InMemoryUserStateStorage` the next client overwrites them. With a storage that copies "
        "what it saves, the run of option I is that of the wrong sign alone, too.",
        "pfl_scaffold_sign.py",
        tuple(("pfl", name, part) for name in _OPTIONS for part in ("full", "partial")),
    ),
    Departure(
        'pfl: the user sampler "random" can draw a user twice',
        "pfl 0.6.0, `pfl/data/sampling.py`, `get_user_sampler`",
        'FedAvg\'s cohort is a set of clients, drawn without replacement. "random" draws each user of a cohort anew. '
        "With many users it makes no difference; with few, or with user states, it does.",
        "pfl_random_users.py",
        (("pfl", "FederatedAveraging", "cohorts"),),
    ),
    Departure(
        "FedLab: FedAvg weighs all clients alike",
        "FedLab 1.3.0, `fedlab/contrib/algorithm/basic_server.py`, `SyncServerHandler.global_update`",
        "FedAvg weighs client k with n_k/n. The handler calls `Aggregators.fedavg_aggregate` without weights, and "
        "the trainers do not send their numbers of samples. With equal numbers of samples both are the same, as the"
        " next row of the table shows. `fedavg_aggregate` accepts weights, so that a handler of one's own can pass "
        "them.",
        "fedlab_fedavg_weights.py",
        (("FedLab", "FedAvg", "full"), ("FedLab", "FedAvg", "partial")),
    ),
    Departure(
        "FedLab: FedNova's step is N/K times too long with K of N clients",
        "FedLab 1.3.0, `fedlab/contrib/algorithm/fednova.py`, `global_update`",
        "The default option `weighted_scale` multiplies the sum of p_k delta_k by N/K, which is right where p_k are"
        " shares of all N clients. The p_k here are 1/K already. With all clients, K = N, the method is that of the"
        " paper.",
        "fedlab_fednova_partial.py",
        (("FedLab", "FedNova", "partial"),),
    ),
    Departure(
        "flwr: FedAdam has a bias correction, one round late",
        "flwr 1.41.0, `flwr/serverapp/strategy/fedadam.py`, `aggregate_train`",
        "FedAdam of the paper (Reddi et al., Algorithm 2) has no bias correction. The library says in a comment "
        "that it adds that of Adam, whose exponent in the first round is 1. Its exponent is `server_round + 1`, and"
        " `server_round` begins with 1. In the first round the step is multiplied with sqrt(1 - 0.99^2) = 0.141, "
        "not with 0.1 (Adam) or 1 (the paper). The factor tends to 1, so that runs end at the same point.",
        "flwr_fedadam_rounds.py",
        (("flwr", "FedAdam", "full"), ("flwr", "FedAdam", "partial")),
    ),
    Departure(
        "FedLab: the terms that FedDyn adds to the loss have no gradient",
        "FedLab 1.3.0, `fedlab/contrib/algorithm/feddyn.py`, `FedDynSerialClientTrainer.train`",
        "The linear and the proximal term are computed from `self.model_parameters`, a copy of the parameters' data"
        " that carries no gradient. A client's steps are those of plain SGD, whatever alpha is. The server "
        "subtracts the model once from the sum of the returned ones, as the printed pseudo-code of the paper can be"
        " read. On the quadratics of this page the run diverges (alpha = 1/2). FedDyn is not in the table: "
        "boundcheck has no composition for it.",
        "fedlab_feddyn_client.py",
    ),
    Departure(
        "FedLab: the client of q-FedAvg does not run",
        "FedLab 1.3.0, `fedlab/contrib/algorithm/qfedavg.py`, `train`",
        "It reads `self.lr`, which `SGDClientTrainer.setup_optim` does not set. So it is not in the table.",
        "fedlab_qfedavg.py",
    ),
    Departure(
        "FedLab: the hinge of FedAsync",
        "FedLab 1.3.0, `fedlab/contrib/algorithm/basic_server.py`, `AsyncServerHandler.adapt_alpha`",
        "A pair of brackets stands elsewhere than in the paper, so that a stale update counts less. FedAsync mixes "
        "models instead of adding differences; boundcheck has no composition of it with delays.",
        "fedlab_fedasync_hinge.py",
    ),
    Departure(
        "pfl: user states on disk cannot be read with a new torch",
        "pfl 0.6.0, `pfl/data/user_state.py` and `pfl/internal/bridge/pytorch/common.py`",
        "Since torch 2.6, `torch.load` reads only tensors unless `weights_only=False` is given. The states are objects "
        "of pfl. SCAFFOLD with `DiskUserStateStorage` stops in the second round.",
        "pfl_states_on_disk.py",
    ),
    Departure(
        "pfl: differences of models are in single precision",
        "pfl 0.6.0, `pfl/model/pytorch.py`, `get_model_difference`",
        "A comment says so. It bounds the digits of the table for pfl at about seven, also for models in float64.",
        "pfl_single_precision.py",
    ),
    Departure(
        "FedLab: weights of the aggregation are in single precision",
        "FedLab 1.3.0, `fedlab/utils/aggregator.py`, `fedavg_aggregate`",
        "The weights are float32 whatever the models are. With three models they sum to 1 + 3e-8, so that every round "
        "makes a model that much larger. With two or four models, as in the table, 1/2 and 1/4 are exact.",
        "fedlab_weights_float32.py",
    ),
    Departure(
        "flwr: the size of a cohort is rounded down from a float",
        "flwr 1.41.0, `flwr/serverapp/strategy/fedavg.py`, `configure_train`",
        "100 * 0.29 is 28.999999999999996, and `int` makes 28 of it. FedLab's `num_clients_per_round` does the same.",
        "flwr_cohort_size.py",
    ),
)
