"""PyTorch on the graphs of troupe_bench that it can express. Modes: `eager`; `channels_last`, the
same with images in the memory order of Troupe and TensorFlow; and `compile`, torch.compile, which
needs a C++ compiler."""

import measure
import nets
import torch_collective
import torch_flow
import torch_input
from measure import Step
from torch_nets import make_batch, make_model


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

    def memory_bound(define):
        x, y = torch.full([4096, 4096], 0.5), torch.full([4096, 4096], 0.25)

        def step():
            with torch.inference_mode():
                return define(x, y)

        return Step(step)

    def convolution(layer, part, layout):
        size, outputs, stride, pad = layer["size"], layer["conv"], layer.get("stride", 1), layer.get("pad", 0)
        images, rows, columns, inputs = layer["input"]
        x = torch.rand(images, inputs, rows, columns).to(memory_format=layout)
        w = torch.rand(outputs, inputs, size, size).to(memory_format=layout)
        y = torch.nn.functional.conv2d(x, w, None, stride, pad)

        def step():
            with torch.inference_mode():
                if part == "forward":
                    return torch.nn.functional.conv2d(x, w, None, stride, pad)
                return torch.ops.aten.convolution_backward(
                    y, x, w, None, [stride] * 2, [pad] * 2, [1, 1], False, [0, 0], 1,
                    [part == "input", part == "filter", False])

        return Step(step, 2 * y.numel() * size * size * inputs)

    # Bytes: `eager` gives sums of 32 bits as Troupe does; `requantized` runs PyTorch's quantized
    # layers, whose results are bytes.

    def random_integers(dims, low, dtype):
        return torch.randint(low, low + 256, dims, dtype=torch.int32).to(dtype)

    def product_of_bytes(extent):
        a, b = (random_integers([extent, extent], -128, torch.int8) for _ in range(2))
        return Step(lambda: torch._int_mm(a, b), 2 * extent**3)

    def quantized(dims, low, dtype):
        return torch.quantize_per_tensor(torch.randn(dims), 0.05, 128 + low, dtype)

    def requantized_product(extent):
        a = quantized([extent, extent], 0, torch.quint8)
        b = torch.ops.quantized.linear_prepack(quantized([extent, extent], -128, torch.qint8), None)
        return Step(lambda: torch.ops.quantized.linear(a, b, 1.0, 128), 2 * extent**3)

    def requantized_convolution(layer):
        images, rows, columns, inputs = layer["input"]
        size, pad = layer["size"], layer.get("pad", 0)
        x = quantized([images, inputs, rows, columns], 0, torch.quint8)
        x = x.contiguous(memory_format=torch.channels_last)
        w = quantized([layer["conv"], inputs, size, size], -128, torch.qint8)
        w = torch.ops.quantized.conv2d_prepack(w, None, [1, 1], [pad, pad], [1, 1], 1)
        return Step(lambda: torch.ops.quantized.conv2d(x, w, 1.0, 128),
                    2 * images * rows * columns * layer["conv"] * size * size * inputs)

    def training(net, prepare, layout=None):
        model = make_model(torch, net)
        x, labels = make_batch(torch, net)
        if layout:
            model, x = model.to(memory_format=layout), x.to(memory_format=layout)
        optimizer = torch.optim.SGD(model.parameters(), lr=nets.rate(net))
        loss_of = prepare(lambda x, labels: nn.functional.cross_entropy(model(x), labels))

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(x, labels)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return Step(step, len(labels), sum(parameter.numel() for parameter in model.parameters()
                                           if parameter.requires_grad))

    def modes(build):
        return {"eager": lambda: build(lambda f: f), "compile": lambda: build(torch.compile)}

    layouts = {"eager": torch.contiguous_format, "channels_last": torch.channels_last}
    cases = {}
    for name, elements in ("1K", 1 << 10), ("32K", 1 << 15), ("1M", 1 << 20), ("16M", 1 << 24):
        cases[f"elementwise/{name}"] = modes(lambda prepare, n=elements: elementwise(n, prepare))
    for extent in 64, 128, 256, 512, 1024, 2048:
        cases[f"matmul/{extent}"] = {"eager": lambda n=extent: product(n)}
    for name, define in {
            "elementwise/add_16M": torch.add,
            "elementwise/relu_16M": lambda x, y: torch.relu(x),
            "reduce/sum_16M": lambda x, y: torch.sum(x),
            "reduce/max_16M": lambda x, y: torch.max(x),
            "reduce/rows_16M": lambda x, y: torch.sum(x, 1),
            "reduce/columns_16M": lambda x, y: torch.sum(x, 0)}.items():
        cases[name] = {"eager": lambda define=define: memory_bound(define)}
    for name, layer in nets.CONVOLUTIONS.items():
        for suffix, part in ("", "forward"), ("_input_gradient", "input"), \
                ("_filter_gradient", "filter"):
            cases[f"conv2d/{name}{suffix}"] = {
                mode: lambda layer=layer, part=part, layout=layout: convolution(layer, part, layout)
                for mode, layout in layouts.items()}
    for extent in 256, 1024:
        cases[f"int8/matmul_{extent}"] = {
            "eager": lambda n=extent: product_of_bytes(n),
            "requantized": lambda n=extent: requantized_product(n)}
    for name in "3x3_28", "1x1":
        cases[f"int8/conv2d_{name}"] = {
            "requantized": lambda layer=nets.CONVOLUTIONS[name]: requantized_convolution(layer)}
    for name, net in nets.NETS.items():
        cases[name] = modes(lambda prepare, net=net: training(net, prepare))
        if len(net.get("pixels", [])) == 4:
            cases[name]["channels_last"] = \
                lambda net=net: training(net, lambda f: f, torch.channels_last)
    return cases | torch_input.make_cases(torch) | torch_flow.make_cases(torch) | \
        torch_collective.make_cases(threads)


if __name__ == "__main__":
    measure.main(__doc__, make_cases)
