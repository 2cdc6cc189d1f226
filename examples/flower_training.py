"""Flower: federated averaging with Poisson cohorts and our accountant. Needs dpcert[flower] and flwr[simulation]."""

import numpy as np
from flwr.app import Array, ArrayRecord, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
from flwr.simulation import run_simulation

from dpcert.adapters import flower

client, server = ClientApp(), ServerApp()
POISSON = flower.NeighboringRelation.ADD_OR_REMOVE_ONE, flower.SamplingMethod.POISSON


@client.train()
def train(message, context):
    model, rows = message.content["arrays"]["w"].numpy(), np.random.default_rng().normal(size=(16, 4))
    update = rows.T @ (rows.sum(axis=1) - rows @ model) / 16
    return Message(RecordDict({"arrays": ArrayRecord({"w": Array(model + 0.1 * update)})}), reply_to=message)


@server.main()
def main(grid, context):
    accountant = flower.CertifiedAccountant(flower.PrivacyConfig(1e-5, 32, *POISSON))
    strategy = flower.PoissonFedAvg(accountant, noise_multiplier=1.0, clipping_norm=1.0, expected_cohort=2)
    strategy.start(grid, ArrayRecord({"w": Array(np.zeros(4))}), num_rounds=16)
    print(f"epsilon = {accountant.get_epsilon(1e-5):.9f}")


run_simulation(server, client, num_supernodes=32)
