"""Connectionist temporal classification."""

import numpy as np

from golden import case, normal, uniform


def labels(*rows):
    """Sparse labels, with their count for each row."""
    places = [[b, i] for b, row in enumerate(rows) for i in range(len(row))]
    return np.array(places, np.int64), np.array([x for row in rows for x in row], np.int32)


ROWS = ([0, 1], [2, 2, 0], [1])
for dtype in (np.float32, np.float64):
    for flags in (
        {},
        {"ctc_merge_repeated": False},
        {"preprocess_collapse_repeated": True},
        {"preprocess_collapse_repeated": True, "ctc_merge_repeated": False},
    ):
        x = (3 * normal(5, 3, 4)).astype(dtype)
        case("CTCLoss", x, *labels(*ROWS), np.int32([5, 4, 3]), tolerance=1e-5, **flags)
x = normal(3, 3, 4)
case("CTCLoss", x, *labels(*ROWS), np.int32([1, 3, 0]), ignore_longer_outputs_than_inputs=True)
case("CTCLoss", x, *labels(*ROWS), np.int32([1, 3, 1]), refused=True)
case("CTCLoss", x, *labels(*ROWS), np.int32([3, 3, 4]), refused=True)
case("CTCLoss", x, *labels([0, 1], [0], [-1]), np.int32([3, 3, 3]), refused=True)
case("CTCLoss", x, *labels([0, 3], [1], [2, 2, 3]), np.int32([3, 2, 3]))
case("CTCLoss", x, *labels([3, 0], [3], [2]), np.int32([3, 2, 3]), refused=True)
case("CTCLoss", 30 * normal(12, 1, 3), *labels([0, 1, 0, 1]), np.int32([12]))
case("CTCLoss", normal(1, 1, 2), *labels([0]), np.int32([1]))


def blank_first(x, labels, **flags):
    """TensorFlow's kernel of CTCLossV2 is for GPUs only; this is CTCLoss with the classes turned."""
    import tensorflow as tf

    graph = tf.Graph()
    with graph.as_default(), tf.compat.v1.Session() as session:
        lengths = np.full(x.shape[1], x.shape[0], np.int32)
        turned = np.roll(x, -1, axis=2)
        loss, gradient = session.run(tf.raw_ops.CTCLoss(
            inputs=turned, labels_indices=labels[0], labels_values=labels[1] - 1, sequence_length=lengths, **flags
        ))
    case("CTCLossV2", x, *labels, lengths, expected=[loss, np.roll(gradient, 1, axis=2)], **flags)


for rows in (([1, 2], [3, 3], [1]), ([1], [2], [3]), ([1, 2, 3], [2, 2], [1, 1])):
    blank_first(normal(4, 3, 4), labels(*rows))
    blank_first(normal(4, 3, 4), labels(*rows), ctc_merge_repeated=False)

for dtype in (np.float32, np.float64):
    for merge in (False, True):
        for blank in (-1, 0, -2, 2):
            x = normal(6, 3, 3).astype(dtype)
            case("CTCGreedyDecoder", x, np.int32([6, 4, 0]), merge_repeated=merge, blank_index=blank)
case("CTCGreedyDecoder", normal(1, 1, 1), np.int32([1]))
case("CTCGreedyDecoder", normal(2, 1, 3), np.int32([3]), refused=True)
case("CTCGreedyDecoder", normal(2, 1, 3), np.int32([2]), blank_index=3, refused=True)

for dtype in (np.float32, np.float64):
    for merge in (False, True):
        x = (2 * normal(7, 3, 4)).astype(dtype)
        lengths = np.int32([7, 5, 2])
        tolerance = 1e-5  # TensorFlow adds probabilities in float for all types
        case("CTCBeamSearchDecoder", x, lengths, beam_width=20, top_paths=3, merge_repeated=merge, tolerance=tolerance)
        case("CTCBeamSearchDecoder", x, lengths, beam_width=3, top_paths=2, merge_repeated=merge, tolerance=tolerance)
        case("CTCBeamSearchDecoder", x, lengths, beam_width=1, top_paths=1, merge_repeated=merge, tolerance=tolerance)
# Few classes: sequences with repetitions, and paths to them that part and meet again.
for width in (2, 5, 100):
    case("CTCBeamSearchDecoder", normal(12, 2, 3), np.int32([12, 11]), beam_width=width, top_paths=2, merge_repeated=False)
    case("CTCBeamSearchDecoder", normal(12, 1, 2), np.int32([12]), beam_width=width, top_paths=2, merge_repeated=True)
case("CTCBeamSearchDecoder", normal(40, 2, 6), np.int32([40, 33]), beam_width=50, top_paths=5, merge_repeated=False)
case("CTCBeamSearchDecoder", 30 * normal(6, 1, 3), np.int32([6]), beam_width=4, top_paths=1, merge_repeated=False)
case("CTCBeamSearchDecoder", normal(3, 2, 1), np.int32([3, 0]), beam_width=4, top_paths=1, merge_repeated=False)
case("CTCBeamSearchDecoder", normal(3, 1, 3), np.int32([0]), beam_width=4, top_paths=1, merge_repeated=False)
case("CTCBeamSearchDecoder", normal(3, 1, 3), np.int32([0]), beam_width=4, top_paths=2, refused=True)
case("CTCBeamSearchDecoder", normal(2, 1, 3), np.int32([2]), beam_width=2, top_paths=3, refused=True)
case("CTCBeamSearchDecoder", normal(2, 1, 3), np.int32([3]), beam_width=2, top_paths=1, refused=True)
