#include "bench/nets.hpp"

#include "bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>

namespace troupe::bench {
namespace {

constexpr int64_t batch_seed = 0; // seeds of weights count from 1

/// Adds layers to a graph.
class net_builder {
public:
  explicit net_builder(graph_builder& g) : g_(g) {}

  /// Adds the described layers; `flow` is the input. The result is the logits: [samples, classes].
  edge layers(edge flow, const json& descriptions) {
    for (auto& description : descriptions)
      flow = layer(flow, description, &description == &descriptions.back());
    return flow;
  }

  /// Assigns initial values to all weights and biases.
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

  /// Number of trained parameters of the layers that were added.
  int64_t parameters() const { return parameters_; }

private:
  struct weight {
    edge value; // to be fed
    node* assigned;
  };

  edge layer(edge x, const json& description, bool last) {
    if (description.contains("dense")) {
      auto y = dense(x, description["dense"]);
      return last ? y : relu(y);
    }
    if (description.contains("conv"))
      return convolution(x, description);
    if (description.contains("max_pool"))
      return max_pooled(x, description["max_pool"], description["stride"],
                        description.value("same", false));
    if (description.contains("average_pool")) {
      int64_t size = description["average_pool"];
      return avg_pool(x, {1, size, size, 1}, {1, size, size, 1}, "VALID");
    }
    if (description.contains("global_average_pool"))
      return mean(x, tensor::vector<int32_t>({1, 2}));
    if (description.contains("inception"))
      return inception(x, description["inception"]);
    if (description.contains("bottlenecks"))
      return bottlenecks(x, description);
    if (description.contains("embedding"))
      return gather(weights({description["words"], description["embedding"]}), x);
    return lstm(x, description.at("lstm"));
  }

  edge dense(edge x, int64_t outputs) {
    auto axes = x.dims().rank();
    // A sample is an image, or a word of a text.
    auto samples = axes == 3 ? x.dims()[0] * x.dims()[1] : x.dims()[0];
    auto inputs = x.dims().elements() / samples;
    if (axes > 2)
      x = reshape(x, {samples, inputs});
    return bias_add(matmul(x, weights({inputs, outputs})), biases(outputs));
  }

  edge convolution(edge x, const json& description) {
    int64_t outputs = description["conv"], size = description["size"];
    auto [strides, padding, pads] = window_of(description);
    auto y = conv2d(x, weights({size, size, x.dims()[3], outputs}), strides, padding,
                    {.explicit_paddings = pads});
    y = description.value("batch_norm", false) ? normalized(y) : bias_add(y, biases(outputs));
    return description.value("relu", true) ? relu(y) : y;
  }

  edge normalized(edge x) {
    parameters_ += 2 * x.dims()[3];
    return batch_norm(g_, x, true, {.momentum = 0.9, .epsilon = 1e-5});
  }

  edge max_pooled(edge x, int64_t size, int64_t stride, bool same) {
    return max_pool(x, {1, size, size, 1}, {1, stride, stride, 1}, same ? "SAME" : "VALID");
  }

  /// Four branches: 1x1; 1x1 and 3x3; 1x1 and 5x5; pool and 1x1.
  edge inception(edge x, const json& channels) {
    auto conv = [&](edge input, int branch, int64_t size) {
      return convolution(input, {{"conv", channels[branch]}, {"size", size}, {"pad", size / 2}});
    };
    auto branch_1x1 = conv(x, 0, 1);
    auto branch_3x3 = conv(conv(x, 1, 1), 2, 3);
    auto branch_5x5 = conv(conv(x, 3, 1), 4, 5);
    auto pooled = conv(max_pooled(x, 3, 1, true), 5, 1);
    return concatenate({branch_1x1, branch_3x3, branch_5x5, pooled}, 3);
  }

  /// Residual blocks: 1x1, 3x3 and 1x1, and the sum of the output and the input (He et al. 2015).
  /// The first block has the stride, at its 3x3, and a 1x1 convolution on its shortcut.
  edge bottlenecks(edge x, const json& description) {
    int64_t inner = description["bottlenecks"][0], outputs = description["bottlenecks"][1],
            count = description["count"];
    auto conv = [&](edge input, int64_t channels, int64_t size, int64_t stride, bool with_relu) {
      return convolution(input, {{"conv", channels},
                                 {"size", size},
                                 {"stride", stride},
                                 {"pad", size / 2},
                                 {"batch_norm", true},
                                 {"relu", with_relu}});
    };
    for (int64_t i = 0; i < count; ++i) {
      int64_t stride = i == 0 ? description.value("stride", 1) : 1;
      auto y = conv(x, inner, 1, 1, true);
      y = conv(y, inner, 3, stride, true);
      y = conv(y, outputs, 1, 1, false);
      x = relu(y + (i == 0 ? conv(x, outputs, 1, stride, false) : x));
    }
    return x;
  }

