"""nets.json for TensorFlow."""

import nets


def padding_of(conv):
    pad = conv.get("pad", 0)
    if not pad:
        return "VALID"
    if conv.get("stride", 1) == 1 and 2 * pad + 1 == conv["size"]:
        return "SAME"
    return [[0, 0], [pad, pad], [pad, pad], [0, 0]]


class Net(nets.Builder):
    """Its variables are made by `loss` when it is called first."""

    def __init__(self, tf, net, variable):
        self._tf, self._net, self._variable = tf, net, variable
        self._made = []    # all variables
        self._next = None  # those that are not used yet in this call of loss
        self._numbers = 0

    def loss(self, x, labels):
        self._next = iter(list(self._made))
        logits = self.build(self._net["layers"], x)
        return self._tf.reduce_mean(self._tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits))

    @property
    def variables(self):
        return self._made

    def _get(self, dims, values):
        found = next(self._next, None)
        if found is None:
            found = self._variable(dims, values)
            self._made.append(found)
        return found

    def _weights(self, *dims):
        self._numbers += 1
        return self._get(dims, lambda number=self._numbers: nets.weights(dims, number))

    def _biases(self, count):
        import numpy as np
        return self._get([count], lambda: np.zeros([count], np.float32))

    def conv(self, layer, x):
        size, outputs, stride = layer["size"], layer["conv"], layer.get("stride", 1)
        w = self._weights(size, size, x.shape[3], outputs)
        y = self._tf.nn.conv2d(x, w, stride, padding_of(layer))
        return self._tf.nn.relu(self._tf.nn.bias_add(y, self._biases(outputs)))

    def max_pool(self, layer, x):
        return self._tf.nn.max_pool2d(x, layer["max_pool"], layer["stride"],
                                      "SAME" if layer.get("same") else "VALID")

    def average_pool(self, layer, x):
        return self._tf.nn.avg_pool2d(x, layer["average_pool"], layer["average_pool"], "VALID")

    def dense(self, outputs, with_relu, x):
        samples = x.shape[0] * x.shape[1] if len(x.shape) == 3 else x.shape[0]
        if len(x.shape) > 2:
            x = self._tf.reshape(x, [samples, -1])
        w = self._weights(x.shape[1], outputs)
        y = self._tf.nn.bias_add(self._tf.matmul(x, w), self._biases(outputs))
        return self._tf.nn.relu(y) if with_relu else y

    def inception(self, branches, x):
        return self._tf.concat([self.build(branch, x) for branch in branches], 3)

    def embedding(self, layer, x):
        return self._tf.gather(self._weights(layer["words"], layer["embedding"]), x)

    def lstm(self, layer, x):
        units = layer["lstm"]
        steps, texts, inputs = x.shape
        none, no_peephole = self._tf.zeros([texts, units]), self._tf.zeros([units])
        return self._tf.raw_ops.BlockLSTM(
            seq_len_max=self._tf.constant(steps, self._tf.int64), x=x, cs_prev=none, h_prev=none,
            w=self._weights(inputs + units, 4 * units), wci=no_peephole, wcf=no_peephole,
            wco=no_peephole, b=self._biases(4 * units), forget_bias=0, cell_clip=0).h
