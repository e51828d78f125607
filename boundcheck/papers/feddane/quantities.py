"""Metrics of a round of FedDANE, which are no expected values of quadratics."""

from boundcheck.setting.quantities import SAMPLED, Quantity

quantities = (
    Quantity("inexactness", "largest certified gamma of the local solves of a round; sampled runs only", needs=SAMPLED),
    Quantity("B2", "sum of w_i |grad f_i(x)|^2 over |grad F(x)|^2; sampled runs only", needs=SAMPLED),
)
