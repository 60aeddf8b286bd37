// The nets of nets.json; the rivals build theirs from the same file.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/api/session.hpp"

#include <nlohmann/json.hpp>

namespace troupe::bench {

using json = nlohmann::ordered_json;

/// A net, and the shape of a batch for it.
struct net {
  std::string name;
  shape input; ///< of f32: images, rows, columns, channels; of i32: steps, texts
  dtype type;  ///< of the input
  json layers;
  float rate; ///< learning rate
};

/// Throws troupe::error when the file cannot be read.
const std::vector<net>& all_nets();
const net& net_called(std::string_view name); ///< throws troupe::error if there is no such net
const json& all_convolutions();               ///< single convolutions, by name

/// The attributes of a convolution in nets.json.
struct window {
  std::vector<int64_t> strides;
  std::string padding;
  std::vector<int64_t> explicit_paddings;
};
window window_of(const json& convolution);

/// A net in its own session, trained by gradient descent on a batch that is fed in each step, or
/// that is a constant of the graph (--feed=0).
class trainer {
public:
  explicit trainer(const net& description);

  /// Runs a training step and returns the loss before its update.
  tensor step(const run_options& options = {}) { return step_.run(feeds_, options).front(); }
  int64_t samples() const { return samples_; }
  int64_t parameters() const { return parameters_; } ///< number of trained parameters

private:
  graph_builder graph_;
  session session_;
  std::vector<tensor> feeds_;
  int64_t parameters_ = 0, samples_ = 0;
  troupe::step step_;
};

/// Pseudo-random numbers between -limit and limit, for weights and batches. The rivals compute the
/// same numbers, so all compute the same losses.
tensor noise(const shape& dims, float limit, int64_t seed);

} // namespace troupe::bench
