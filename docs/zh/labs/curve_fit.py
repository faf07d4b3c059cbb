# %% [markdown]
# # Lab: fit a curve
#
# Three weights find the curve 5x² + 3 from samples of it. You will watch them do it, see which one is late, and
# find out why. The [chapter on the basics](../../effective/basics/#curve-fit) has the same program as one function.
#
# The page ran while the site was built. To run it yourself,
# <a href="curve_fit.py" download>take the file</a> and open it in Jupyter (with jupytext) or in VS Code.

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
# The model is a weighted sum of x², x and 1. The data are fresh in each step: 100 numbers from -10 to 10.


# %%
def features(x):
    return torch.stack([x * x, x, torch.ones_like(x)], dim=-1)


def sample():
    x = 20 * torch.rand(100, generator=generator) - 10
    return x, 5 * x**2 + 3


w = torch.randn(3, generator=generator).requires_grad_()
print(features(torch.zeros(100)).shape, w)

# %% [markdown]
# <h2 id="training">Training</h2>
#
# Each step makes an error, takes its gradient, and lets Adam move the weights against it. `history` keeps a copy
# of the weights after each step. Without `clone`, all entries would be the same tensor.

# %%
optimizer = torch.optim.Adam([w], lr=0.1)
history = [w.detach().clone()]

for _step in range(1000):
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
# The curve is right to the eye long before the weights are.

# %%
line = torch.linspace(-10, 10, 101)
figure, axes = plt.subplots(figsize=(6.8, 3.2), layout="constrained")
axes.plot(line[::10], (5 * line**2 + 3)[::10], "o", color="grey", label="5x² + 3")
for step in (0, 10, 20, 30, 1000):
    axes.plot(line, features(line) @ history[step], label=f"step {step}")
axes.set_xlabel("x")
axes.set_ylabel("y")
axes.legend()
plt.show()

# %% [markdown]
# <h2 id="late">One weight is late</h2>
#
# On a logarithmic scale it shows: the weight of x² gets close within a hundred steps, the constant takes its time.

# %%
figure, axes = plt.subplots(figsize=(6.8, 3.2), layout="constrained")
for name, error in zip(["x²", "x", "1"], (history - target).abs().T, strict=True):
    axes.plot(error, label=name)
axes.set_yscale("log")
axes.set_ylim(1e-4, 10)
axes.set_xlabel("step")
axes.set_ylabel("distance from 5, 0, 3")
axes.legend()
plt.show()

# %% [markdown]
# The loss hardly knows the constant: x² goes up to 100, the constant's feature is 1. How much the loss curves in
# each direction is in the eigenvalues of the matrix of its second derivatives:

# %%
x, _ = sample()
curvature = 2 / len(x) * features(x).T @ features(x)
eigenvalues, directions = torch.linalg.eigh(curvature)
for value, direction in zip(eigenvalues.tolist(), directions.T.tolist(), strict=True):
    print(f"{value:9.1f}", [round(each, 2) for each in direction])

# %% [markdown]
# The flattest direction, the first, is that of the constant with a touch of x². The steepest is that of x².
# Their curvatures differ by four orders of magnitude.
#
# <h2 id="exact">Without steps</h2>
#
# The model is linear in its weights, so the best ones come from one call. Gradient descent is for models that
# have no such call.

# %%
x, y = sample()
exact = torch.linalg.lstsq(features(x).double(), y.double()[:, None]).solution[:, 0]
print([round(weight, 2) for weight in exact.tolist()])

# %% [markdown]
# <h2 id="try">Try it</h2>
#
# - Take 2000 steps. How close does the constant come?
# - Use SGD in place of Adam. What is the largest learning rate at which the loss still falls? The largest
#   eigenvalue above tells: 2 divided by it.
# - Add noise to `y`. Which weight suffers most?
