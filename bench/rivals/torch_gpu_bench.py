"""PyTorch's training steps of the nets of nets.json on a GPU, in the batches that are usual there.

Each step takes its batch from pinned memory of the host, as a session's feeds come from there.
Modes: `eager`, and `graph`, which replays a CUDA graph of the step; each in the order of images of
PyTorch and, as `..._channels_last`, in that of Troupe.
"""

import argparse
import json
import re
import time

import nets
from torch_nets import make_batch, make_model


def gpu_nets():
    """The nets that nets.json has a batch for, as Troupe calls them there."""
    found = {}
    for name, net in nets.NETS.items():
        if batch := net.get("gpu_batch"):
            of = "words" if "words" in net else "pixels"
            dims = list(net[of])
            dims[1 if of == "words" else 0] = batch
            found[f"{name.split('/')[0]}/{batch}"] = {**net, of: dims}
    return found


def prepare(torch, net, layout, precision):
    model = make_model(torch, net).cuda()
    x, labels = (part.pin_memory() for part in make_batch(torch, net))
    if layout:
        model, x = model.to(memory_format=layout), x.to(memory_format=layout).pin_memory()
    on_gpu = x.cuda(), labels.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=nets.rate(net), foreach=True)
    half = {"bf16": torch.bfloat16, "f16": torch.float16}.get(precision)

    def train():
        with torch.autocast("cuda", half, enabled=half is not None):
            loss = torch.nn.functional.cross_entropy(model(on_gpu[0]), on_gpu[1])
        loss.backward()
        optimizer.step()
        return loss.detach()

    def feed():
        on_gpu[0].copy_(x, non_blocking=True)
        on_gpu[1].copy_(labels, non_blocking=True)

    def eager():
        feed()
        optimizer.zero_grad(set_to_none=True)
        return train().cpu()

    def as_graph():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                optimizer.zero_grad(set_to_none=True)
                train()
        torch.cuda.current_stream().wait_stream(side)
        optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = train()

        def step():
            feed()
            graph.replay()
            return loss.cpu()

        return step

    return eager, as_graph


def seconds_per_step(torch, step, budget):
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    count, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < budget or count < 5:
        step()
        count += 1
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default="", metavar="REGEX", help="measure these; default all")
    parser.add_argument("--precision", choices=["f32", "tf32", "bf16", "f16"], default="f32")
    parser.add_argument("--seconds", type=float, default=2.0, help="that a measurement takes")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    options = parser.parse_args()
    found = {name: net for name, net in gpu_nets().items() if re.search(options.cases, name)}
    if options.list:
        print("\n".join(found))
        return
    import torch
    torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.benchmark = True
    results = []
    for name, net in found.items():
        images = len(net.get("pixels", [])) == 4
        for layout in [None, torch.channels_last] if images else [None]:
            suffix = "_channels_last" if layout else ""
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            eager, as_graph = prepare(torch, net, layout, options.precision)
            for mode, make in (("eager", lambda: eager), ("graph", as_graph)):
                try:
                    seconds = seconds_per_step(torch, make(), options.seconds)
                except RuntimeError as wrong:  # out of memory, or what a graph cannot hold
                    results.append({"name": name, "mode": mode + suffix, "error": str(wrong)})
                    continue
                results.append({"name": name, "mode": mode + suffix, "seconds": seconds,
                                "peak_bytes": torch.cuda.max_memory_allocated()})
            del eager, as_graph
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
