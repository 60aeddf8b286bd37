"""Images: files, sizes, colors, boxes.

What TensorFlow encodes is not compared byte by byte: other versions of the libraries make other
files of the same image. Decoding is exact, as both IDCTs of libjpeg are.
"""

import struct
import zlib

import numpy as np
import tensorflow as tf

from golden import bfloat16, case, normal, uniform, v1

FLOATING = (np.float16, bfloat16, np.float32, np.float64)
SINGLE = 1e-5  # gradients of doubles are computed from floats
RESIZABLE = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64) + FLOATING


def text(value):
    return np.array(value, object).reshape(())


def encoded(op, image, **attrs):
    with tf.Graph().as_default(), v1.Session() as session:
        return session.run(op(image, **attrs))


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, depth, color, rows, *chunks, interlace=0):
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace))
    body = chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + body


PALETTE = chunk(b"PLTE", bytes([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7]))
FILES = [encoded(tf.io.encode_png, uniform(0, 255, 4, 3, channels, dtype=np.uint8)) for channels in (1, 2, 3, 4)]
FILES += [encoded(tf.io.encode_png, uniform(0, 65535, 3, 2, channels, dtype=np.uint16)) for channels in (1, 2, 3, 4)]
FILES += [
    png(5, 2, 1, 0, b"\x00\xa8\x00\x50"),
    png(3, 2, 2, 0, b"\x00\x1b\x00\xe4"),
    png(3, 2, 4, 0, b"\x00\x12\x30\x00\xfe\xd0"),
    png(4, 1, 2, 3, b"\x00\x1b", PALETTE),
    png(2, 2, 8, 3, b"\x00\x00\x01\x01\x02\x01", PALETTE),
]
for file in FILES:
    for channels in (0, 1, 3):
        case("DecodePng", text(file), channels=channels)
    case("DecodePng", text(file), dtype=np.uint16)
for file in FILES[:8]:
    case("DecodePng", text(file), channels=4)
# Adam7, one pixel each for the first passes.
case("DecodePng", text(png(2, 2, 8, 0, b"\x00\x05\x00\x06\x00\x07\x08", interlace=1)))
TRANSPARENT = chunk(b"tRNS", b"\x00\x80\xff\x40")
case("DecodePng", text(png(2, 2, 8, 3, b"\x00\x00\x01\x01\x02\x01", PALETTE, TRANSPARENT)))
case("DecodePng", text(png(2, 2, 8, 3, b"\x00\x00\x01\x01\x02\x01", PALETTE, TRANSPARENT)), channels=3)
case("DecodePng", text(png(2, 1, 8, 0, b"\x00\x05\x06", chunk(b"tRNS", b"\x00\x05"))), channels=4)
for bad in (b"", b"text", FILES[0][:20], FILES[0][:-25], FILES[0][:40] + b"x" + FILES[0][41:], png(0, 1, 8, 0, b"")):
    case("DecodePng", text(bad), refused=True)
case("DecodePng", text(png(1 << 20, 1 << 20, 8, 2, b"")), refused=True)

for channels in (1, 2, 3, 4):
    for dtype in (np.uint8, np.uint16):
        case("EncodePng", uniform(0, 255, 3, 2, channels, dtype=dtype), outputs=(), compression=channels)
case("EncodePng", uniform(0, 255, 3, 2, 5, dtype=np.uint8), refused=True)

WAVES = (127 + 120 * np.sin(np.arange(17 * 23 * 3) / 9).reshape(17, 23, 3)).astype(np.uint8)
JPEGS = [
    encoded(tf.io.encode_jpeg, WAVES[..., :1]),
    encoded(tf.io.encode_jpeg, WAVES),
    encoded(tf.io.encode_jpeg, WAVES, chroma_downsampling=False, quality=50),
    encoded(tf.io.encode_jpeg, WAVES, progressive=True, optimize_size=True),
]
for file in JPEGS:
    for channels in (0, 1, 3):
        case("DecodeJpeg", text(file), channels=channels)
    for ratio in (2, 4, 8):
        case("DecodeJpeg", text(file), ratio=ratio)
    case("DecodeJpeg", text(file), dct_method="INTEGER_FAST")
    case("DecodeJpeg", text(file), dct_method="INTEGER_ACCURATE", fancy_upscaling=False)
    case("DecodePng", text(file))
case("DecodeJpeg", text(FILES[2]))
case("DecodeJpeg", text(FILES[0]), channels=3)
CUT = JPEGS[2][:-40]
# What stands for the missing part is up to the library.
case("DecodeJpeg", text(CUT), try_recover_truncated=True, acceptable_fraction=0.1, outputs=())
case("DecodeJpeg", text(CUT), try_recover_truncated=True, outputs=())
for bad in (b"", b"text", JPEGS[0][:30], CUT, b"\xff\xd8\xff" + b"x" * 40):
    case("DecodeJpeg", text(bad), refused=True)

