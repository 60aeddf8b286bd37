"""Builds the nets of nets.json with TensorFlow."""

import nets


def padding_of(conv):
    pad = conv.get("pad", 0)
    if not pad:
        return "VALID"
    if conv.get("stride", 1) == 1 and 2 * pad + 1 == conv["size"]:
        return "SAME"
    return [[0, 0], [pad, pad], [pad, pad], [0, 0]]


class Net(nets.Builder):
    """A net; the first call of `loss` creates its variables."""

    def __init__(self, tf, net, variable):
        self._tf, self._net, self._variable = tf, net, variable
        self._created = []  # all variables
        self._next = None   # iterates over variables that this call of loss has not used yet
        self._weight_count = 0

    def loss(self, x, labels):
        self._next = iter(list(self._created))
        logits = self.build(self._net["layers"], x)
        return self._tf.reduce_mean(self._tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits))

    @property
    def variables(self):
        """Returns the trainable variables."""
        return [variable for variable in self._created if variable.trainable]

    def _get(self, dims, values, trainable=True):
        variable = next(self._next, None)
        if variable is None:
            variable = self._variable(dims, values, trainable)
            self._created.append(variable)
        return variable

    def _weights(self, *dims):
        self._weight_count += 1
        return self._get(dims, lambda number=self._weight_count: nets.weights(dims, number))

    def _filled(self, value, count, trainable=True):
        import numpy as np
        return self._get([count], lambda: np.full([count], value, np.float32), trainable)

    def _biases(self, count):
        return self._filled(0, count)

    def _normalized(self, x):
        tf, channels = self._tf, x.shape[3]
        scale, offset = self._filled(1, channels), self._filled(0, channels)
        averages = self._filled(0, channels, False), self._filled(1, channels, False)
        y, *updated = tf.compat.v1.nn.fused_batch_norm(
            x, scale, offset, *averages, epsilon=nets.EPSILON,
            exponential_avg_factor=1 - nets.MOMENTUM)
        with tf.control_dependencies([old.assign(new) for old, new in zip(averages, updated)]):
            return tf.identity(y)

    def conv(self, layer, x):
        size, outputs, stride = layer["size"], layer["conv"], layer.get("stride", 1)
        w = self._weights(size, size, x.shape[3], outputs)
        y = self._tf.nn.conv2d(x, w, stride, padding_of(layer))
        y = self._normalized(y) if layer.get("batch_norm") else \
            self._tf.nn.bias_add(y, self._biases(outputs))
        return self._tf.nn.relu(y) if layer.get("relu", True) else y

    def max_pool(self, layer, x):
        return self._tf.nn.max_pool2d(x, layer["max_pool"], layer["stride"],
                                      "SAME" if layer.get("same") else "VALID")

    def average_pool(self, layer, x):
        return self._tf.nn.avg_pool2d(x, layer["average_pool"], layer["average_pool"], "VALID")

    def global_average_pool(self, layer, x):
        return self._tf.reduce_mean(x, [1, 2])

    def dense(self, outputs, with_relu, x):
        samples = x.shape[0] * x.shape[1] if len(x.shape) == 3 else x.shape[0]
        if len(x.shape) > 2:
            x = self._tf.reshape(x, [samples, -1])
        w = self._weights(x.shape[1], outputs)
        y = self._tf.nn.bias_add(self._tf.matmul(x, w), self._biases(outputs))
        return self._tf.nn.relu(y) if with_relu else y

    def inception(self, branches, x):
        return self._tf.concat([self.build(branch, x) for branch in branches], 3)

    def residual(self, branch, shortcut, x):
        y = self.build(branch, x)
        return self._tf.nn.relu(y + self.build(shortcut, x))

    def embedding(self, layer, x):
        return self._tf.gather(self._weights(layer["words"], layer["embedding"]), x)

    def lstm(self, layer, x):
        units = layer["lstm"]
        steps, texts, inputs = x.shape
        zeros, no_peephole = self._tf.zeros([texts, units]), self._tf.zeros([units])
        return self._tf.raw_ops.BlockLSTM(
            seq_len_max=self._tf.constant(steps, self._tf.int64), x=x, cs_prev=zeros, h_prev=zeros,
            w=self._weights(inputs + units, 4 * units), wci=no_peephole, wcf=no_peephole,
            wco=no_peephole, b=self._biases(4 * units), forget_bias=0, cell_clip=0).h
