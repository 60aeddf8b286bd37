// The nets of nets.json, which the rivals build from the same file.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/api/session.hpp"

#include <nlohmann/json.hpp>

namespace troupe::bench {

using json = nlohmann::ordered_json;

/// A net, and what a batch for it looks like.
struct net {
  std::string name;
  shape input; ///< of f32: images, rows, columns, channels; of i32: steps, texts
  dtype type;  ///< of the input
  json layers;
  float rate; ///< of learning
};

/// Throws troupe::error when the file cannot be read.
const std::vector<net>& all_nets();
const net& net_called(std::string_view name); ///< throws troupe::error where there is none
const json& all_convolutions();               ///< single ones, by name

/// The attributes of a convolution in nets.json.
struct window {
  std::vector<int64_t> strides;
  std::string padding;
  std::vector<int64_t> explicit_paddings;
};
window window_of(const json& convolution);

/// A net in a session of its own, and a batch that it learns by gradient descent: fed in each step,
/// or with --feed=0 a constant of the graph.
class trainer {
public:
  explicit trainer(const net& of);

  /// Takes a step and returns the loss before it.
  tensor step(const run_options& options = {}) { return step_.run(feeds_, options).front(); }
  int64_t samples() const { return samples_; }
  int64_t parameters() const { return parameters_; } ///< numbers that are learned

private:
  graph_builder graph_;
  session session_;
  std::vector<tensor> feeds_;
  int64_t parameters_ = 0, samples_ = 0;
  troupe::step step_;
};

/// Numbers between -limit and limit that look random, for weights and batches: the same for every
/// side, so that all compute the same losses.
tensor noise(const shape& dims, float limit, int64_t seed);

} // namespace troupe::bench
