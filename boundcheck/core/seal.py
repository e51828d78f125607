"""Seals of the result store: an HMAC over what is stored, where the user gives a key.

Checksums find damage. They do not find a change by somebody who computes them anew: for that the environment variable
BOUNDCHECK_STORE_KEY names a secret, with which what is written is sealed (HMAC-SHA256). What is read under a key
without its seal counts as absent.
"""

from __future__ import annotations

import hashlib
import hmac
import os

KEY_VARIABLE = "BOUNDCHECK_STORE_KEY"


def seal(*parts: bytes) -> str | None:
    """The seal (64 hexadecimal digits) of these parts in this order; None where no key is set."""
    secret = os.environ.get(KEY_VARIABLE, "")
    if not secret:
        return None
    message = b"".join(hashlib.sha256(part).digest() for part in parts)  # of known lengths, so that none can shift
    return hmac.new(os.fsencode(secret), message, hashlib.sha256).hexdigest()


def is_sealed(found: object, *parts: bytes) -> bool:
    """Whether `found` is the seal of these parts; True for anything where no key is set."""
    expected = seal(*parts)
    return expected is None or (isinstance(found, str) and hmac.compare_digest(found.encode(), expected.encode()))
