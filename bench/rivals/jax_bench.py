#!/usr/bin/env python3
"""Measures flow/... with JAX, whose loops XLA compiles."""

import os

import measure
from measure import Step

ITERATIONS = 10_000
SCAN, CARRIED = 614, 60
LENGTH, BATCH, UNITS = 100, 16, 128


def make_cases(threads):
    os.environ["JAX_PLATFORMS"] = "cpu"
    if threads == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    import jax
    import jax.numpy as jnp

    def step(run, items):
        return Step(lambda: jax.block_until_ready(run()), items)

    def counter():
        run = jax.jit(lambda n: jax.lax.while_loop(lambda i: i < n, lambda i: i + 1, 0))
        return step(lambda: run(ITERATIONS), ITERATIONS)

    def hundred_variables():
        iterations = ITERATIONS // 10
        run = jax.jit(lambda n: jax.lax.while_loop(
            lambda v: v[0] < n, lambda v: [v[0] + 1] + [x + 1.0 for x in v[1:]],
            [0] + [jnp.float32(i) for i in range(100)])[-1])
        return step(lambda: run(iterations), iterations)

    def choices():
        def body(v):
            return v[0] + 1, jax.lax.cond(v[1] < 1000, lambda: v[1] + 3, lambda: v[1] - 700)
        run = jax.jit(lambda n: jax.lax.while_loop(lambda v: v[0] < n, body, (0, 0)))
        return step(lambda: run(ITERATIONS), ITERATIONS)

    def scan_gradient():
        def body(carry, x):
            return [jnp.tanh(carry[i] * 0.9 + carry[(i + 1) % CARRIED] * x) for i in range(CARRIED)], None

        def loss(x):
            return sum(jax.lax.scan(body, [jnp.float32(0.01 * i) for i in range(CARRIED)], x)[0])
        run = jax.jit(jax.value_and_grad(loss))
        x = jnp.full(SCAN, 0.1, jnp.float32)
        return step(lambda: run(x), SCAN)

    def dynamic_lstm():
        def loss(w, x, lengths):
            def body(carry, inputs):
                (h, c), (t, value) = carry, inputs
                i, j, f, o = jnp.split(jnp.concatenate([value, h], 1) @ w, 4, 1)
                cells = c * jax.nn.sigmoid(f + 1) + jax.nn.sigmoid(i) * jnp.tanh(j)
                output = jnp.tanh(cells) * jax.nn.sigmoid(o)
                active = (t < lengths)[:, None]
                return ((jnp.where(active, output, h), jnp.where(active, cells, c)),
                        jnp.where(active, output, 0))
            zeros = jnp.zeros((BATCH, UNITS))
            y = jax.lax.scan(body, (zeros, zeros), (jnp.arange(LENGTH), x))[1]
            return jnp.sum(y * y)
        run = jax.jit(jax.value_and_grad(loss))
        w, x = jnp.full((2 * UNITS, 4 * UNITS), 0.01), jnp.full((LENGTH, BATCH, UNITS), 0.1)
        lengths = jnp.full(BATCH, LENGTH)
        return step(lambda: run(w, x, lengths), LENGTH)

    return {f"flow/{build.__name__}": {"jit": build}
            for build in (counter, hundred_variables, choices, scan_gradient, dynamic_lstm)}


if __name__ == "__main__":
    measure.main(__doc__, make_cases)
