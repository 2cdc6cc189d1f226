"""Flower: federated averaging with Poisson cohorts and our accountant. Needs dpcert[flower] and flwr[simulation]."""

import numpy as np
from flwr.app import ArrayRecord, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
from flwr.simulation import run_simulation

from dpcert.adapters import flower

client, server, spent = ClientApp(), ServerApp(), flower.CertifiedAccountant.poisson(1e-5, population=32)


@client.train()
def train(message, context):
    [w], x = message.content["arrays"].to_numpy_ndarrays(), np.random.default_rng().normal(size=(16, 4))
    return Message(RecordDict({"arrays": ArrayRecord([w + x.T @ (x.sum(1) - x @ w) / 160])}), reply_to=message)


@server.main()
def main(grid, context):
    # Noise multiplier 1, clipping norm 1, two clients expected in a round.
    flower.PoissonFedAvg(spent, 1.0, 1.0, 2).start(grid, ArrayRecord([np.zeros(4)]), num_rounds=16)
    print(f"epsilon = {spent.get_epsilon(1e-5):.9f}")


run_simulation(server, client, num_supernodes=32)
