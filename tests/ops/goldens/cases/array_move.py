"""Ops that move elements: parts, joins, frames, permutations, blocks, diagonals."""

import numpy as np

from golden import bfloat16, case, ints, some

FLOATING = (np.float16, bfloat16, np.float32, np.float64)
SIZES = (np.uint8, np.int16, np.float32, np.int64, np.complex128)  # one type of each size
ANY = SIZES + (bool, str)

# Parts and joins.
for dtype in ANY + (bfloat16,):
    case("Slice", some(dtype, 3, 4, 2), ints(1, 0, 1), ints(2, -1, 1))
    case("Split", np.int32(1), some(dtype, 2, 6), num_split=3)
    case("SplitV", some(dtype, 2, 6), ints(1, 3, 2), np.int32(1), num_split=3)
    case("Concat", np.int32(1), [some(dtype, 2, n) for n in (1, 3, 2)])
    case("ConcatV2", [some(dtype, 2, n) for n in (1, 3, 2)], np.int32(-1))
    case("Pack", [some(dtype, 2, 3) for _ in range(3)], axis=1)
    case("Unpack", some(dtype, 2, 3), num=3, axis=1)
case("Slice", np.float32(1), ints(), ints())
case("Slice", some(np.float32, 4), ints(4, dtype=np.int64), ints(0, dtype=np.int64))
for begin, size in ((-1, 1), (2, 3), (5, 0)):
    case("Slice", some(np.float32, 4), ints(begin), ints(size), refused=True)
case("Split", np.int32(-1), np.zeros((0, 4), np.float32), num_split=2)
case("Split", np.int32(0), some(np.float32, 3), num_split=1)
case("Split", np.int32(0), some(np.float32, 3), num_split=2, refused=True)
for sizes in ((-1, 2, 0), (0, 0, 4), (4, -1, 0)):
    case("SplitV", some(np.float32, 4, 2), ints(*sizes, dtype=np.int64), np.int32(0), num_split=3)
case("SplitV", some(np.float32, 2, 4), ints(4), np.int32(-1), num_split=1)
for sizes in ((1, 2), (-1, -1), (5, -1)):
    case("SplitV", some(np.float32, 4), ints(*sizes), np.int32(0), num_split=2, refused=True)
for axis in (0, 2, -2):
    case("ConcatV2", [some(np.float32, 2, 2, 2), some(np.float32, 2, 2, 2)], np.int64(axis))
    case("Concat", np.int32(axis), [some(np.float32, 2, 2, 2), some(np.float32, 2, 2, 2)])
    case("Pack", [some(np.float32, 2, 3), some(np.float32, 2, 3)], axis=axis)
    case("Unpack", some(np.float32, 2, 2, 2), num=2, axis=axis)
case("ConcatV2", [np.zeros((0, 2), np.float32), some(np.float32, 1, 2)], np.int32(0))
case("ConcatV2", [some(np.float32, 2, 2), some(np.float32, 2, 3)], np.int32(0), refused=True)
case("Pack", [np.float32(1), np.float32(2)])
case("Pack", [np.zeros((0, 2), np.float32)] * 2, axis=-1)
case("Unpack", np.zeros((2, 0), np.float32), num=0, axis=1)

# Slices in the notation of Python.
def strided(x, first, last, strides, dtype=np.int32, refused=False, **masks):
    case("StridedSlice", x, *(np.array(v, dtype) for v in (first, last, strides)), refused=refused,
         **{f"{name}_mask": mask for name, mask in masks.items()})


for dtype in ANY + (bfloat16, np.complex64):
    strided(some(dtype, 4, 5), [1, -1], [4, 0], [2, -2])