for attrs in ({}, {"quality": 20}, {"progressive": True}, {"format": "rgb"}, {"density_unit": "cm"}, {"xmp_metadata": "<x/>"}):
    case("EncodeJpeg", WAVES, outputs=(), **attrs)
case("EncodeJpeg", WAVES[..., :1], outputs=(), format="grayscale")
case("EncodeJpeg", WAVES, format="grayscale", refused=True)
case("EncodeJpeg", WAVES[..., :2], refused=True)
case("EncodeJpeg", WAVES, quality=101, refused=True)

CENTERS = ({}, {"align_corners": True}, {"half_pixel_centers": True})
SIZES = ((3, 3), (1, 1), (7, 5), (2, 8), (4, 6))


def size(*extents):
    return np.array(extents, np.int32)


for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"):
    for centers in CENTERS:
        for extents in SIZES:
            case(op, normal(2, 4, 6, 3), size(*extents), **centers)
            if op != "ResizeNearestNeighbor":
                case(op + "Grad", normal(2, *extents, 3), normal(2, 4, 6, 3), **centers)
            else:
                case(op + "Grad", normal(2, *extents, 3), size(4, 6), **centers)
        case(op, normal(1, 1, 1, 2), size(3, 2), **centers)
    for dtype in RESIZABLE:
        case(op, uniform(0, 100, 1, 3, 2, 1, dtype=np.int32).astype(dtype), size(2, 5))
    case(op, normal(0, 2, 2, 1), size(3, 3))
    case(op, normal(1, 2, 2, 1), size(0, 3), refused=True)
    case(op, normal(1, 0, 2, 1), size(3, 3), refused=True)
    case(op, normal(2, 2, 1), size(3, 3), refused=True)
for dtype in FLOATING:
    case("ResizeBilinearGrad", normal(1, 5, 3, 1), np.zeros((1, 2, 4, 1), dtype), tolerance=None if dtype in FLOATING[:2] else SINGLE)
for dtype in (np.float32, np.float64):
    case("ResizeBicubicGrad", normal(1, 5, 3, 1), np.zeros((1, 2, 4, 1), dtype), tolerance=SINGLE)
for dtype in (np.uint8, np.int8, np.int32) + FLOATING:
    case("ResizeNearestNeighborGrad", uniform(0, 9, 1, 5, 3, 2, dtype=np.int32).astype(dtype), size(2, 2))
for align_corners in (False, True):
    for extents in SIZES:
        case("ResizeArea", normal(2, 4, 6, 3), size(*extents), align_corners=align_corners)
for dtype in RESIZABLE:
    case("ResizeArea", uniform(0, 100, 1, 5, 3, 2, dtype=np.int32).astype(dtype), size(2, 2))

BOXES = np.array(
    [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.8, 0.9, 0.1, 0.2], [-0.5, -0.5, 1.5, 1.5], [0.5, 0.5, 0.5, 0.5]], np.float32
)
OF = np.array([0, 1, 0, 1, 1], np.int32)
for method in ("bilinear", "nearest"):
    for extents in ((2, 3), (1, 1), (5, 1), (4, 7)):
        case("CropAndResize", normal(2, 4, 5, 3), BOXES, OF, size(*extents), method=method, extrapolation_value=-1.5)
        case("CropAndResizeGradImage", normal(5, *extents, 3), BOXES, OF, size(2, 4, 5, 3), T=np.float32, method=method)
for dtype in (np.uint8, np.uint16, np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64):
    image = uniform(0, 100, 1, 3, 4, 2, dtype=np.int32).astype(dtype)
    case("CropAndResize", image, BOXES[:2], np.int32([0, 0]), size(2, 2))
    case("CropAndResizeGradBoxes", normal(2, 2, 2, 2), image, BOXES[:2], np.int32([0, 0]))
for extents in ((2, 3), (1, 1), (5, 1)):
    case("CropAndResizeGradBoxes", normal(5, *extents, 3), normal(2, 4, 5, 3), BOXES, OF)
for dtype in (np.float16, np.float32, np.float64):
    case("CropAndResizeGradImage", normal(2, 2, 2, 1), BOXES[:2], np.int32([0, 0]), size(1, 3, 3, 1), T=dtype, tolerance=None if dtype == np.float16 else SINGLE)
