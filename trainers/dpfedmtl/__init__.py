"""DPFedMTL (Wu, Chen, Wang 2020, Algorithm 1): shared lower layers, heads that stay with the clients, four forms."""

from .forms import DpFedMtl, DpFedMtlAsPrinted, DpFedMtlClipped, DpFedMtlLocalNoise
from .shared_layers import SharedLayers

__all__ = ["DpFedMtl", "DpFedMtlAsPrinted", "DpFedMtlClipped", "DpFedMtlLocalNoise", "SharedLayers"]