cube = some(np.float32, 3, 4, 5)
strided(cube, [0], [2], [1], dtype=np.int64)
strided(cube, [1, 2], [3, 4], [1, 1], begin=1, end=2)
strided(cube, [0, 0, 0], [0, 0, 0], [1, 1, 1], begin=7, end=7)
strided(cube, [0, 0, 0], [0, 0, 0], [-1, 1, -2], begin=7, end=7)
strided(cube, [1, 0, -2], [2, 0, 0], [1, 1, 1], shrink_axis=5, begin=2, end=2)
strided(cube, [0, 1], [0, 3], [1, 1], ellipsis=1)
strided(cube, [1, 0], [3, 0], [1, 1], ellipsis=2)
strided(cube, [1, 0, 2], [3, 0, 4], [1, 1, 1], ellipsis=2)
strided(cube, [1, 0, 0, 2], [3, 0, 0, 4], [1, 1, 1, 1], ellipsis=2, new_axis=4)
strided(cube, [0, 1], [0, 2], [1, 1], new_axis=1)
strided(cube, [0, 0, 0], [0, 0, 0], [1, 1, 1], new_axis=7)
strided(cube, [0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], new_axis=2, shrink_axis=7)
strided(cube, [0, 0, 0, 3], [0, 0, 0, 0], [1, 1, 1, 1], ellipsis=2, new_axis=4, shrink_axis=9)
strided(cube, [-100, 100, 1], [100, -100, -1], [1, -1, 3])
strided(cube, [2], [1], [1])
strided(cube, [], [], [])
strided(np.float32(3), [], [], [])
strided(np.float32(3), [0], [0], [1], new_axis=1)
strided(np.zeros((0, 3), np.float32), [0, 0], [5, 2], [1, 1])
strided(np.zeros((0,), np.float32), [0], [1], [1], shrink_axis=1, refused=True)
strided(cube, [0], [1], [0], refused=True)
strided(cube, [3], [4], [1], shrink_axis=1, refused=True)
strided(cube, [0], [1], [-1], shrink_axis=1, refused=True)
strided(cube, [0] * 4, [1] * 4, [1] * 4, refused=True)
strided(cube, [0, 0], [1, 1], [1, 1], ellipsis=3, refused=True)


def strided_grad(shape, first, last, strides, dtype=np.float32, index=np.int32, **masks):
    def item(i):
        bits = {name: mask >> i & 1 for name, mask in masks.items()}
        if bits.get("ellipsis"):
            return Ellipsis
        if bits.get("new_axis"):
            return None
        if bits.get("shrink_axis"):
            return first[i]
        return slice(None if bits.get("begin") else first[i], None if bits.get("end") else last[i], strides[i])

    taken = np.zeros(shape)[tuple(item(i) for i in range(len(first)))]
    lists = [np.array(v, index) for v in (shape, first, last, strides)]
    attrs = {f"{name}_mask": mask for name, mask in masks.items()}
    case("StridedSliceGrad", *lists, some(dtype, *taken.shape), **attrs)


for dtype in SIZES + (bool,):
    strided_grad([4, 5], [1, 4], [4, 0], [2, -2], dtype)
strided_grad([3, 4], [0, 1], [0, 0], [1, 1], ellipsis=1, shrink_axis=2)
strided_grad([3, 4], [0, 0], [0, 3], [1, 1], new_axis=1, index=np.int64)
strided_grad([5], [0], [0], [-1], begin=1, end=1)
strided_grad([5], [3], [2], [1])

# Frames.
for dtype in ANY:
    case("PadV2", some(dtype, 2, 3), ints([1, 0], [2, 1]), some(dtype))
    if dtype is not str:
        case("Pad", some(dtype, 2, 3), ints([1, 0], [2, 1]))
    if dtype not in (str, bool):
        for mode in ("REFLECT", "SYMMETRIC"):
            case("MirrorPad", some(dtype, 2, 3), ints([1, 0], [2, 1]), mode=mode)
for dtype in FLOATING + (np.complex64, np.int32):
    for mode in ("REFLECT", "SYMMETRIC"):
        case("MirrorPadGrad", some(dtype, 3, 6), ints([1, 0], [2, 1]), mode=mode)
for mode in ("REFLECT", "SYMMETRIC"):
    case("MirrorPad", some(np.float32, 4, 3, 2), ints([3, 2], [1, 2], [0, 1], dtype=np.int64), mode=mode)
    case("MirrorPad", some(np.float32, 2), ints([0, 0]), mode=mode)
    case("MirrorPad", some(np.float32, 2), ints([3, 0]), mode=mode, refused=True)
    case("MirrorPad", some(np.float32, 2), ints([-1, 0]), mode=mode, refused=True)
    case("MirrorPadGrad", some(np.float64, 7, 3, 6), ints([2, 2], [1, 0], [2, 1], dtype=np.int64), mode=mode)
    case("MirrorPadGrad", some(np.float64, 3), ints([3, 2]), mode=mode, refused=True)
