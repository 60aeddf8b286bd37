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
# The library may choose the pixels of the missing part.
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


def lzw(pixels, bits):
    """The pixels as in a GIF file: in blocks, with codes that grow from bits + 1 bits."""
    clear, codes, width = 1 << bits, {}, bits + 1
    out, held, count = bytearray(), 0, 0

    def put(code):
        nonlocal held, count
        held |= code << count
        count += width
        while count >= 8:
            out.append(held & 255)
            held >>= 8
            count -= 8

    put(clear)
    prefix = ()
    for pixel in pixels:
        longer = prefix + (int(pixel),)
        if len(longer) == 1 or longer in codes:
            prefix = longer
            continue
        put(codes[prefix] if len(prefix) > 1 else prefix[0])
        codes[longer] = clear + 2 + len(codes)
        if codes[longer] == 1 << width and width < 12:
            width += 1
        if len(codes) == 4093 - clear:  # the maximum for codes of 12 bits
            put(clear)
            codes, width = {}, bits + 1
        prefix = (int(pixel),)
    put(codes[prefix] if len(prefix) > 1 else prefix[0])
    put(clear + 1)
    if count:
        out.append(held & 255)
    blocks = b"".join(bytes([len(out[i:i + 255])]) + bytes(out[i:i + 255]) for i in range(0, len(out), 255))
    return bytes([bits]) + blocks + b"\0"


def gif(height, width, *frames, colors=8, bits=3, map_bits=None, more=b""):
    """Each frame: pixels [height, width] of colors, and left, top, transparent, interlaced, own colors."""
    table = bytes((np.arange(3 << (map_bits or bits)) * 37 % 251).astype(np.uint8))
    file = b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF0 | (map_bits or bits) - 1, 0, 0) + table + more
    for pixels, left, top, transparent, interlaced, own in frames:
        if transparent is not None:
            file += b"\x21\xf9\x04\x01\x00\x00" + bytes([transparent]) + b"\0"
        rows, columns = pixels.shape
        order = [y for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(first, rows, step)]
        flags = (0x40 if interlaced else 0) | (0x80 | bits - 1 if own else 0)
        file += b"\x2c" + struct.pack("<HHHHB", left, top, columns, rows, flags) + (bytes(table[::-1]) if own else b"")
        file += lzw((pixels[order] if interlaced else pixels).reshape(-1), bits)
    return file + b"\x3b"


def colored(*dims, most=8):
    return uniform(0, most, *dims, dtype=np.int64)


GIFS = [
    gif(5, 7, (colored(5, 7), 0, 0, None, False, False)),
    gif(11, 6, (colored(11, 6), 0, 0, None, True, True)),
    gif(9, 4, (colored(9, 4), 0, 0, 3, False, False)),
    gif(6, 5, (colored(3, 2), 2, 1, None, False, False)),
    gif(40, 60, (colored(40, 60, most=256), 0, 0, None, False, False), bits=8),
]
ANIMATIONS = [
    gif(6, 5, (colored(6, 5), 0, 0, None, False, False), (colored(3, 2), 2, 1, None, False, True)),
    gif(6, 5, (colored(6, 5), 0, 0, 2, False, False), (colored(6, 5), 0, 0, 2, True, False),
        (colored(2, 5), 0, 3, 5, False, False), more=b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0\x21\xfe\x03abc\0"),
    gif(4, 4, (colored(2, 2), 0, 0, None, False, False), (colored(4, 3), 2, 1, None, False, False)),
]
for file in GIFS + ANIMATIONS:
    case("DecodeGif", text(file))
    case("DecodeImage", text(file))
    case("DecodeImage", text(file), expand_animations=False)
    case("DecodeImage", text(file), channels=3, dtype=np.uint16)
    case("DecodeImage", text(file), dtype=np.float32)
for file in GIFS[:3]:
    case("DecodePng", text(file))
    case("DecodeJpeg", text(file), channels=3)
case("DecodePng", text(ANIMATIONS[0]), refused=True)
case("DecodeJpeg", text(ANIMATIONS[0]), refused=True)
case("DecodeImage", text(GIFS[0]), channels=4, refused=True)
case("DecodeImage", text(GIFS[0]), channels=1, refused=True)
case("DecodePng", text(GIFS[0]), dtype=np.uint16)
case("DecodeGif", text(GIFS[0][:-1]))  # without the last byte
case("DecodeGif", text(FILES[0]))
for bad in (b"", b"GIF89a", GIFS[0][:20], gif(5, 7), GIFS[0].replace(b"\x2c", b"\x2d"), GIFS[0][:-6]):
    case("DecodeGif", text(bad), refused=True)
# A color that is not in the table.
case("DecodeGif", text(gif(5, 7, (colored(5, 7) * 0 + 7, 0, 0, None, False, False), map_bits=1)), refused=True)


def bmp(height, width, bits, pixels, begin=54, compression=0):
    return (b"BM" + struct.pack("<IHHI", begin + len(pixels), 0, 0, begin) + struct.pack("<IiiHH", 40, width, height, 1, bits)
            + struct.pack("<IIiiII", compression, len(pixels), 2835, 2835, 0, 0) + bytes(begin - 54) + pixels)


def rows(height, width, channels):
    return bytes(uniform(0, 256, height, (width * channels + 3) // 4 * 4, dtype=np.int64).astype(np.uint8))


BMPS = [
    bmp(3, 5, 24, rows(3, 5, 3)), bmp(-3, 5, 24, rows(3, 5, 3)), bmp(4, 2, 32, rows(4, 2, 4)),
    bmp(-2, 3, 32, rows(2, 3, 4), begin=70, compression=3), bmp(2, 3, 8, rows(2, 3, 1), begin=54 + 1024),
    bmp(1, 1, 24, rows(1, 1, 3)),
]
for file in BMPS:
    for channels in (0, 3, 4):
        case("DecodeBmp", text(file), channels=channels)
        case("DecodeImage", text(file), channels=channels)
    if struct.unpack("<i", file[22:26])[0] > 0:  # otherwise TensorFlow 2.21 ends with std::bad_alloc
        for dtype in (np.uint16, np.float32):
            case("DecodeImage", text(file), dtype=dtype)
for bad in (b"BM", BMPS[0][:40], BMPS[0][:-20], FILES[0], bmp(0, 5, 24, b""), bmp(3, 0, 24, b""),
            bmp(3, 5, 16, rows(3, 5, 3))):
    case("DecodeBmp", text(bad), refused=True)
case("DecodePng", text(BMPS[0]), refused=True)
case("DecodeJpeg", text(BMPS[0]), refused=True)
case("DecodeImage", text(BMPS[0]), channels=1, refused=True)

for file in FILES[:6] + JPEGS:
    for channels in (0, 1, 3):
        case("DecodeImage", text(file), channels=channels)
    case("DecodeImage", text(file), dtype=np.uint16)
    case("DecodeImage", text(file), dtype=np.float32, expand_animations=False)
case("DecodeImage", text(FILES[0]), channels=4, dtype=np.float32)
for bad in (b"", b"text", FILES[0][:20], JPEGS[0][:30], b"BMP"):
    case("DecodeImage", text(bad), refused=True)
case("DecodeImage", text(JPEGS[0]), channels=4, refused=True)

for file in JPEGS:
    case("ExtractJpegShape", text(file))
    case("ExtractJpegShape", text(file), output_type=np.int64)
for bad in (b"", b"text", JPEGS[0][:30], FILES[0]):
    case("ExtractJpegShape", text(bad), refused=True)
