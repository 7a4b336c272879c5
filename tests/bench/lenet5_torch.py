# SPDX-License-Identifier: BSD-2-Clause
"""Times one training step of LeNet-5 in PyTorch (batch 256, float32, Adam), for comparison with lenet5_step.

Usage: lenet5_torch.py THREADS. Prints the median time of a step in milliseconds.
"""
import statistics
import sys
import time

import torch

BATCH, WARM, TIMED = 256, 5, 41

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(1)
network = torch.nn.Sequential(
    torch.nn.Conv2d(1, 6, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Conv2d(6, 16, 5), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Flatten(),
    torch.nn.Linear(400, 120), torch.nn.ReLU(),
    torch.nn.Linear(120, 84), torch.nn.ReLU(),
    torch.nn.Linear(84, 10))
adam = torch.optim.Adam(network.parameters(), lr=1e-3)
images = torch.rand(BATCH, 1, 28, 28)
labels = torch.randint(10, (BATCH,))


def step():
    adam.zero_grad(set_to_none=True)
    loss = torch.nn.functional.cross_entropy(network(images), labels)
    loss.backward()
    adam.step()
    return loss.item()


first = step()
times = []
for i in range(WARM + TIMED):
    start = time.perf_counter()
    last = step()
    if i >= WARM:
        times.append(time.perf_counter() - start)
assert last < first, "the loss did not fall: no step of training"
print(f"torch: {1e3 * statistics.median(times):.2f} ms a step; {torch.get_num_threads()} thread(s), "
      f"batch {BATCH}, float32, Adam, PyTorch {torch.__version__}; median of {TIMED}")
