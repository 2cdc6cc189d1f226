"""Lyu, Su, Li 2017 on the sparse vector technique: the worked example of docs/papers/adding.md."""
