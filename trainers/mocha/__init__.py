"""MOCHA (Smith, Chiang, Sanjabi, Talwalkar, NeurIPS 2017): federated multi-task learning in the dual.

Everything here is numpy: the problems are convex and small, and a coordinate step is a few multiplications.
"""
