"""Semi-cyclic gradient descent outperforms federated averaging (S. Ma, course report, 2020)."""
