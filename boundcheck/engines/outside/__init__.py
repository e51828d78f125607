"""Curves from outside: tables of rounds and values (files, data frames, arrays) as a `Curve`, and back."""

ENGINE = "outside"  # `Curve.info["engine"]` of a curve that no engine of ours has made
