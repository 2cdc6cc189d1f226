"""The independent checker of certificates: one file for each section of docs/certificates.md, one rule a function.

Runnable alone, with python-flint and nothing else installed: `python path/to/checker CERTIFICATE.json`. It shares no
code with the accountants, nor with whatever wrote the certificate.
"""

from .command import CheckResult, check

__all__ = ["CheckResult", "check"]
