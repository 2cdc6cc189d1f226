"""DPFedMTL (Wu, Chen, Wang 2020): hard parameter sharing with Gaussian noise on the shared layers' gradients.

M clients, K of them a round, T rounds; C the clipping bound, sigma S the noise that a client adds; p = K/M. Section 5
works with H (rounds between synchronisations), L (smoothness), lambda (gradient diversity), d = dim V_{M+1}.
"""
