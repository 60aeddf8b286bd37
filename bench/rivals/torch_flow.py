"""flow/... with PyTorch: Python loops, since only these have gradients."""

from measure import Step

ITERATIONS = 10_000
SCAN, CARRIED = 614, 60
LENGTH, BATCH, UNITS = 100, 16, 128


def make_cases(torch):
    def counter():
        def run():
            i = torch.tensor(0)
            while i < ITERATIONS:
                i = i + 1
            return i
        return Step(run, ITERATIONS)

    def scan_gradient():
        """The usual form in PyTorch: the carried values are a tensor."""
        x = torch.full((SCAN,), 0.1, requires_grad=True)

        def run():
            carry = torch.arange(CARRIED) * 0.01
            for t in range(SCAN):
                carry = torch.tanh(carry * 0.9 + torch.roll(carry, -1) * x[t])
            return torch.autograd.grad(carry.sum(), x)
        return Step(run, SCAN)

    def dynamic_lstm():
        w = torch.full((2 * UNITS, 4 * UNITS), 0.01, requires_grad=True)
        x, lengths = torch.full((LENGTH, BATCH, UNITS), 0.1), torch.full((BATCH,), LENGTH)

        def run():
            h = c = torch.zeros(BATCH, UNITS)
            outputs = []
            for t in range(LENGTH):
                i, j, f, o = (torch.cat([x[t], h], 1) @ w).chunk(4, 1)
                cells = c * torch.sigmoid(f + 1) + torch.sigmoid(i) * torch.tanh(j)
                output = torch.tanh(cells) * torch.sigmoid(o)
                active = (t < lengths)[:, None]
                h, c = torch.where(active, output, h), torch.where(active, cells, c)
                outputs.append(torch.where(active, output, torch.zeros(())))
            y = torch.stack(outputs)
            return torch.autograd.grad((y * y).sum(), w)
        return Step(run, LENGTH)

    return {f"flow/{build.__name__}": {"eager": build} for build in (counter, scan_gradient, dynamic_lstm)}
