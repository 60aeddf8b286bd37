"""Recurrent cells, single steps and sequences, and their gradients."""

import numpy as np

from golden import case, normal

BOTH = (np.float16, np.float32)


def half(*shape, dtype=np.float32):
    """Small numbers, so that neither gates saturate nor halves round much."""
    return (0.5 * normal(*shape)).astype(dtype)


def layer(batch, inputs, cells, dtype, steps=None):
    """x, cs_prev, h_prev, w, wci, wcf, wco, b"""
    x = half(*([] if steps is None else [steps]), batch, inputs, dtype=dtype)
    return [
        x,
        half(batch, cells, dtype=dtype),
        half(batch, cells, dtype=dtype),
        half(inputs + cells, 4 * cells, dtype=dtype),
        *(half(cells, dtype=dtype) for _ in range(3)),
        half(4 * cells, dtype=dtype),
    ]


EXTENTS = ((1, 1, 1), (2, 1, 3), (1, 2, 9))
for dtype in BOTH:
    for peephole in (False, True):
        for extents in EXTENTS:
            operands = layer(*extents, dtype)
            case("LSTMBlockCell", *operands, use_peephole=peephole)
            saved = [np.tanh(half(*operands[1].shape)).astype(dtype) for _ in range(6)]
            for i in (0, 2, 3):  # gates are in (0, 1)
                saved[i] = np.abs(saved[i])
            grads = [half(*operands[1].shape, dtype=dtype) for _ in range(2)]
            # Without peepholes TensorFlow does not write their gradients.
            case(
                "LSTMBlockCellGrad", *operands, *saved, *grads,
                use_peephole=peephole, outputs=None if peephole else (0, 1),
            )
        for steps, active in ((1, 1), (3, 3), (3, 2), (2, 0)):
            operands = layer(2, 1, 3, dtype, steps)
            # TensorFlow clears only these outputs of skipped steps.
            compared = None if active == steps else (1, 6)
            for op in ("BlockLSTM", "BlockLSTMV2"):
                case(op, np.int64(active), *operands, use_peephole=peephole, outputs=compared)
            shape = (steps, 2, 3)
            saved = [np.tanh(half(*shape)).astype(dtype) for _ in range(7)]
            for i in (0, 2, 3):
                saved[i] = np.abs(saved[i])
            grads = [half(*shape, dtype=dtype) for _ in range(2)]
            for op in ("BlockLSTMGrad", "BlockLSTMGradV2"):
                case(op, np.int64(active), *operands, *saved, *grads, use_peephole=peephole)
nothing = np.zeros((0, 3), np.float32)  # which TensorFlow refuses
case("LSTMBlockCell", *layer(0, 2, 3, np.float32), expected=[nothing] * 7)
for attrs in ({"cell_clip": 0.1}, {"cell_clip": -1.0}, {"cell_clip": 0.0}, {"forget_bias": -2.0}, {"forget_bias": 0.0}):
    case("LSTMBlockCell", *layer(1, 2, 3, np.float32), **attrs)
    case("BlockLSTM", np.int64(3), *layer(1, 2, 3, np.float32, 3), **attrs)
case("BlockLSTMV2", np.int64(3), *layer(2, 3, 4, np.float32, 3), cell_clip=0.05)
wrong = layer(2, 3, 4, np.float32)
case("LSTMBlockCell", *wrong[:3], half(6, 16), *wrong[4:], refused=True)
case("LSTMBlockCell", *wrong[:7], half(15), refused=True)


def gru(batch, inputs, cells):
    """x, h_prev, w_ru, w_c, b_ru, b_c"""
    return [
        half(batch, inputs),
        half(batch, cells),
        half(inputs + cells, 2 * cells),
        half(inputs + cells, cells),
        half(2 * cells),
        half(cells),
    ]


for extents in ((1, 1, 1), (2, 3, 4), (1, 2, 17), (4, 3, 1), (1, 3, 2)):
    operands = gru(*extents)
    case("GRUBlockCell", *operands)
    saved = [np.abs(np.tanh(half(*operands[1].shape))) for _ in range(2)] + [np.tanh(half(*operands[1].shape))]
    case("GRUBlockCellGrad", *operands, *saved, half(*operands[1].shape))
wrong = gru(2, 3, 4)
case("GRUBlockCell", *wrong[:2], half(7, 7), *wrong[3:], refused=True)
case("GRUBlockCellGrad", *wrong, *(half(2, 4) for _ in range(3)), half(2, 5), refused=True)