case("CropAndResize", normal(1, 3, 3, 1), BOXES[:0], OF[:0], size(2, 2))
case("CropAndResize", normal(1, 3, 3, 1), BOXES, OF, size(2, 2), refused=True)
case("CropAndResize", normal(2, 3, 3, 1), BOXES, OF[:2], size(2, 2), refused=True)
case("CropAndResize", normal(2, 3, 3, 1), BOXES, OF, size(0, 2), refused=True)
case("CropAndResizeGradImage", normal(5, 2, 2, 1), BOXES, OF, size(1, 3, 3, 1), T=np.float32, refused=True)
case("CropAndResizeGradBoxes", normal(5, 2, 2, 1), normal(1, 3, 3, 1), BOXES, OF, refused=True)

PIXELS = np.concatenate([uniform(0, 1, 6, 3), np.float32([[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0.2]])])
for dtype in FLOATING:
    case("RGBToHSV", PIXELS.astype(dtype))
    case("HSVToRGB", PIXELS.astype(dtype))
for op in ("RGBToHSV", "HSVToRGB"):
    case(op, PIXELS.reshape(2, 3, 2, 3))
    case(op, np.zeros((0, 3), np.float32))
    case(op, PIXELS[:, :2], refused=True)
for factor in (-0.7, -0.1, 0.0, 0.3, 0.5, 1.0):
    for op in ("AdjustHue", "AdjustSaturation", "AdjustContrastv2"):
        case(op, PIXELS.reshape(3, 4, 3), np.float32(factor))
case("AdjustContrastv2", normal(2, 3, 4, 5, 2), np.float32(1.7))
case("AdjustContrastv2", np.zeros((0, 3, 3, 1), np.float32), np.float32(1.7))
for op in ("AdjustHue", "AdjustSaturation"):
    case(op, np.zeros((0, 2, 3), np.float32), np.float32(0.5))
    case(op, PIXELS.reshape(3, 4, 3), np.float32([0.5]), refused=True)
case("AdjustContrastv2", PIXELS, np.float32(0.5), refused=True)
CANDIDATES = np.array(
    [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [1, 11.1, 0, 10.1], [0, 100, 1, 101], [3, 3, 3, 3]],
    np.float32,
)
SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.3], np.float32)
for most in (0, 1, 3, 30):
    for overlap in (0.0, 0.5, 0.9, 1.0):
        case("NonMaxSuppression", CANDIDATES, SCORES, np.int32(most), iou_threshold=overlap)
        case("NonMaxSuppressionV2", CANDIDATES, SCORES, np.int32(most), np.float32(overlap))
        case("NonMaxSuppressionV3", CANDIDATES, SCORES, np.int32(most), np.float32(overlap), np.float32(0.5))
for dtype in (np.float16, np.float32):
    case("NonMaxSuppressionV2", CANDIDATES.astype(dtype), SCORES.astype(dtype), np.int32(3), np.float32(0.5))
    case("NonMaxSuppressionV3", CANDIDATES.astype(dtype), SCORES.astype(dtype), np.int32(9), dtype(0.25), dtype(0.25))
case("NonMaxSuppression", CANDIDATES[:0], SCORES[:0], np.int32(3))
case("NonMaxSuppression", CANDIDATES, SCORES[:2], np.int32(3), refused=True)
case("NonMaxSuppressionV2", CANDIDATES, SCORES, np.int32(3), np.float32(1.5), refused=True)
case("NonMaxSuppressionV3", CANDIDATES, SCORES, np.int32(3), np.float32(-0.5), np.float32(0), refused=True)
case("NonMaxSuppressionV2", CANDIDATES, SCORES, np.int32([3]), np.float32(0.5), refused=True)

DRAWN = np.array(
    [[[0, 0, 1, 1], [0.2, 0.3, 0.7, 0.8], [-0.5, 0.1, 0.5, 2], [0.6, 0.6, 0.2, 0.9], [1.5, 0, 2, 1], [0.4, 0.4, 0.4, 0.4]]] * 2, np.float32
)
for dtype in (np.float16, np.float32):
    for channels in (1, 3, 4):
        case("DrawBoundingBoxes", uniform(0, 1, 2, 8, 9, channels).astype(dtype), DRAWN)
case("DrawBoundingBoxes", np.zeros((2, 12, 12, 3), np.float32), np.tile(np.linspace(0, 0.5, 12, dtype=np.float32)[None, :, None], (2, 1, 4)) * np.float32([1, 1, 2, 2]))
case("DrawBoundingBoxes", normal(2, 5, 4, 3), DRAWN[:, :0])
case("DrawBoundingBoxes", normal(2, 5, 4, 2), DRAWN, refused=True)
case("DrawBoundingBoxes", normal(1, 5, 4, 3), DRAWN, refused=True)