for op, more in (("Pad", ()), ("PadV2", (np.float32(7),))):
    case(op, np.zeros((0, 2), np.float32), ints([1, 1], [0, 1], dtype=np.int64), *more)
    case(op, np.float32(2), np.zeros((0, 2), np.int32), *more)
    case(op, some(np.float32, 2), ints([0, -1]), *more, refused=True)

# Permutations.
for dtype in ANY + (np.complex64,):
    case("Transpose", some(dtype, 2, 3, 4), ints(2, 0, 1))
    case("ConjugateTranspose", some(dtype, 2, 3, 4), ints(1, 2, 0))
    case("Reverse", some(dtype, 2, 3), np.array([False, True]))
    case("ReverseV2", some(dtype, 2, 3), ints(1))
    case("Roll", some(dtype, 3, 4), ints(1, -1), ints(0, 1))
    case("Tile", some(dtype, 2, 3), ints(2, 1))
    case("ReverseSequence", some(dtype, 2, 4), ints(3, 2, dtype=np.int64), seq_dim=1)
for order in ((0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 1, 0)):
    case("Transpose", some(np.float32, 17, 3, 18), ints(*order, dtype=np.int64))
case("Transpose", np.zeros((0, 3), np.float32), ints(1, 0))
case("Transpose", some(np.float32, 2, 2), ints(0, 0), refused=True)
case("ConjugateTranspose", some(np.complex64, 1, 3), ints(1, 0, dtype=np.int64))
for axes in ((), (0, 1), (-1,)):
    case("ReverseV2", some(np.float32, 2, 3), ints(*axes, dtype=np.int64))
case("ReverseV2", some(np.float32, 2, 3), ints(0, -2), refused=True)
case("ReverseV2", np.zeros((2, 0), np.float32), ints(1))
case("Reverse", some(np.float32, 2, 1, 3), np.array([True, True, True]))
case("Reverse", np.float32(1), np.zeros(0, bool))
case("ReverseSequence", some(np.float32, 4, 3, 2), ints(4, 0, 1), seq_dim=0, batch_dim=1)
case("ReverseSequence", some(np.float32, 2, 3, 4), ints(4, 1), seq_dim=2, batch_dim=0)
case("ReverseSequence", np.zeros((2, 0), np.float32), ints(0, 0), seq_dim=1)
case("ReverseSequence", some(np.float32, 2, 3), ints(4, 1), seq_dim=1, refused=True)
for shift, axis in ((5, 0), (-7, 1), (0, 0), (1, -1)):
    case("Roll", some(np.float32, 3, 4), np.int32(shift), np.int64(axis))
case("Roll", some(np.float32, 3, 4), ints(1, 1, -3, dtype=np.int64), ints(0, 0, 1))
case("Roll", np.zeros((2, 0), np.float32), np.int32(1), np.int32(1))
for multiples in ((1, 1), (0, 2), (3, 2)):
    case("Tile", some(np.float32, 2, 3), ints(*multiples, dtype=np.int64))
case("Tile", np.float32(1), ints())
case("Tile", some(np.float32, 2), ints(-1), refused=True)

# Blocks.
for dtype in SIZES:
    case("SpaceToDepth", some(dtype, 2, 4, 2, 3), block_size=2)
    case("DepthToSpace", some(dtype, 2, 2, 1, 12), block_size=2)
for dtype in (np.uint8, np.int16, np.float32, np.int64, bfloat16):
    case("SpaceToBatchND", some(dtype, 2, 4, 3), ints(2), ints([1, 1]))
    case("BatchToSpaceND", some(dtype, 4, 3, 2), ints(2), ints([1, 2]))
    case("SpaceToBatch", some(dtype, 1, 3, 4, 2), ints([1, 0], [0, 2]), block_size=2)
    case("BatchToSpace", some(dtype, 4, 2, 3, 1), ints([1, 0], [0, 2]), block_size=2)
