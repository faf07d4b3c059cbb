# %% [markdown]
# # 实验：拟合曲线
#
# <span id="_1"></span>
#
# 三个权重要从样本中找出曲线 5x² + 3。看它们怎样找到，哪一个来得最晚，以及原因何在。
#
# 同样的程序在[正文](../../effective/basics/#curve-fit)里写成了一个函数。
#
# 所有输出都是生成本站时实际运行的结果。
#
# 要自己运行，请<a href="curve_fit.py" download>下载文件</a>：它是普通的 Python 脚本，在
# VS Code 里可以当笔记本用，在 Jupyter 里配合 jupytext 也行。

# %%
import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from matplotlib_inline.backend_inline import set_matplotlib_formats

set_matplotlib_formats("svg")
generator = torch.Generator().manual_seed(0)

# %% [markdown]
# <h2 id="model">模型与数据</h2>
#
# 模型是 x²、x 和 1 的加权和。数据每一步都是新的：-10 到 10 之间的 100 个数。


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
# <h2 id="training">训练</h2>
#
# 每一步先算误差，再求梯度，由 Adam 让权重逆着梯度移动。
#
# `history` 保存每一步之后权重的副本。不写 `clone`，里面存的就全是同一个张量。

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
# <h2 id="converging">逐步逼近</h2>
#
# 肉眼看来曲线早已吻合，权重却还没有到位。

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
# <h2 id="late">来得最晚的权重</h2>
#
# 换成对数坐标就看得出来：x² 的权重一百步之内就很接近了，常数项却慢得多。

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
# 损失对常数项几乎不敏感：x² 最大到 100，常数项对应的特征只是 1。
#
# 损失在哪个方向上弯曲多少，看它的二阶导数矩阵：特征值是弯曲的程度，特征向量是方向。
#
# 下面列出特征值，以及特征向量在 x²、x、1 上各分量的大小：

# %%
x, _ = sample()
curvature = 2 / len(x) * features(x).T @ features(x)
eigenvalues, directions = torch.linalg.eigh(curvature)
for value, direction in zip(eigenvalues, directions.T, strict=True):
    sizes = [round(size, 2) for size in direction.abs().tolist()]
    print(f"{value:8.1f}", sizes)

# %% [markdown]
# 第一行是最平的方向，也就是常数项的方向；最陡的是 x² 的方向，陡了几千倍。
#
# <h2 id="exact">一步不走</h2>
#
# 模型对权重是线性的，调用一次就能求出最优权重。没有这种捷径的模型，才需要一步步走。

# %%
x, y = sample()
a, b = features(x).double(), y.double()
exact = torch.linalg.lstsq(a, b[:, None]).solution[:, 0]
assert torch.allclose(exact, target.double(), atol=1e-4)
print([round(abs(weight), 2) for weight in exact.tolist()])

# %% [markdown]
# <h2 id="try">动手试试</h2>
#
# - 走 2000 步，常数项会有多接近？
# - 把 Adam 换成 SGD。学习率最大取多少，损失还能下降？大约是 2 除以最大的特征值。
# - 给 `y` 加上噪声，哪个权重受影响最大？
