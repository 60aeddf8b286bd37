#include "bench/nets.hpp"

#include "bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>

namespace troupe::bench {
namespace {

constexpr int64_t batch_seed = 0; // weights count from 1

/// Adds layers to a graph.
class net_builder {
public:
  explicit net_builder(graph_builder& g) : g_(g) {}

  /// `flow` is what comes out of each layer, up to the logits: [samples, classes].
  edge layers(edge flow, const json& all) {
    for (auto& one : all)
      flow = layer(flow, one, &one == &all.back());
    return flow;
  }

  /// Gives all weights and biases their first values.
  void initialize(session& s) const {
    s.run(g_.initializer());
    for (size_t i = 0; i < weights_.size(); ++i) {
      auto& [value, assigned] = weights_[i];
      auto dims = value.dims().known();
      auto fan_in = dims.elements() / dims[dims.rank() - 1];
      s.run(assigned, {{value, noise(dims, std::sqrt(6.0f / static_cast<float>(fan_in)),
                                     static_cast<int64_t>(i) + 1)}});
    }
  }

  /// Of all layers so far: what is learned.
  int64_t parameters() const { return parameters_; }

private:
  struct weight {
    edge value; // to be fed
    node* assigned;
  };

  edge layer(edge x, const json& of, bool last) {
    if (of.contains("dense")) {
      auto y = dense(x, of["dense"]);
      return last ? y : relu(y);
    }
    if (of.contains("conv"))
      return convolution(x, of);
    if (of.contains("max_pool"))
      return largest(x, of["max_pool"], of["stride"], of.value("same", false));
    if (of.contains("average_pool")) {
      int64_t size = of["average_pool"];
      return avg_pool(x, {1, size, size, 1}, {1, size, size, 1}, "VALID");
    }
    if (of.contains("global_average_pool"))
      return mean(x, tensor::vector<int32_t>({1, 2}));
    if (of.contains("inception"))
      return inception(x, of["inception"]);
    if (of.contains("bottlenecks"))
      return bottlenecks(x, of);
    if (of.contains("embedding"))
      return gather(weights({of["words"], of["embedding"]}), x);
    return lstm(x, of.at("lstm"));
  }

  edge dense(edge x, int64_t outputs) {
    auto axes = x.dims().rank();
    // Images are samples as a whole; of texts each step is one.
    auto samples = axes == 3 ? x.dims()[0] * x.dims()[1] : x.dims()[0];
    auto inputs = x.dims().elements() / samples;
    if (axes > 2)
      x = reshape(x, {samples, inputs});
    return bias_add(matmul(x, weights({inputs, outputs})), biases(outputs));
  }

  edge convolution(edge x, const json& of) {
    int64_t outputs = of["conv"], size = of["size"];
    auto [strides, padding, pads] = window_of(of);
    auto y = conv2d(x, weights({size, size, x.dims()[3], outputs}), strides, padding,
                    {.explicit_paddings = pads});
    y = of.value("batch_norm", false) ? normalized(y) : bias_add(y, biases(outputs));
    return of.value("relu", true) ? relu(y) : y;
  }

  edge normalized(edge x) {
    parameters_ += 2 * x.dims()[3];
    return batch_norm(g_, x, true, {.momentum = 0.9, .epsilon = 1e-5});
  }

  edge largest(edge x, int64_t size, int64_t stride, bool same) {
    return max_pool(x, {1, size, size, 1}, {1, stride, stride, 1}, same ? "SAME" : "VALID");
  }

  /// Four branches: 1x1; 1x1 and 3x3; 1x1 and 5x5; pool and 1x1.
  edge inception(edge x, const json& channels) {
    auto conv = [&](edge from, int branch, int64_t size) {
      return convolution(from, {{"conv", channels[branch]}, {"size", size}, {"pad", size / 2}});
    };
    auto one = conv(x, 0, 1);
    auto three = conv(conv(x, 1, 1), 2, 3);
    auto five = conv(conv(x, 3, 1), 4, 5);
    auto pooled = conv(largest(x, 3, 1, true), 5, 1);
    return concatenate({one, three, five, pooled}, 3);
  }

  /// Residual blocks: 1x1, 3x3 and 1x1, and the sum of what comes out and what went in (He et al.
  /// 2015). The first has the stride, at its 3x3, and a 1x1 of its own on the way around.
  edge bottlenecks(edge x, const json& of) {
    int64_t inner = of["bottlenecks"][0], outputs = of["bottlenecks"][1], count = of["count"];
    auto conv = [&](edge from, int64_t channels, int64_t size, int64_t stride, bool with_relu) {
      return convolution(from, {{"conv", channels},
                                {"size", size},
                                {"stride", stride},
                                {"pad", size / 2},
                                {"batch_norm", true},
                                {"relu", with_relu}});
    };
    for (int64_t i = 0; i < count; ++i) {
      int64_t stride = i == 0 ? of.value("stride", 1) : 1;
      auto y = conv(x, inner, 1, 1, true);
      y = conv(y, inner, 3, stride, true);
      y = conv(y, outputs, 1, 1, false);
      x = relu(y + (i == 0 ? conv(x, outputs, 1, stride, false) : x));
    }
    return x;
  }