case("SpaceToDepth", some(np.float32, 1, 3, 3, 1), block_size=3)
case("DepthToSpace", some(np.float32, 1, 1, 2, 18), block_size=3)
case("SpaceToDepth", some(np.float32, 1, 3, 4, 1), block_size=2, refused=True)
case("DepthToSpace", some(np.float32, 1, 1, 1, 6), block_size=2, refused=True)
x = some(np.float32, 2, 3, 4, 6)  # NCHW, which TensorFlow's processor kernels do not support
deep = x.reshape(2, 3, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 12, 2, 3)
case("SpaceToDepth", x, expected=[deep], block_size=2, data_format="NCHW")
case("DepthToSpace", deep, expected=[x], block_size=2, data_format="NCHW")
case("SpaceToBatchND", some(np.float32, 2, 4, 6, 2), ints(2, 3, dtype=np.int64), ints([0, 0], [2, 1]))
case("SpaceToBatchND", some(np.float32, 1, 2, 2, 3), ints(1, 1, 1), ints([0, 0], [1, 0], [0, 2]))
case("SpaceToBatchND", some(np.float32, 2, 3), np.zeros(0, np.int32), np.zeros((0, 2), np.int32))
case("SpaceToBatchND", some(np.float32, 1, 3), ints(2), ints([0, 0]), refused=True)
case("SpaceToBatchND", some(np.float32, 1, 2), ints(5), ints([5, 3]))
case("BatchToSpaceND", some(np.float32, 12, 2, 2, 2), ints(2, 3, dtype=np.int64), ints([1, 0], [2, 3]))
case("BatchToSpaceND", some(np.float32, 3, 2), ints(2), ints([0, 0]), refused=True)
case("BatchToSpaceND", some(np.float32, 2, 2), ints(2), ints([3, 2]), refused=True)
case("SpaceToBatch", some(np.float32, 2, 3, 3, 1), ints([0, 0], [3, 0], dtype=np.int64), block_size=3)
case("BatchToSpace", some(np.float32, 9, 1, 2, 1), ints([0, 1], [3, 0], dtype=np.int64), block_size=3)
for padding in ("SAME", "VALID"):
    for dtype in (np.float32, np.float64, np.int32, np.uint8, np.float16, np.int64):
        case("ExtractImagePatches", some(dtype, 1, 5, 4, 2), ksizes=[1, 3, 2, 1], strides=[1, 2, 1, 1],
             rates=[1, 1, 2, 1], padding=padding)
    case("ExtractImagePatches", some(np.float32, 2, 3, 3, 1), ksizes=[1, 1, 1, 1], strides=[1, 2, 3, 1],
         rates=[1, 1, 1, 1], padding=padding)
    case("ExtractImagePatches", some(np.float32, 1, 2, 6, 1), ksizes=[1, 2, 2, 1], strides=[1, 3, 2, 1],
         rates=[1, 1, 3, 1], padding=padding)

# Diagonals.
for dtype in (np.float32, np.float64, np.int32, np.int64, np.complex64, np.complex128):
    case("Diag", some(dtype, 3))
    case("DiagPart", some(dtype, 2, 3, 2, 3))
case("Diag", some(np.float32, 2, 3))
case("Diag", np.zeros((0,), np.float32))
case("DiagPart", some(np.float32, 3, 3))
case("DiagPart", some(np.float32, 2, 3), refused=True)
for dtype in ANY[:-1] + (np.float16,):
    case("MatrixDiag", some(dtype, 2, 3))
    case("MatrixDiagPart", some(dtype, 2, 3, 4))
    case("MatrixSetDiag", some(dtype, 2, 3, 2), some(dtype, 2, 2))
    case("MatrixBandPart", some(dtype, 2, 4, 3), np.int64(1), np.int64(0))
case("MatrixDiag", np.zeros((2, 0), np.float32))
case("MatrixDiag", some(np.float32, 1))
case("MatrixDiagPart", some(np.float32, 4, 2))
case("MatrixSetDiag", some(np.float32, 2, 2), some(np.float32, 3), refused=True)
for lower, upper in ((-1, 0), (0, -1), (2, 1), (4, 5), (-1, -1), (0, 0)):
    case("MatrixBandPart", some(np.float32, 4, 5), np.int32(lower), np.int32(upper))
case("MatrixBandPart", some(np.float32, 2, 2), np.int64(3), np.int64(0), refused=True)

for dtype in ANY:
    case("ParallelConcat", [some(dtype, 1, 3) for _ in range(3)], shape=[3, 3])
case("ParallelConcat", [some(np.float32, 1)], shape=[1])
case("ParallelConcat", [some(np.float32, 1, 0, 2)] * 2, shape=[2, 0, 2])
