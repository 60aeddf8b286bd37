"""Builds the nets of nets.json with PyTorch."""

import nets


def make_model(torch, net):
    """Returns a module from the input to the logits. Images are [images, channels, rows, columns]
    for it, so its weights are transposed."""
    builder = _builder(torch)
    modules, _ = builder.build(net["layers"], ([], net.get("pixels") or net["words"]))
    return torch.nn.Sequential(*modules)


def make_batch(torch, net):
    x, labels = (torch.from_numpy(part) for part in nets.batch(net))
    if x.dim() == 4:
        x = x.permute(0, 3, 1, 2).contiguous()
    return x, labels.long()


def _builder(torch):
    nn = torch.nn

    def parameter(values):
        return nn.Parameter(torch.from_numpy(values.copy()))

    class Branches(nn.Module):
        def __init__(self, branches):
            super().__init__()
            self.branches = nn.ModuleList(branches)

        def forward(self, x):
            return torch.cat([branch(x) for branch in self.branches], 1)

    class Residual(nn.Module):
        def __init__(self, branch, shortcut):
            super().__init__()
            self.branch, self.shortcut = branch, shortcut

        def forward(self, x):
            return torch.relu(self.branch(x) + self.shortcut(x))

    class Lstm(nn.Module):  # not derived from nn.LSTM, which torch.compile refuses
        def __init__(self, inputs, units):
            super().__init__()
            self.lstm = nn.LSTM(inputs, units)

        def forward(self, x):
            return self.lstm(x)[0].flatten(0, 1)

    class Builder(nets.Builder):
        """Maps (modules, shape) to (modules, shape), with the shape in Troupe's order."""

        _number = 0

        def _weights(self, *dims):
            self._number += 1
            return nets.weights(dims, self._number)

        def conv(self, layer, flow):
            modules, (images, rows, columns, inputs) = flow
            outputs, size = layer["conv"], layer["size"]
            stride, pad = layer.get("stride", 1), layer.get("pad", 0)
            normalized = layer.get("batch_norm", False)
            convolution = nn.utils.skip_init(nn.Conv2d, inputs, outputs, size, stride, pad,
                                             bias=not normalized)
            convolution.weight = parameter(self._weights(size, size, inputs, outputs)
                                           .transpose(3, 2, 0, 1))
            modules = [*modules, convolution]
            if normalized:
                modules.append(nn.BatchNorm2d(outputs, nets.EPSILON, 1 - nets.MOMENTUM))
            else:
                nn.init.zeros_(convolution.bias)
            if layer.get("relu", True):
                modules.append(nn.ReLU())
            rows, columns = ((n + 2 * pad - size) // stride + 1 for n in (rows, columns))
            return modules, (images, rows, columns, outputs)

        def max_pool(self, layer, flow):
            modules, (images, rows, columns, channels) = flow
            size, stride, same = layer["max_pool"], layer["stride"], layer.get("same", False)
            if not same:
                pool = nn.MaxPool2d(size, stride)
                rows, columns = ((n - size) // stride + 1 for n in (rows, columns))
            elif stride == 1:
                pool = nn.MaxPool2d(size, stride, size // 2)
            else:
                assert (size, stride) == (3, 2) and rows % 2 == columns % 2 == 0
                pool = nn.MaxPool2d(size, stride, ceil_mode=True)
                rows, columns = rows // 2, columns // 2
            return [*modules, pool], (images, rows, columns, channels)

        def average_pool(self, layer, flow):
            modules, (images, rows, columns, channels) = flow
            size = layer["average_pool"]
            return ([*modules, nn.AvgPool2d(size)],
                    (images, rows // size, columns // size, channels))

        def global_average_pool(self, layer, flow):
            modules, (images, _, _, channels) = flow
            return ([*modules, nn.AdaptiveAvgPool2d(1), nn.Flatten()], (images, channels))

        def dense(self, outputs, with_relu, flow):
            modules, shape = flow
            if len(shape) == 4:
                images, rows, columns, channels = shape
                inputs, samples = rows * columns * channels, images
                w = self._weights(inputs, outputs).reshape(rows, columns, channels, outputs)
                w = w.transpose(3, 2, 0, 1).reshape(outputs, inputs)
                modules = [*modules, nn.Flatten()]
            else:
                samples, inputs = shape
                w = self._weights(inputs, outputs).transpose()
            linear = nn.utils.skip_init(nn.Linear, inputs, outputs)
            linear.weight = parameter(w)
            nn.init.zeros_(linear.bias)
            return [*modules, linear, *([nn.ReLU()] if with_relu else [])], (samples, outputs)

        def inception(self, branches, flow):
            modules, shape = flow
            built = [self.build(branch, ([], shape)) for branch in branches]
            channels = sum(out[3] for _, out in built)
            joined = Branches([nn.Sequential(*parts) for parts, _ in built])
            return [*modules, joined], (*shape[:3], channels)

        def residual(self, branch, shortcut, flow):
            modules, shape = flow
            branch_modules, out = self.build(branch, ([], shape))
            shortcut_modules, _ = self.build(shortcut, ([], shape))
            return [*modules, Residual(nn.Sequential(*branch_modules), nn.Sequential(*shortcut_modules))], out

        def embedding(self, layer, flow):
            modules, (steps, texts) = flow
            table = nn.utils.skip_init(nn.Embedding, layer["words"], layer["embedding"])
            table.weight = parameter(self._weights(layer["words"], layer["embedding"]))
            return [*modules, table], (steps, texts, layer["embedding"])

        def lstm(self, layer, flow):
            modules, (steps, texts, inputs) = flow
            units = layer["lstm"]
            layer_module = Lstm(inputs, units)
            lstm = layer_module.lstm
            # The gates are in another order, and there are two biases, of which only one is trained.
            w = self._weights(inputs + units, 4 * units).reshape(-1, 4, units)[:, [0, 2, 1, 3]]
            w = w.reshape(-1, 4 * units).transpose()
            lstm.weight_ih_l0, lstm.weight_hh_l0 = parameter(w[:, :inputs]), parameter(w[:, inputs:])
            nn.init.zeros_(lstm.bias_ih_l0)
            nn.init.zeros_(lstm.bias_hh_l0)
            lstm.bias_hh_l0.requires_grad_(False)
            return [*modules, layer_module], (steps * texts, units)

    return Builder()
