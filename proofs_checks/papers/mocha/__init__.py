"""MOCHA (Smith, Chiang, Sanjabi, Talwalkar 2017): federated multi-task learning by distributed dual ascent.

m tasks, X_t of shape (d, n_t), n = sum n_t; problem (1) is a sum over all samples, and its dual D is minimised.
Lemma 9, Corollary 8, (14), (24) and Appendices B to E are cited by the main text and absent from it.
"""
