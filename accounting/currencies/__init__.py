"""One guarantee in several currencies: pure DP, zCDP, Gaussian DP, and what an attacker gains."""
