"""flow/... with TensorFlow: loops in functions, as tf.while_loop and gradients write them."""

from measure import Step

ITERATIONS = 10_000
SCAN, CARRIED = 614, 60
LENGTH, BATCH, UNITS = 100, 16, 128


def make_cases(tf):
    def counter():
        run = tf.function(lambda: tf.while_loop(lambda i: i < ITERATIONS, lambda i: [i + 1], [0]))
        return Step(lambda: run()[0].numpy(), ITERATIONS)

    def hundred_variables():
        iterations = ITERATIONS // 10
        initial = [tf.constant(0)] + [tf.constant(float(i)) for i in range(100)]
        run = tf.function(lambda: tf.while_loop(
            lambda i, *v: i < iterations, lambda i, *v: [i + 1] + [x + 1.0 for x in v], initial))
        return Step(lambda: run()[-1].numpy(), iterations)

    def choices():
        def body(i, x):
            return i + 1, tf.cond(x < 1000, lambda: x + 3, lambda: x - 700)
        run = tf.function(lambda: tf.while_loop(lambda i, x: i < ITERATIONS, body, [0, 0]))
        return Step(lambda: run()[1].numpy(), ITERATIONS)

    def scan_gradient():
        def body(t, x, *carry):
            return [t + 1, x] + [tf.tanh(carry[i] * 0.9 + carry[(i + 1) % CARRIED] * x[t]) for i in range(CARRIED)]

        @tf.function
        def run(x):
            initial = [tf.constant(0), x] + [tf.constant(0.01 * i) for i in range(CARRIED)]
            loss = tf.add_n(tf.while_loop(lambda t, *_: t < SCAN, body, initial)[2:])
            return loss, tf.gradients(loss, x)[0]
        x = tf.fill([SCAN], 0.1)
        return Step(lambda: run(x)[1].numpy(), SCAN)

    def dynamic_lstm():
        w = tf.Variable(tf.fill([2 * UNITS, 4 * UNITS], 0.01))

        @tf.function
        def run(x, lengths):
            def body(t, h, c, out):
                i, j, f, o = tf.split(tf.concat([x[t], h], 1) @ w, 4, 1)
                cells = c * tf.sigmoid(f + 1) + tf.sigmoid(i) * tf.tanh(j)
                output = tf.tanh(cells) * tf.sigmoid(o)
                active = (t < lengths)[:, None]
                return (t + 1, tf.where(active, output, h), tf.where(active, cells, c),
                        out.write(t, tf.where(active, output, 0.0)))
            zeros = tf.zeros([BATCH, UNITS])
            with tf.GradientTape() as tape:
                outputs = tf.TensorArray(tf.float32, LENGTH, element_shape=[BATCH, UNITS])
                y = tf.while_loop(lambda t, *_: t < LENGTH, body, [0, zeros, zeros, outputs])[3].stack()
                loss = tf.reduce_sum(y * y)
            return loss, tape.gradient(loss, w)
        x, lengths = tf.fill([LENGTH, BATCH, UNITS], 0.1), tf.fill([BATCH], LENGTH)
        return Step(lambda: run(x, lengths)[1].numpy(), LENGTH)

    return {f"flow/{build.__name__}": {"function": build}
            for build in (counter, hundred_variables, choices, scan_gradient, dynamic_lstm)}
