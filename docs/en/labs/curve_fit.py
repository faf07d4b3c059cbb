# %% [markdown]
# # Lab: fit a curve
#
# Three weights find the curve 5x² + 3 from samples of it. Watch them do it, see which one is
# late, and find out why. The [chapter](../../effective/basics/#curve-fit) has the same program
# as one function.
#
# All outputs come from a run while this site was built. To run it yourself,
# <a href="curve_fit.py" download>take the file</a>: it is a plain Python script, and a notebook
# in VS Code, or in Jupyter with jupytext.

# %%
import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from matplotlib_inline.backend_inline import set_matplotlib_formats

set_matplotlib_formats("svg")
generator = torch.Generator().manual_seed(0)

# %% [markdown]
# <h2 id="model">Model and data</h2>
#
# The model is a weighted sum of x², x and 1. The data are new in each step: 100 numbers from
# -10 to 10.


# %%
def features(x):
    return torch.stack([x * x, x, torch.ones_like(x)], dim=-1)


def sample():
    x = 20 * torch.rand(100, generator=generator) - 10
    return x, 5 * x**2 + 3


w = torch.randn(3, generator=generator).requires_grad_()
print(features(torch.zeros(100)).shape)
print(w)

# %% [markdown]
# <h2 id="training">Training</h2>
#
# Each step makes an error, takes its gradient, and lets Adam move the weights against it.
# `history` keeps a copy of the weights after each step. Without `clone` all entries would be
# one and the same tensor.

# %%
optimizer = torch.optim.Adam([w], lr=0.1)
history = [w.detach().clone()]

for _ in range(1000):
    x, y = sample()
    loss = F.mse_loss(features(x) @ w, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(w.detach().clone())

history = torch.stack(history)
for step in (0, 10, 100, 1000):
    print(step, [round(weight, 2) for weight in history[step].tolist()])

target = torch.tensor([5.0, 0.0, 3.0])
assert torch.allclose(history[-1], target, atol=0.2)

# %% [markdown]
# <h2 id="converging">The fit, converging</h2>
#
# To the eye the curve is right long before the weights are.

# %%
line = torch.linspace(-10, 10, 101)
points = line[::10]
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.plot(points, 5 * points**2 + 3, "o", color="grey", label="5x² + 3")
for step in (0, 10, 20, 30, 1000):
    curve = features(line) @ history[step]
    axes.plot(line, curve, label=f"step {step}")
axes.set_xlabel("x")
axes.set_ylabel("y")
axes.legend()
plt.show()

# %% [markdown]
# <h2 id="late">One weight is late</h2>
#
# A logarithmic scale shows it: the weight of x² is close within a hundred steps, the constant
# takes its time.

# %%
errors = (history - target).abs()
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
for place, name in enumerate(["x²", "x", "1"]):
    axes.plot(errors[:, place], label=name, linewidth=1)
axes.set_yscale("log")
axes.set_ylim(1e-4, 10)
axes.set_xlabel("step")
axes.set_ylabel("distance from 5, 0, 3")
axes.legend()
plt.show()

# %% [markdown]
# The loss hardly knows the constant: x² goes up to 100, and the constant's feature is 1. How
# much the loss curves in which direction stands in the matrix of its second derivatives, as
# eigenvalues and eigenvectors. Here are their sizes, for x², x and 1:

# %%
x, _ = sample()
curvature = 2 / len(x) * features(x).T @ features(x)
eigenvalues, directions = torch.linalg.eigh(curvature)
for value, direction in zip(eigenvalues, directions.T, strict=True):
    sizes = [round(size, 2) for size in direction.abs().tolist()]
    print(f"{value:8.1f}", sizes)

# %% [markdown]
# The flattest direction, the first, is that of the constant. The steepest is that of x², and it
# is thousands of times as steep.
#
# <h2 id="exact">Without a step</h2>
#
# The model is linear in its weights, so the best ones come from one call. Steps are for models
# that have no such call.

# %%
x, y = sample()
a, b = features(x).double(), y.double()
exact = torch.linalg.lstsq(a, b[:, None]).solution[:, 0]
assert torch.allclose(exact, target.double(), atol=1e-4)
print([round(abs(weight), 2) for weight in exact.tolist()])

# %% [markdown]
# <h2 id="try">Try it</h2>
#
# - Take 2000 steps. How close does the constant come?
# - Take SGD in place of Adam. What is the largest learning rate with which the loss still falls?
#   About 2 divided by the largest eigenvalue.
# - Add noise to `y`. Which weight suffers most?
