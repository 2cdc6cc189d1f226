"""pfl-research: private federated averaging whose noise comes from our accountant. Needs dpcert[pfl] and torch.

The epsilon is that of a deployment in which each of 160 users takes part by a coin of its own. The simulation draws 10.
"""

import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.hyperparam.base import NNTrainHyperParams
from pfl.model.pytorch import PyTorchModel
from pfl.privacy.gaussian_mechanism import GaussianMechanism
from pfl.privacy.privacy_mechanism import CentrallyAppliedPrivacyMechanism

from dpcert.adapters.pfl import CertifiedAccountant

spent = CertifiedAccountant(16, 1 / 16, "gaussian", delta=1e-5, noise_parameter=1.0)
noise = CentrallyAppliedPrivacyMechanism(GaussianMechanism.from_privacy_accountant(spent, clipping_bound=1.0))
users = [Dataset((x, x.sum(dim=1, keepdim=True)), k) for k, x in enumerate(torch.randn(160, 16, 4))]
data, module = FederatedDataset(users.__getitem__, lambda: torch.randint(160, ()).item()), torch.nn.Linear(4, 1)
module.loss = lambda x, y, eval=False: torch.nn.functional.mse_loss(module(x), y)
module.metrics = lambda x, y, eval=False: {}
model = PyTorchModel(module, torch.optim.SGD, torch.optim.SGD(module.parameters(), lr=1.0))
rounds, learning = NNAlgorithmParams(16, 16, train_cohort_size=10, val_cohort_size=0), NNTrainHyperParams(16, 1, 0.1)
FederatedAveraging().run(rounds, SimulatedBackend(data, data, [noise]), model, learning, None)
print(f"epsilon = {spent.epsilon:.9f}")
