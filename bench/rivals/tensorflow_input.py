"""input/... with TensorFlow's queue runners, as programs of its first version have it; and, for comparison, tf.data."""

import input_files
from input_files import BATCH, SIDE, SCALE
from measure import Step


def make_cases(tf, config):
    v1 = tf.compat.v1
    files = []

    def path(file):
        if not files:
            files.extend(input_files.write())
        return files[file]

    def in_runners(define):
        """A step takes a batch of `define()`; queue runners fill its queues in threads."""
        with tf.Graph().as_default() as graph:
            batch = define()
            session = v1.Session(graph=graph, config=config())
            v1.train.start_queue_runners(session, v1.train.Coordinator())
        run = session.make_callable(batch)
        return Step(lambda: run(), BATCH)

    def records(file, records_per_read):
        names = v1.train.string_input_producer([path(file)])
        reader = v1.TFRecordReader()
        return reader.read_up_to(names, records_per_read)[1] if records_per_read > 1 else reader.read(names)[1]

    def digits(records_per_read):
        value = v1.decode_raw(records(0, records_per_read), tf.uint8)
        value.set_shape([None, SIDE * SIDE + 1] if records_per_read > 1 else [SIDE * SIDE + 1])
        batch = v1.train.shuffle_batch([value], BATCH, 4096, 1024, num_threads=2, enqueue_many=records_per_read > 1)
        return tf.cast(batch[:, :-1], tf.float32) / 16, tf.cast(batch[:, -1:], tf.int32)

    def parsed_png(record):
        label = tf.cast(tf.reshape(v1.decode_raw(tf.strings.substr(record, 0, 1), tf.uint8), []), tf.int32)
        image = tf.io.decode_png(tf.strings.substr(record, 1, 1 << 20), channels=1)
        image.set_shape([SIDE * SCALE, SIDE * SCALE, 1])
        return tf.cast(image, tf.float32) / 255, label

    def png():
        return v1.train.shuffle_batch(list(parsed_png(records(1, 1))), BATCH, 2048, 512, num_threads=4)

    def in_dataset(file, parse, buffer_size):
        data = tf.data.TFRecordDataset(path(file)).repeat()
        data = data.map(parse, num_parallel_calls=tf.data.AUTOTUNE).shuffle(buffer_size).batch(BATCH)
        batches = iter(data.prefetch(2))
        return Step(lambda: next(batches), BATCH)

    def parsed_digit(record):
        value = tf.io.decode_raw(record, tf.uint8)
        return tf.cast(value[:-1], tf.float32) / 16, tf.cast(value[-1:], tf.int32)

    return {
        "input/digits": {"runners": lambda: in_runners(lambda: digits(1)),
                         "dataset": lambda: in_dataset(0, parsed_digit, 1024)},
        "input/digits_64_at_once": {"runners": lambda: in_runners(lambda: digits(64))},
        "input/png": {"runners": lambda: in_runners(png),
                      "dataset": lambda: in_dataset(1, parsed_png, 512)},
    }
