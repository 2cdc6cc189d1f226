"""Private Multi-Task Learning (Hu, Wu, Smith): the TMLR version, and the earlier one where it differs.

T counts communication rounds in the privacy statements and local steps in those on convergence, as in the paper.
z = q sigma / gamma is the noise multiplier of the clipped sum, L_d = log(1/delta).
"""
