"""One model as a class, as a Sequential and as a function (E2.5)."""

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
from torch import Tensor, nn

# --8<-- [end:imports]


# --8<-- [start:class]
class Net(nn.Module):
    """Linear 64 to 32, ReLU, Linear 32 to 10, as attributes. (E2.5)"""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(64, 32)
        self.out = nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        """(..., 64) becomes (..., 10). (E2.5)"""
        x = torch.relu(self.hidden(x))
        x = self.out(x)
        return x


# --8<-- [end:class]


# --8<-- [start:sequential]
def sequential_net() -> nn.Sequential:
    """The same layers one after the other. (E2.5)"""
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


# --8<-- [end:sequential]


# --8<-- [start:function]
def functional_net(state: dict[str, Tensor], x: Tensor) -> Tensor:
    """The same with the weights as an argument, named as in Net. (E2.5)"""
    x = F.linear(x, state["hidden.weight"], state["hidden.bias"])
    return F.linear(F.relu(x), state["out.weight"], state["out.bias"])


# --8<-- [end:function]


# --8<-- [start:rename]
def renamed(state: dict[str, Tensor], names: dict[str, str]) -> dict[str, Tensor]:
    """A state whose keys start with other names; KeyError for an unknown one."""
    parts = {key: key.partition(".") for key in state}
    return {names[a] + dot + b: state[key] for key, (a, dot, b) in parts.items()}


# --8<-- [end:rename]


def main() -> None:
    """Copy the weights of one to the others, and compare the outputs."""
    net, stack = Net(), sequential_net()
    stack.load_state_dict(renamed(net.state_dict(), {"hidden": "0", "out": "2"}))
    x = torch.randn(5, 64)
    print(torch.equal(net(x), stack(x)))
    print(torch.equal(net(x), functional_net(net.state_dict(), x)))


if __name__ == "__main__":
    main()