  /// Over [steps, texts, inputs].
  edge lstm(edge x, int64_t units) {
    auto steps = x.dims()[0], texts = x.dims()[1], inputs = x.dims()[2];
    auto none = fill(g_, {texts, units}, 0.0f);
    auto no_peephole = fill(g_, {units}, 0.0f);
    return block_lstm(g_.constant(tensor::scalar(steps)), x, none, none,
                      weights({inputs + units, 4 * units}), no_peephole, no_peephole, no_peephole,
                      biases(4 * units), {.forget_bias = 0, .cell_clip = 0})
        .h;
  }

  edge weights(const shape& dims) {
    parameters_ += dims.elements();
    auto variable = g_.variable(dtype::f32, dims);
    auto value = g_.placeholder(dtype::f32, dims);
    weights_.push_back({value, assign(variable.ref, value).node});
    return variable;
  }

  edge biases(int64_t count) {
    parameters_ += count;
    return g_.variable(fill(g_, {count}, 0.0f));
  }

  graph_builder& g_;
  std::vector<weight> weights_;
  int64_t parameters_ = 0;
};

const json& description() {
  static const auto all = [] {
    // Where the binary runs elsewhere than it was built.
    const auto* moved = std::getenv("TROUPE_BENCH_NETS");
    const std::string path = moved ? moved : TROUPE_BENCH_NETS;
    std::ifstream file{path};
    auto read = json::parse(file, nullptr, false);
    if (read.is_discarded())
      throw error{failure(error_kind::not_found, "cannot read nets from ", path)};
    return read;
  }();
  return all;
}

std::vector<net> read_nets() {
  std::vector<net> nets;
  for (auto& [name, of] : description()["nets"].items()) {
    auto of_words = of.contains("words");
    auto input = of[of_words ? "words" : "pixels"].get<std::vector<int64_t>>();
    auto called = name;
    if (gpus > 0) { // with as many samples as are usual there
      if (!of.contains("gpu_batch"))
        continue;
      input[of_words ? 1 : 0] = of["gpu_batch"];
      called = concat(name.substr(0, name.find('/')), '/', input[of_words ? 1 : 0]);
    }
    nets.push_back({.name = called,
                    .input = partial_shape{input}.known(),
                    .type = of_words ? dtype::i32 : dtype::f32,
                    .layers = of["layers"],
                    .rate = of.value("rate", 0.001f)});
  }
  return nets;
}

tensor whole_numbers(const shape& dims, int64_t below) {
  std::vector<int32_t> values(static_cast<size_t>(dims.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int32_t>(static_cast<int64_t>(i) * 48271 % 65537 % below);
  return tensor::of(dims, values);
}

} // namespace

const std::vector<net>& all_nets() {
  static const auto nets = read_nets();
  return nets;
}

const net& net_called(std::string_view name) {
  for (auto& one : all_nets())
    if (one.name == name)
      return one;
  throw error{failure(error_kind::not_found, "no net '", name, "'")};
}

const json& all_convolutions() { return description()["convolutions"]; }

window window_of(const json& convolution) {
  int64_t size = convolution["size"], stride = convolution.value("stride", 1),
          pad = convolution.value("pad", 0);
  window made{.strides = {1, stride, stride, 1}, .padding = "VALID", .explicit_paddings = {}};
  if (pad > 0 && stride == 1 && 2 * pad + 1 == size)
    made.padding = "SAME";
  else if (pad > 0)
    made = {made.strides, "EXPLICIT", {0, 0, pad, pad, pad, pad, 0, 0}};
  return made;
}

tensor noise(const shape& dims, float limit, int64_t seed) {
  constexpr int64_t prime = 4093; // whose square is exact as a float
  auto columns = dims[dims.rank() - 1], rows = dims.elements() / columns;
  auto made = tensor::make(dtype::f32, dims);
  if (!made)
    throw error{made.status()};
  auto* out = made->data<float>();
  for (int64_t row = 0; row < rows; ++row) {
    auto start = (row * 48271 + seed * 7919) % 65537;
    for (int64_t column = 0; column < columns; ++column) {
      auto mixed = (start + column) % prime;
      *out++ = static_cast<float>(mixed * mixed % prime) * (limit / 2046) - limit;
    }
  }
  return *made;
}

trainer::trainer(const net& of)
    : session_(session::local(options())), step_([&] {
        net_builder build{graph_};
        auto batch = of.type == dtype::f32 ? noise(of.input, 1, batch_seed)
                                           : whole_numbers(of.input, of.layers.front()["words"]);
        auto input = feed ? graph_.placeholder(of.type, of.input) : graph_.constant(batch);
        auto logits = build.layers(input, of.layers);
        auto classes = whole_numbers({logits.dims()[0]}, logits.dims()[1]);
        auto labels =
            feed ? graph_.placeholder(dtype::i32, classes.dims()) : graph_.constant(classes);
        auto loss = mean(sparse_softmax_cross_entropy_with_logits(logits, labels).loss);
        auto* train = gradient_descent{of.rate}.minimize(loss);
        build.initialize(session_);
        parameters_ = build.parameters();
        samples_ = classes.elements();
        if (!feed)
          return session_.prepare({}, {loss}, {train});
        feeds_ = {batch, classes};
        return session_.prepare({input, labels}, {loss}, {train});
      }()) {}

} // namespace troupe::bench
