"""DPFedMTL (Wu, Chen, Wang 2020, Algorithm 1): shared lower layers, heads that stay with the clients, four forms."""

from .as_printed import DpFedMtlAsPrinted
from .clipped import DpFedMtlClipped
from .local_noise import DpFedMtlLocalNoise
from .server_noise import DpFedMtl
from .shared_layers import SharedLayers

__all__ = ["DpFedMtl", "DpFedMtlAsPrinted", "DpFedMtlClipped", "DpFedMtlLocalNoise", "SharedLayers"]
