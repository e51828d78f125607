"""Constants certified or estimated from matrices and oracles."""
