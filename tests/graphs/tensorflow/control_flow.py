"""Branches, loops and calls of TensorFlow 2, as its functions and AutoGraph write them."""

import numpy as np
import tensorflow as tf

v1, raw = tf.compat.v1, tf.raw_ops
models = {}


def model(**feeds):
    """Registers a function of the placeholders that returns what to fetch; each list of a feed is a step."""

    def register(build):
        def made(random, recorder):
            v1.enable_control_flow_v2()
            graph = v1.Graph()
            with graph.as_default():
                given = {name: np.asarray(values) for name, values in feeds.items()}
                inputs = [v1.placeholder(each.dtype, [None] * (each.ndim - 1), name) for name, each in given.items()]
                found = build(*inputs)
                names = []
                for i, each in enumerate(found if isinstance(found, (tuple, list)) else [found]):
                    names.append(tf.identity(each, f"out_{i}").op.name)
                init = v1.global_variables_initializer()
            recorded = recorder(graph)
            recorded.step({}, [], [init.name])
            for step in range(len(next(iter(given.values())))):
                recorded.step({name: each[step] for name, each in given.items()}, names)
            return recorded

        models["flow_" + build.__name__] = made
        return build

    return register


def f32(*values):
    return np.array(values, np.float32)


def i32(*values):
    return np.array(values, np.int32)


@model(x=f32([1, 2, 3], [-4, 5, -6]))
def choice(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)


@model(n=i32(0, 1, 2, 9, -1), x=f32([1, 2], [3, 4], [5, 6], [7, 8], [9, 10]))
def switch(n, x):
    return tf.switch_case(n, [lambda: x + 1, lambda: x * x, lambda: -x])


@model(n=i32(0, 1, 10, 100))
def counting(n):
    return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [0, 0])


@model(x=f32([[2, 1], [1, 3]], [[5, 0], [2, 1]]))
def power_iteration(x):
    def turn(i, v):
        v = tf.ensure_shape(tf.linalg.matvec(x, v), [2])
        return i + 1, v / tf.norm(v)

    return tf.while_loop(lambda i, v: i < 20, turn, [0, tf.ones([2])])


@model(n=i32(1, 6, 27, 97))
def collatz(n):
    @tf.function
    def steps(n):
        count = 0
        while n > 1:
            if tf.equal(n % 2, 0):
                n = n // 2
            else:
                n = 3 * n + 1
            count += 1
        return count

    return steps(n)


@model(a=i32(12, 270, 17), b=i32(18, 192, 5))
def divisor(a, b):
    @tf.function
    def gcd(a, b):
        while tf.not_equal(b, 0):
            a, b = b, a % b
        return a

    return gcd(a, b)


@model(n=i32(0, 3, 7))
def nested(n):
    @tf.function
    def triangle(n):
        total = 0
        i = 0
        while i < n:
            j = 0
            while j <= i:
                if tf.equal((i + j) % 3, 0):
                    total += i * j
                elif j > 2:
                    total -= 1
                j += 1
            i += 1
        return total

    return triangle(n)


@model(x=f32(2, 10, 0.25, 144))
def root(x):
    @tf.function
    def newton(x):
        guess = x
        for _ in tf.range(30):
            following = 0.5 * (guess + x / guess)
            if abs(following - guess) < 1e-6:
                break
            guess = following
        return guess

    return newton(x)


@model(x=f32([1, 2], [3, 4], [5, 6]))
def state(x):
    total = tf.Variable(tf.zeros([2]), name="total")
    turns = tf.Variable(0, name="turns")

    @tf.function
    def accumulate(x):
        for i in tf.range(4):
            total.assign_add(x * tf.cast(i, tf.float32))
            if tf.equal(i % 2, 1):
                turns.assign_add(1)
        return total + 0.0, turns + 0

    return accumulate(x)


@model(x=f32([1, -2, 3], [-1, -2, -3]))
def chosen_state(x):
    up, down = tf.Variable(0.0, name="up"), tf.Variable(0.0, name="down")

    @tf.function
    def note(x):
        if tf.reduce_sum(x) > 0:
            up.assign_add(tf.reduce_sum(x))
        else:
            down.assign_sub(tf.reduce_sum(x))
        return up + 0.0, down + 0.0

    return note(x)


@model(n=i32(1, 2, 5))
def growing(n):
    return tf.while_loop(
        lambda i, x: i < n,
        lambda i, x: (i + 1, tf.concat([x, x * 2], 0)),
        [0, tf.constant([1.0, 3.0])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )


@model(x=f32([[1, 2, 3, 4]], [[0.5, -1, 2, 0]]))
def recurrent(x):
    w = tf.constant(np.linspace(-0.5, 0.5, 36, dtype=np.float32).reshape(6, 6))

    @tf.function
    def unroll(x):
        h = tf.zeros([1, 6])
        for t in tf.range(4):
            h = tf.ensure_shape(tf.tanh(h @ w + x[:, t : t + 1]), [1, 6])
        return h

    return unroll(x)


@model(c=f32([0.1, 0.2], [-1.5, 0.3], [0.4, 0.4]))
def mandelbrot(c):
    @tf.function
    def escape(c):
        x, y, n = tf.constant(0.0), tf.constant(0.0), tf.constant(0)
        while tf.logical_and(x * x + y * y < 4.0, n < 50):
            x, y = x * x - y * y + c[0], 2 * x * y + c[1]
            n += 1
        return n, x

    return escape(c)


@model(x=f32([3, 1, 2, 5, 4], [1, 2, 3, 4, 5]))
def sorting(x):
    @tf.function
    def bubble(x):
        swapped = tf.constant(True)
        while swapped:
            swapped = tf.constant(False)
            for i in tf.range(4):
                if x[i] > x[i + 1]:
                    x = tf.tensor_scatter_nd_update(x, [[i], [i + 1]], [x[i + 1], x[i]])
                    swapped = True
        return x

    return bubble(x)


@model(n=i32(0, 1, 2, 3))
def calls_in_branches(n):
    @tf.function
    def square(x):
        return x * x

    @tf.function
    def outer(n):
        x = tf.cast(n, tf.float32) + 0.5
        if n > 1:
            y = square(square(x))
        else:
            y = square(x) - 1
        return y

    return outer(n)