  /// An LSTM over [steps, texts, inputs].
  edge lstm(edge x, int64_t units) {
    auto steps = x.dims()[0], texts = x.dims()[1], inputs = x.dims()[2];
    auto zeros = fill(g_, {texts, units}, 0.0f);
    auto no_peephole = fill(g_, {units}, 0.0f);
    return block_lstm(g_.constant(tensor::scalar(steps)), x, zeros, zeros,
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
  static const auto parsed = [] {
    // For a binary that runs on another machine than the one that it was built on.
    const auto* moved = std::getenv("TROUPE_BENCH_NETS");
    const std::string path = moved ? moved : TROUPE_BENCH_NETS;
    std::ifstream file{path};
    auto read = json::parse(file, nullptr, false);
    if (read.is_discarded())
      throw error{failure(error_kind::not_found, "cannot read nets from ", path)};
    return read;
  }();
  return parsed;
}

std::vector<net> read_nets() {
  std::vector<net> nets;
  for (auto& [name, options] : description()["nets"].items()) {
    auto of_words = options.contains("words");
    auto input = options[of_words ? "words" : "pixels"].get<std::vector<int64_t>>();
    auto net_name = name;
    if (gpus > 0) { // GPUs are usually given larger batches
      if (!options.contains("gpu_batch"))
        continue;
      input[of_words ? 1 : 0] = options["gpu_batch"];
      net_name = concat(name.substr(0, name.find('/')), '/', input[of_words ? 1 : 0]);
    }
    nets.push_back({.name = net_name,
                    .input = partial_shape{input}.known(),
                    .type = of_words ? dtype::i32 : dtype::f32,
                    .layers = options["layers"],
                    .rate = options.value("rate", 0.001f)});
  }
  return nets;
}

tensor integers(const shape& dims, int64_t below) {
  std::vector<int32_t> values(static_cast<size_t>(dims.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int32_t>(static_cast<int64_t>(i) * 48271 % 65537 % below);
  return tensor::from_values(dims, values);
}

} // namespace

const std::vector<net>& all_nets() {
  static const auto nets = read_nets();
  return nets;
}

const net& net_called(std::string_view name) {
  for (auto& known : all_nets())
    if (known.name == name)
      return known;
  throw error{failure(error_kind::not_found, "no net '", name, "'")};
}

const json& all_convolutions() { return description()["convolutions"]; }

window window_of(const json& convolution) {
  int64_t size = convolution["size"], stride = convolution.value("stride", 1),
          pad = convolution.value("pad", 0);
  window result{.strides = {1, stride, stride, 1}, .padding = "VALID", .explicit_paddings = {}};
  if (pad > 0 && stride == 1 && 2 * pad + 1 == size)
    result.padding = "SAME";
  else if (pad > 0)
    result = {result.strides, "EXPLICIT", {0, 0, pad, pad, pad, pad, 0, 0}};
  return result;
}

tensor noise(const shape& dims, float limit, int64_t seed) {
  constexpr int64_t prime = 4093; // its square is exact as a float
  auto columns = dims[dims.rank() - 1], rows = dims.elements() / columns;
  auto values = tensor::make(dtype::f32, dims);
  if (!values)
    throw error{values.status()};
  auto* out = values->data<float>();
  for (int64_t row = 0; row < rows; ++row) {
    auto start = (row * 48271 + seed * 7919) % 65537;
    for (int64_t column = 0; column < columns; ++column) {
      auto mixed = (start + column) % prime;
      *out++ = static_cast<float>(mixed * mixed % prime) * (limit / 2046) - limit;
    }
  }
  return *values;
}

trainer::trainer(const net& description)
    : session_(session::local(options())), step_([&] {
        net_builder build{graph_};
        auto batch = description.type == dtype::f32
                         ? noise(description.input, 1, batch_seed)
                         : integers(description.input, description.layers.front()["words"]);
        auto input =
            feed ? graph_.placeholder(description.type, description.input) : graph_.constant(batch);
        auto logits = build.layers(input, description.layers);
        auto classes = integers({logits.dims()[0]}, logits.dims()[1]);
        auto labels =
            feed ? graph_.placeholder(dtype::i32, classes.dims()) : graph_.constant(classes);
        auto loss = mean(sparse_softmax_cross_entropy_with_logits(logits, labels).loss);
        auto* train = gradient_descent{description.rate}.minimize(loss);
        build.initialize(session_);
        parameters_ = build.parameters();
        samples_ = classes.elements();
        if (!feed)
          return session_.prepare({}, {loss}, {train});
        feeds_ = {batch, classes};
        return session_.prepare({input, labels}, {loss}, {train});
      }()) {}

} // namespace troupe::bench
