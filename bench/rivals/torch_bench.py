"""PyTorch on the graphs of troupe_bench that it can express. Modes: `eager`, and `compile`, which is
torch.compile and needs a C++ compiler."""

import measure
from measure import Step

PIXELS, CLASSES = 784, 10


def make_cases(threads):
    import torch
    from torch import nn

    if threads > 0:
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(threads)

    def ten_ops(x):
        x = torch.relu(x * 1.01 + 0.5)
        x = torch.square(x * 0.5 - 0.25)
        return torch.abs(-(x + 0.125)) * 0.75

    def elementwise(elements, prepare):
        x = torch.full([elements], 0.5)
        run = prepare(ten_ops)

        def step():
            with torch.inference_mode():
                return run(x)

        return Step(step, elements * 10)

    def product(extent):
        a, b = torch.rand(extent, extent), torch.rand(extent, extent)

        def step():
            with torch.inference_mode():
                return torch.mm(a, b)

        return Step(step, 2 * extent**3)

    def training(hidden, batch, prepare):
        torch.manual_seed(42)
        layers = []
        extents = [PIXELS, *hidden, CLASSES]
        for m, n in zip(extents, extents[1:]):
            layers += [nn.Linear(m, n), nn.ReLU()]
        model = nn.Sequential(*layers[:-1])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        images = torch.rand(batch, PIXELS)
        labels = torch.randint(0, CLASSES, [batch])
        loss_of = prepare(lambda x, y: nn.functional.cross_entropy(model(x), y))

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(images, labels)
            loss.backward()
            optimizer.step()
            return loss

        return Step(step, batch)

    def modes(build):
        return {"eager": lambda: build(lambda f: f), "compile": lambda: build(torch.compile)}

    cases = {}
    for name, elements in ("1K", 1 << 10), ("32K", 1 << 15), ("1M", 1 << 20), ("16M", 1 << 24):
        cases[f"elementwise/{name}"] = modes(lambda prepare, n=elements: elementwise(n, prepare))
    for extent in 64, 128, 256, 512, 1024, 2048:
        cases[f"matmul/{extent}"] = {"eager": lambda n=extent: product(n)}
    cases["mlp/64"] = modes(lambda prepare: training([512, 512], 64, prepare))
    cases["mlp/1024"] = modes(lambda prepare: training([512, 512], 1024, prepare))
    cases["softmax_regression/64"] = modes(lambda prepare: training([], 64, prepare))
    return cases


if __name__ == "__main__":
    measure.main(__doc__, make_cases)
