"""FedRR and local random reshuffling: one reshuffled pass of every client over its samples, then the plain mean.

With one averaging an epoch and clients of one size the two are the same method.
"""

from __future__ import annotations

from dataclasses import replace

from boundcheck.methods import parameters as p
from boundcheck.methods.clients import Clients
from boundcheck.methods.kind import ForClients, Form, kind
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, Epochs, Full

_FEDRR = 'K. Mishchenko, A. Khaled, P. Richtarik, "Proximal and Federated Random Reshuffling", 2021'
_LOCAL_RR = (
    'C. Yun, S. Rajput, S. Sra, "Minibatch vs Local SGD with Shuffling: Tight Convergence Bounds and Beyond", 2021'
)
_FORM = Form(Full, Epochs(1))
_CONSTANT = replace(_FORM, schedule=Constant)


def _unequal(_: Method, clients: Clients) -> str | None:
    if clients.one_size:
        return None
    return f"which needs equally many samples of all clients, not {min(clients.sizes)} and {clients.largest}"


KINDS = {
    "fedrr": kind(
        """FedRR: N_i steps of client i along a fresh permutation of its N_i samples, then x <- (1/n) sum of y_i.

        Its objective is the mean over all samples, which is F where clients count by their numbers of samples (N_i/N):
        a client with more samples takes more steps, and counts once.
        """,
        (_FEDRR, "Algorithm 3"),
        _FORM,
        (p.ETA,),
    ),
    "local_rr": kind(
        """Local RR without synchronised shuffling, with the interval B = N: the models are averaged once an epoch.

        All clients have N samples, and a run with other clients is no instance of the kind; the step size is constant.
        Smaller B, with which one permutation lasts over N/B rounds, are not offered.
        """,
        (_LOCAL_RR, "Algorithm 1 with B = N"),
        _CONSTANT,
        (p.ETA,),
        for_clients=ForClients(_CONSTANT, _unequal),
    ),
}
