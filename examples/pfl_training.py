"""pfl-research: private federated averaging whose noise comes from our accountant. Needs dpcert[pfl] and torch.

The epsilon is that of a deployment in which each of 160 users takes part by a coin of its own; the simulation draws 10.
"""

import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.hyperparam.base import NNEvalHyperParams, NNTrainHyperParams
from pfl.model.pytorch import PyTorchModel
from pfl.privacy.gaussian_mechanism import GaussianMechanism
from pfl.privacy.privacy_mechanism import CentrallyAppliedPrivacyMechanism

from dpcert.adapters.pfl import CertifiedAccountant


class Regression(torch.nn.Linear):
    def loss(self, x, y, eval=False):
        return torch.nn.functional.mse_loss(self(x), y)

    def metrics(self, x, y, eval=False):
        return {}


def user(index):
    x = torch.randn(16, 4)
    return Dataset((x, x.sum(dim=1, keepdim=True)), user_id=index)


spent = CertifiedAccountant(16, 1 / 16, "gaussian", delta=1e-5, noise_parameter=1.0)
noise = CentrallyAppliedPrivacyMechanism(GaussianMechanism.from_privacy_accountant(spent, clipping_bound=1.0))
data = FederatedDataset(user, lambda: torch.randint(160, ()).item())
module = Regression(4, 1)
model = PyTorchModel(module, torch.optim.SGD, torch.optim.SGD(module.parameters(), 1.0))
FederatedAveraging().run(
    NNAlgorithmParams(16, evaluation_frequency=16, train_cohort_size=10, val_cohort_size=0),
    SimulatedBackend(data, data, [noise]),
    model,
    NNTrainHyperParams(local_num_epochs=1, local_learning_rate=0.1, local_batch_size=16),
    NNEvalHyperParams(16),
)
print(f"epsilon = {spent.epsilon:.9f}")
