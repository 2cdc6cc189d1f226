"""Property tests that any privacy accountant must pass, for use in other projects' own test suites.

    class Ours(Subject): ...                      # three methods: new, compose, epsilon

    class TestOurs(AccountantConformance):        # under pytest: one test a property
        subject = Ours()

    for finding in conformance(Ours()): ...       # or one call, anywhere

Needs dpcert[test]. The truth against which bounds are held is proved in ball arithmetic by the checker of certificates,
which shares no code with dpcert's accountants. docs/conformance.md has every property and what peers make of them.
"""

from .conformance import AccountantConformance, Finding, conformance
from .properties import PROPERTIES, Violation
from .subject import NotServed, Phase, Subject
from .truth import proved_above, proved_below

__all__ = [
    "PROPERTIES",
    "AccountantConformance",
    "Finding",
    "NotServed",
    "Phase",
    "Subject",
    "Violation",
    "conformance",
    "proved_above",
    "proved_below",
]
