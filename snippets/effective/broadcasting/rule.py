"""The rule of broadcasting, in ten lines (E3.1)."""

# --8<-- [start:imports]
from collections.abc import Sequence

# --8<-- [end:imports]


# --8<-- [start:rule]
def broadcast_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape of an elementwise result, as torch.broadcast_shapes gives it.

    Shapes are aligned at the right. Raises ValueError if sizes clash.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    result = []
    for dim in range(-rank, 0):
        sizes = {shape[dim] for shape in shapes if len(shape) >= -dim}
        if len(sizes - {1}) > 1:
            clash = " and ".join(map(str, sorted(sizes - {1})))
            raise ValueError(f"{clash} meet at dim {dim}")
        result.append(max(sizes - {1}, default=1))
    return tuple(result)


# --8<-- [end:rule]


if __name__ == "__main__":
    print(broadcast_shape((3, 2), (3, 1)))
    print(broadcast_shape((8, 1, 6), (7, 1)))
    try:
        broadcast_shape((3, 2), (3, 4))
    except ValueError as error:
        print("ValueError:", error)
