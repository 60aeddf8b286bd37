"""The nets of nets.json: the code that all rivals share."""

import json
from math import prod
from pathlib import Path

DESCRIPTION = json.loads((Path(__file__).parent.parent / "nets.json").read_text(encoding="utf-8"))
NETS, CONVOLUTIONS = DESCRIPTION["nets"], DESCRIPTION["convolutions"]
EPSILON, MOMENTUM = 1e-5, 0.9  # of batch normalizations


def rate(net):
    """Returns the learning rate of a net."""
    return net.get("rate", 0.001)


def noise(dims, limit, seed):
    """Returns pseudo-random numbers between -limit and limit, the same as Troupe's."""
    import numpy as np
    columns = dims[-1]
    rows = prod(dims) // columns
    values = np.empty([rows, columns], np.float32)
    column = np.arange(columns, dtype=np.int32)
    block = max(1, (1 << 15) // columns)
    for begin in range(0, rows, block):
        row = np.arange(begin, min(rows, begin + block), dtype=np.int64)
        start = ((row * 48271 + seed * 7919) % 65537).astype(np.int32)
        mixed = (start[:, None] + column) % np.int32(4093)
        mixed *= mixed
        values[begin:begin + len(row)] = mixed % np.int32(4093)
    limit = np.float32(limit)
    values *= limit / np.float32(2046)
    values -= limit
    return values.reshape(dims)


def weights(dims, number):
    """Returns the initial values of the weights with that number, counted from 1."""
    return noise(dims, (6 / prod(dims[:-1])) ** 0.5, number)


def whole_numbers(dims, below):
    import numpy as np
    return (np.arange(prod(dims)) * 48271 % 65537 % below).astype(np.int32).reshape(dims)


def batch(net):
    """Returns the input and the labels."""
    classes = net["layers"][-1]["dense"]
    if "words" in net:
        words = whole_numbers(net["words"], net["layers"][0]["words"])
        return words, whole_numbers([words.size], classes)
    pixels = net["pixels"]
    return noise(pixels, 1, 0), whole_numbers(pixels[:1], classes)


def branches(channels):
    """Returns the four branches of an inception, each a list of layers."""
    def conv(i, size):
        return {"conv": channels[i], "size": size, "pad": size // 2}
    pool = {"max_pool": 3, "stride": 1, "same": True}
    return [[conv(0, 1)], [conv(1, 1), conv(2, 3)], [conv(3, 1), conv(4, 5)], [pool, conv(5, 1)]]


def bottlenecks(layer):
    """Yields residual blocks, each two lists of layers: the branch and the shortcut. The first block has
    the stride, at its 3x3."""
    inner, outputs = layer["bottlenecks"]

    def conv(channels, size, stride=1, relu=True):
        return {"conv": channels, "size": size, "stride": stride, "pad": size // 2,
                "batch_norm": True, "relu": relu}

    for i in range(layer["count"]):
        stride = layer.get("stride", 1) if i == 0 else 1
        shortcut = [conv(outputs, 1, stride, False)] if i == 0 else []
        yield [conv(inner, 1), conv(inner, 3, stride), conv(outputs, 1, 1, False)], shortcut


class Builder:
    """Builds layers in Troupe's order, so that weights have the same numbers.

    Derived classes have a method for each of `conv`, `max_pool`, ..., which adds a layer to the output
    of the one before, a value of any type. `inception` joins four lists of layers. `residual` adds the
    outputs of two and applies ReLU."""

    def build(self, layers, flow):
        for layer in layers:
            kind = next(iter(layer))
            if kind == "inception":
                flow = self.inception(branches(layer[kind]), flow)
            elif kind == "bottlenecks":
                for branch, shortcut in bottlenecks(layer):
                    flow = self.residual(branch, shortcut, flow)
            elif kind == "dense":
                flow = self.dense(layer[kind], layer is not layers[-1], flow)
            else:
                flow = getattr(self, kind)(layer, flow)
        return flow
