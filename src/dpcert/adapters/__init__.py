"""Our accountant inside other people's libraries: one file a host, each imports its host when it is imported itself.

    dpcert.adapters.dp_accounting   a dp_accounting.PrivacyAccountant, for any library that speaks DpEvent
    dpcert.adapters.opacus          an opacus IAccountant, registered as "dpcert"
    dpcert.adapters.opacus_shuffled Opacus on shuffled batches: make_private_shuffled
    dpcert.adapters.flower          Flower's PrivacyAccountant protocol, and FedAvg with Poisson cohorts
    dpcert.adapters.pfl             a pfl-research PrivacyAccountant, with cohort_noise_parameter
    dpcert.adapters.pfl_joint       several mechanisms at once, in the place of pfl's JointPrivacyAccountant
    dpcert.adapters.jax_privacy     a jax-privacy DpAccountantConfig, and its training parameters as a run
    dpcert.adapters.tff             what TensorFlow Federated's aggregators released, from their state

All report the certified upper end of the interval around the true epsilon. What they cannot describe raises an
error; nothing is approximated silently. Conventions of each host and what they mean: docs/adapters.md.
"""
