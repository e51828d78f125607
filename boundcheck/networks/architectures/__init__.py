"""Neural networks as data: layers with their parameters' shapes, without any library that computes with them."""
