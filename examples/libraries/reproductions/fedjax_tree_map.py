import jax.numpy as jnp
from fedjax.core import tree_util

try:
    print("expected zeros, got", tree_util.tree_zeros_like({"x": jnp.ones(1)}))
except AttributeError as error:
    print("expected zeros, got AttributeError:", error)
