"""dpcert: is this epsilon true? Certified verdicts on differential-privacy claims."""

__version__ = "0.1.0"
