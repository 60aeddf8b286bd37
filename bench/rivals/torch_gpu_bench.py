"""PyTorch's training steps of the nets of nets.json on a GPU, with the usual batch sizes of GPUs.

Modes: `eager`, and `graph`, which replays a CUDA graph of the step; each in the memory order of images
of PyTorch and, as `..._channels_last`, in that of Troupe. Each mode is measured twice: with a batch
that is fed in each step from pinned memory of the host, and with a batch that stays on the GPU.
"""

import argparse
import gc
import json
import re
import time

import nets
from torch_nets import make_batch, make_model

PRECISIONS = ["f32", "tf32", "bf16", "f16"]


def gpu_nets():
    """Returns the nets with a GPU batch size in nets.json, by Troupe's names."""
    gpu = {}
    for name, net in nets.NETS.items():
        if batch := net.get("gpu_batch"):
            key = "words" if "words" in net else "pixels"
            dims = list(net[key])
            dims[1 if key == "words" else 0] = batch
            gpu[f"{name.split('/')[0]}/{batch}"] = {**net, key: dims}
    return gpu


class Trainer:
    def __init__(self, torch, net, batch, layout, precision):
        self._torch = torch
        self._model = make_model(torch, net).cuda()
        x, labels = batch
        if layout:
            self._model, x = self._model.to(memory_format=layout), x.to(memory_format=layout)
        self._on_host = x.pin_memory(), labels.pin_memory()
        self._on_gpu = x.cuda(), labels.cuda()
        self._half = {"bf16": torch.bfloat16, "f16": torch.float16}.get(precision)
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=nets.rate(net), foreach=True)

    def _train(self):
        torch = self._torch
        self._optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", self._half, enabled=self._half is not None):
            loss = torch.nn.functional.cross_entropy(self._model(self._on_gpu[0]), self._on_gpu[1])
        loss.backward()
        self._optimizer.step()
        return loss.detach()

    def _feed(self):
        for target, source in zip(self._on_gpu, self._on_host):
            target.copy_(source, non_blocking=True)

    def eager(self, fed):
        if fed:
            self._feed()
        return self._train().cpu()

    def as_graph(self):
        torch = self._torch
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self._train()
        torch.cuda.current_stream().wait_stream(stream)
        self._optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = self._train()

        def step(fed):
            if fed:
                self._feed()
            graph.replay()
            return loss.cpu()

        return step


def seconds_per_step(torch, step, budget):
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()  # trials of algorithms are over
    count, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < budget or count < 5:
        step()
        count += 1
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count


def measure(torch, trainer, mode, budget):
    """Returns the results of a mode; with the first two losses for `eager`, which must run first."""
    result = {"mode": mode}
    try:
        if mode.startswith("eager"):
            result["losses"] = [float(trainer.eager(True)) for _ in range(2)]
            step = trainer.eager
        else:
            step = trainer.as_graph()
        result["seconds"] = seconds_per_step(torch, lambda: step(True), budget)
        result["peak_bytes"] = torch.cuda.max_memory_allocated()
        result["seconds_unfed"] = seconds_per_step(torch, lambda: step(False), budget)
    except RuntimeError as wrong:  # out of memory, or an operation that a graph cannot record
        result["error"] = str(wrong)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default="", metavar="REGEX", help="measure these; default all")
    parser.add_argument("--precision", choices=PRECISIONS, nargs="+", default=["f32"])
    parser.add_argument("--seconds", type=float, default=2.0, help="duration of a measurement")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    options = parser.parse_args()
    chosen = {name: net for name, net in gpu_nets().items() if re.search(options.cases, name)}
    if options.list:
        print("\n".join(chosen))
        return
    import torch
    torch.backends.cudnn.benchmark = True
    results = []
    for name, net in chosen.items():
        batch = make_batch(torch, net)
        images = len(net.get("pixels", [])) == 4
        for precision in options.precision:
            torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
            torch.backends.cudnn.allow_tf32 = precision == "tf32"
            for layout in [None, torch.channels_last] if images else [None]:
                trainer = Trainer(torch, net, batch, layout, precision)
                for mode in ("eager", "graph"):
                    result = measure(torch, trainer, mode + ("_channels_last" if layout else ""),
                                     options.seconds)
                    results.append({"name": name, "precision": precision, **result})
                del trainer
                gc.collect()
                torch.cuda.empty_cache()
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
