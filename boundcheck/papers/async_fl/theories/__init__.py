"""The theory of asynchronous federated learning: constants and hypotheses of a method on a problem.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates". The constants are those of the catalogue (`theory.keys`), with the expected weights
q_i(n) of `setting.expected_weights`.
"""

from boundcheck.papers.async_fl.theories.examples import EXAMPLES
from boundcheck.papers.async_fl.theories.losses import LOSSES
from boundcheck.papers.async_fl.theories.rounds import ROUNDS
from boundcheck.papers.async_fl.theories.update_times import TIMES

theories = (ROUNDS, TIMES, LOSSES, EXAMPLES)
