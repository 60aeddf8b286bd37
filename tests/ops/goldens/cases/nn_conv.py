"""Convolutions and their gradients, over padding, strides, dilations, groups and formats."""

import itertools

import numpy as np

from golden import bfloat16, case, normal, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)


class Convolution:
    """Computes convolutions in double, from their definition."""

    def __init__(self, strides, padding, dilations=None, pads=None, depthwise=False):
        self.strides, self.padding, self.depthwise = strides, padding, depthwise
        self.dilations = dilations or [1] * len(strides)
        self.pads = pads

    def windows(self, extents, sizes):
        """The number of outputs and of leading zeros for each axis."""
        for i, (extent, size) in enumerate(zip(extents, sizes)):
            reach, stride = (size - 1) * self.dilations[i] + 1, self.strides[i]
            if self.padding == "SAME":
                out = -(-extent // stride)
                yield out, max(0, (out - 1) * stride + reach - extent) // 2
            else:
                before, after = self.pads[i] if self.pads else (0, 0)
                yield (extent + before + after - reach) // stride + 1, before

    def products(self, x_shape, w_shape):
        """All combined positions (output, input, window)."""
        axes = []
        for i, (out, before) in enumerate(self.windows(x_shape[1:-1], w_shape[:-2])):
            axes.append(
                [
                    (o, o * self.strides[i] - before + k * self.dilations[i], k)
                    for o in range(out)
                    for k in range(w_shape[i])
                    if 0 <= o * self.strides[i] - before + k * self.dilations[i] < x_shape[i + 1]
                ]
            )
        for meeting in itertools.product(*axes):
            yield tuple(zip(*meeting))

    def plain(self, w_shape):
        """The filter's shape as that of a convolution of groups, and the groups."""
        if self.depthwise:
            return (*w_shape[:-2], 1, w_shape[-2] * w_shape[-1])
        return w_shape

    def output_shape(self, x_shape, w_shape):
        outs = [out for out, _ in self.windows(x_shape[1:-1], w_shape[:-2])]
        return (x_shape[0], *outs, self.plain(w_shape)[-1])

    def all(self, x, w, dy=None):
        """The output, and for its gradient dy those of input and filter; channels come last."""
        x, w_shape = np.asarray(x, np.float64), np.shape(w)
        w = np.asarray(w, np.float64).reshape(self.plain(w_shape))
        y = np.zeros(self.output_shape(x.shape, w_shape))
        dy = np.zeros_like(y) if dy is None else np.asarray(dy, np.float64)
        dx, dw = np.zeros_like(x), np.zeros_like(w)
        per_group = w.shape[-2]
        groups = x.shape[-1] // per_group
        for out, at, k in self.products(x.shape, w.shape):
            for g in range(groups):
                ins = slice(g * per_group, (g + 1) * per_group)
                outs = slice(g * w.shape[-1] // groups, (g + 1) * w.shape[-1] // groups)
                a, b = (slice(None), *at, ins), (slice(None), *out, outs)
                y[b] += x[a] @ w[(*k, slice(None), outs)]
                dx[a] += dy[b] @ w[(*k, slice(None), outs)].T
                dw[(*k, slice(None), outs)] += x[a].T @ dy[b]
        return y, dx, dw.reshape(w_shape)


def first(x):
    """The same with the channels before the axes."""
    return np.moveaxis(x, -1, 1)


NAMES = {
    "Conv2D": ("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"),
    "DepthwiseConv2dNative": (
        "DepthwiseConv2dNative",
        "DepthwiseConv2dNativeBackpropInput",
        "DepthwiseConv2dNativeBackpropFilter",
    ),
    "Conv3D": ("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"),
}


def all_three(
    op, x, w, strides, padding, dtype=np.float32, dilations=None, pads=None, own=False, channels_first=False, only=None
):
    """The convolution of x and w, and both gradients. `own`: by our own arithmetic, where TensorFlow has no kernel."""
    spatial = len(strides)
    by = Convolution(strides, padding, dilations, pads, op.startswith("Depthwise"))
    attrs = {"strides": [1, *strides, 1], "padding": padding}
    if dilations:
        attrs["dilations"] = [1, *dilations, 1]
    if pads is not None:
        attrs["padding"] = "EXPLICIT"
        attrs["explicit_paddings"] = [0, 0, *(n for pair in pads for n in pair), 0, 0]
    x, w = x.astype(dtype), w.astype(dtype)
    dy = normal(*by.output_shape(x.shape, w.shape)).astype(dtype)
    expected = [value.astype(dtype) for value in by.all(x, w, dy)]
    x_shape = x.shape
    if channels_first:
        for name in ("strides", "dilations"):
            if name in attrs:
                attrs[name] = [1, 1, *attrs[name][1:-1]]
        if pads is not None:
            attrs["explicit_paddings"] = [0, 0, 0, 0, *attrs["explicit_paddings"][2:-2]]
        attrs["data_format"] = "NCHW" if spatial == 2 else "NCDHW"
        x, dy = first(x), first(dy)
        expected[:2] = first(expected[0]), first(expected[1])
        x_shape = x.shape
    sizes = np.array(x_shape, np.int32), np.array(w.shape, np.int32)
    tolerance = {np.float16: 0.03, bfloat16: 0.1, np.float32: 5e-5}.get(dtype)
    for i, inputs in enumerate(((x, w), (sizes[0], w, dy), (x, sizes[1], dy))):
        if only is None or i in only:
            given = [expected[i]] if own or channels_first else None
            case(NAMES[op][i], *inputs, expected=given, tolerance=tolerance, **attrs)


# Types.
for dtype in FLOATING:
    all_three("Conv2D", normal(2, 4, 3, 3), normal(3, 2, 3, 2), [1, 2], "SAME", dtype)
    all_three("DepthwiseConv2dNative", normal(2, 4, 3, 3), normal(3, 2, 3, 2), [1, 1], "SAME", dtype)
    all_three("Conv3D", normal(1, 3, 3, 3, 2), normal(2, 3, 2, 2, 2), [1, 1, 1], "VALID", dtype, own=dtype == np.float16)
all_three("Conv2D", uniform(-9, 9, 1, 4, 4, 2), uniform(-9, 9, 3, 3, 2, 2), [1, 1], "SAME", np.int32, own=True, only=[0, 1])

# Padding, strides, windows of one element, windows as large as the image, more strides than window.
for padding, strides, window in itertools.product(("SAME", "VALID"), ([1, 1], [3, 2]), ((1, 1), (3, 2))):
    all_three("Conv2D", normal(1, 5, 4, 2), normal(*window, 2, 2), strides, padding)
all_three("Conv2D", normal(1, 4, 3, 2), normal(4, 3, 2, 5), [1, 1], "VALID")
all_three("Conv2D", normal(1, 1, 1, 4), normal(1, 1, 4, 1), [1, 1], "SAME")
all_three("Conv2D", normal(2, 6, 6, 1), normal(3, 3, 1, 5), [4, 4], "VALID")
all_three("Conv2D", normal(1, 3, 3, 17), normal(2, 1, 17, 9), [1, 1], "SAME")

# Explicit padding, also of more elements than the window has.
for pads in ([(1, 0), (0, 2)], [(2, 1), (3, 3)], [(0, 0), (0, 0)]):
    all_three("Conv2D", normal(1, 5, 4, 2), normal(3, 2, 2, 2), [2, 1], "VALID", pads=pads)
    all_three("DepthwiseConv2dNative", normal(1, 5, 4, 2), normal(3, 2, 2, 2), [1, 1], "VALID", pads=pads, own=True)
all_three("Conv2D", normal(1, 2, 2, 1), normal(2, 2, 1, 1), [1, 1], "VALID", pads=[(3, 3), (0, 4)], own=True)

# Dilations; TensorFlow's processor has no gradients of these.
for dilations, padding in (([2, 2], "SAME"), ([1, 3], "VALID"), ([2, 1], "SAME")):
    x, w = normal(1, 6, 7, 2), normal(3, 2, 2, 2)
    all_three("Conv2D", x, w, [1, 1], padding, dilations=dilations, only=[0])
    all_three("Conv2D", x, w, [1, 1], padding, dilations=dilations, own=True, only=[1, 2])
    all_three("Conv2D", x, w, [2, 3], padding, np.float64, dilations=dilations, own=True)
    all_three("DepthwiseConv2dNative", x, w, [1, 1], padding, dilations=dilations, own=True)

# Groups.
for dtype in (np.float32, np.float64):
    all_three("Conv2D", normal(1, 4, 4, 6), normal(2, 2, 2, 3), [1, 1], "SAME", dtype, own=True)
    all_three("Conv2D", normal(1, 5, 5, 4), normal(2, 2, 1, 4), [2, 1], "VALID", dtype, own=True)

# Channels first; TensorFlow's processor has none of these.
for dtype in (np.float32, np.float64, bfloat16):
    all_three("Conv2D", normal(2, 4, 3, 3), normal(3, 2, 3, 2), [1, 2], "SAME", dtype, channels_first=True)
    all_three("Conv2D", normal(1, 4, 4, 4), normal(3, 2, 2, 4), [1, 1], "VALID", dtype, channels_first=True)
    all_three("DepthwiseConv2dNative", normal(2, 4, 3, 3), normal(3, 2, 3, 2), [1, 1], "SAME", dtype, channels_first=True)
    all_three("Conv3D", normal(1, 3, 3, 3, 2), normal(2, 3, 2, 2, 2), [1, 1, 2], "SAME", dtype, channels_first=True)
all_three("Conv2D", normal(1, 5, 4, 2), normal(3, 2, 2, 2), [2, 1], "VALID", pads=[(1, 0), (2, 1)], channels_first=True)

# Depthwise: multipliers, strides.
for padding, strides, multiplier in itertools.product(("SAME", "VALID"), ([1, 1], [2, 2]), (1, 3)):
    all_three("DepthwiseConv2dNative", normal(1, 5, 4, 3), normal(2, 3, 3, multiplier), strides, padding)
all_three("DepthwiseConv2dNative", normal(1, 3, 3, 18), normal(2, 2, 18, 1), [1, 1], "SAME")
all_three("DepthwiseConv2dNative", normal(1, 5, 6, 2), normal(3, 2, 2, 2), [2, 3], "SAME", own=True)

# Volumes.
for padding, strides in itertools.product(("SAME", "VALID"), ([1, 1, 1], [2, 1, 2])):
    all_three("Conv3D", normal(1, 3, 4, 3, 2), normal(2, 3, 2, 2, 2), strides, padding)
all_three("Conv3D", normal(1, 4, 3, 4, 1), normal(2, 2, 2, 1, 2), [1, 1, 1], "VALID", dilations=[2, 1, 2], own=True)
case(
    "Conv3DBackpropInputV2",
    np.array([1, 2, 2, 2, 1], np.int64),
    normal(2, 1, 1, 1, 1),
    normal(1, 1, 2, 2, 1),
    strides=[1] * 5,
    padding="VALID",
)

# Nothing to compute.
all_three("Conv2D", normal(0, 5, 6, 3), normal(3, 2, 3, 4), [1, 1], "SAME")
all_three("DepthwiseConv2dNative", normal(0, 5, 6, 3), normal(3, 2, 3, 4), [1, 1], "SAME", own=True)
all_three("Conv2D", normal(2, 5, 6, 3), normal(3, 2, 3, 0), [1, 1], "SAME", own=True)

# Shapes that do not fit.
ones = [1, 1, 1, 1]
x, w = normal(1, 4, 4, 3), normal(2, 2, 3, 2)
case("Conv2D", x, normal(2, 2, 2, 2), strides=ones, padding="SAME", refused=True)
case("Conv2D", x, normal(5, 5, 3, 2), strides=ones, padding="VALID", refused=True)
case("Conv2D", x, w, strides=[2, 1, 1, 1], padding="SAME", refused=True)
case("Conv2D", x, w, strides=[1, 0, 1, 1], padding="SAME", refused=True)
case("Conv2D", x, w, strides=[1, 1, 1], padding="SAME", refused=True)
case("Conv2D", x, w, strides=ones, padding="SAME", dilations=[1, 0, 1, 1], refused=True)
case("Conv2D", x, w, strides=ones, padding="EXPLICIT", explicit_paddings=[0, 0, 1, -1, 0, 0, 0, 0], refused=True)
for sizes, dy in (([1, 4, 4, 3], (1, 2, 2, 2)), ([1, 4, 4, 4], (1, 3, 3, 2)), ([1, 4, 3], (1, 3, 3, 2))):
    case("Conv2DBackpropInput", np.array(sizes, np.int32), w, normal(*dy), strides=ones, padding="VALID", refused=True)
for sizes, dy in (([2, 2, 3, 2], (1, 2, 2, 2)), ([2, 2, 3, 3], (1, 3, 3, 2)), ([2, 2, 3], (1, 3, 3, 2))):
    case("Conv2DBackpropFilter", x, np.array(sizes, np.int32), normal(*dy), strides=ones, padding="VALID", refused=True)
case("DepthwiseConv2dNative", x, normal(2, 2, 2, 2), strides=ones, padding="SAME", refused=True)
case("Conv3D", normal(1, 2, 2, 2, 1), normal(3, 1, 1, 1, 1), strides=[1] * 5, padding="VALID", refused=True)

# Biases of images and volumes, and their gradients.
for dtype in (*FLOATING, np.int32, np.complex64):
    case("BiasAdd", normal(2, 3, 4, dtype=dtype if dtype == np.complex64 else np.float32).astype(dtype), np.arange(4).astype(dtype))
for dims in ((2, 3, 4, 2), (2, 3, 2, 2, 5), (0, 3, 2, 2), (1, 1, 1, 1)):
    for data_format, channels in (("NHWC", dims[-1]), ("NCHW", dims[1])):
        case("BiasAdd", normal(*dims), normal(channels), data_format=data_format)
        case("BiasAddGrad", normal(*dims), data_format=data_format)
for dtype in FLOATING:
    case("BiasAddGrad", normal(5, 3).astype(dtype), tolerance=0.05 if dtype in (np.float16, bfloat16) else None)
case("BiasAdd", normal(2, 3), normal(2), refused=True)
case("BiasAddGrad", normal(3), refused=True)
