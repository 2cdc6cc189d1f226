"""The signed envelope (DSSE, Dead Simple Signing Envelope, version 1): written, signed and read by securesystemslib."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..mechanisms import InputError
from ..mechanisms.paths import content
from ..mechanisms.validate import lacks

if TYPE_CHECKING:
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer._crypto_signer import CryptoSigner
    from securesystemslib.signer._key import SSlibKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"
LARGEST = 64 * 2**20
"""Bytes of an attestation that are read."""

Ask = Callable[[], str]
"""Asks the person at the terminal for a passphrase."""


def envelope_around(statement: dict[str, Any], signer: CryptoSigner | None) -> dict[str, Any]:
    """The envelope around a statement, signed unless there is no signer."""
    payload = json.dumps(statement, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    if signer is None:
        return {"payload": base64.b64encode(payload).decode(), "payloadType": PAYLOAD_TYPE, "signatures": []}
    envelope = _library().dsse.Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(signer)
    found: dict[str, Any] = envelope.to_dict()
    return found


def opened(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the envelope, the statement in it) of a file, as plain data: nothing of it is believed yet.

    Raises InputError for what is no such file, is too large, or has a key twice.
    """
    text = _text(path)
    document = _json(path, text)
    if not isinstance(document, dict) or set(document) != {"payload", "payloadType", "signatures"}:
        raise InputError("attestation", str(path), "a DSSE envelope: payload, payloadType and signatures")
    if document["payloadType"] != PAYLOAD_TYPE or not isinstance(document["signatures"], list):
        raise InputError("attestation", str(path), f"an envelope of {PAYLOAD_TYPE}")
    try:
        payload = base64.b64decode(document["payload"], validate=True).decode("utf-8")
    except (binascii.Error, ValueError, TypeError):
        raise InputError("attestation", str(path), "a payload in base64") from None
    statement = _json(path, payload)
    if not isinstance(statement, dict):
        raise InputError("attestation", str(path), "a JSON object as the payload")
    return document, statement


def is_envelope(path: Path) -> bool:
    """Whether the file says that it is an envelope: certificates, which `dpcert check` reads too, do not."""
    try:
        document = json.loads(_text(path))
    except (InputError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and "payloadType" in document


def signed_by(document: dict[str, Any], key: SSlibKey) -> bool:
    """Whether the envelope has a signature of this key."""
    library = _library()
    try:
        envelope: Envelope = library.dsse.Envelope.from_dict(json.loads(json.dumps(document)))
        envelope.verify([key], 1)
    except (library.exceptions.Error, ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def read_private_key(path: Path, ask: Ask | None = None) -> CryptoSigner:
    """The signer of a PEM file with an Ed25519 or ECDSA (P-256, P-384, P-521) key.

    ask: for the passphrase of an encrypted key; without it such a key is refused. It is read from nowhere else.
    Raises InputError for anything else.
    """
    library = _library()
    pem = _bytes(path, "--key")
    try:
        try:
            private = library.serialization.load_pem_private_key(pem, None)
        except TypeError:
            if ask is None:
                raise InputError("--key", str(path), "a terminal to ask for the key's passphrase") from None
            private = library.serialization.load_pem_private_key(pem, ask().encode())
        public = library.signer.SSlibKey.from_crypto(private.public_key())
    except InputError:  # which is a ValueError, too
        raise
    except (ValueError, TypeError) as problem:
        told = (
            "wrong passphrase" if "decrypt" in str(problem).lower() or "password" in str(problem).lower() else "no key"
        )
        raise InputError("--key", str(path), f"a private key in PEM, of Ed25519 or ECDSA ({told})") from None
    _elliptic(public, path)
    signer: CryptoSigner = library.signer.CryptoSigner(private, public)
    return signer


def read_public_key(path: Path) -> SSlibKey:
    """The public key of a PEM file, Ed25519 or ECDSA. Raises InputError for anything else, a private key included."""
    library = _library()
    try:
        public = library.serialization.load_pem_public_key(_bytes(path, "--key"))
        key: SSlibKey = library.signer.SSlibKey.from_crypto(public)
    except (ValueError, TypeError):
        raise InputError("--key", str(path), "a public key in PEM (openssl pkey -in KEY -pubout)") from None
    _elliptic(key, path)
    return key


def _elliptic(key: SSlibKey, path: Path) -> None:
    if key.keytype not in ("ed25519", "ecdsa"):
        raise InputError("--key", str(path), f"an Ed25519 or ECDSA key, not {key.keytype}")


def _bytes(path: Path, field: str) -> bytes:
    return content(field, path, LARGEST)


def _text(path: Path) -> str:
    try:
        return _bytes(path, "attestation").decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("attestation", str(path), "text in UTF-8") from None


def _json(path: Path, text: str) -> Any:
    """JSON in which no key occurs twice: readers would differ on which one counts."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("a key occurs twice")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        reason = "nested too deeply" if isinstance(problem, RecursionError) else " ".join(str(problem).split())[:100]
        raise InputError("attestation", str(path), f"readable JSON ({reason})") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class _Library:
    """The parts of securesystemslib and cryptography that are used here."""

    def __init__(self) -> None:
        from cryptography.hazmat.primitives import serialization
        from securesystemslib import dsse, exceptions, signer

        self.serialization, self.dsse, self.exceptions, self.signer = serialization, dsse, exceptions, signer


def _library() -> Any:
    try:
        return _Library()
    except ImportError:
        raise lacks("Signing and checking signatures", "securesystemslib", "dpcert[attest]") from None
