// The classifier: 64 pixels, one hidden layer, 10 classes.
#pragma once
#include "troupe/troupe.hpp"

#include <memory>

namespace digits {

struct model_options {
  int64_t hidden = 128;
  float learning_rate = 0.1f;
  int64_t seed = 1;
  /// Device strings; empty where the runtime may choose. Variables go round the tasks of
  /// `parameters`.
  std::string compute;
  std::vector<std::string> parameters;
};

/// One replica: its graph, and the ends of it that a training program holds.
struct model {
  std::unique_ptr<troupe::graph_builder> graph;
  troupe::edge images, labels;       ///< to be fed
  troupe::edge loss;                 ///< mean over the batch
  troupe::edge guess;                ///< the most likely class of each image
  std::vector<troupe::edge> weights; ///< of the layers
  troupe::node* train = nullptr;
  troupe::node* initializer = nullptr;
};

model build(const model_options& options);

/// The same in a graph of which others say where its nodes go, and what follows the gradients.
/// `others` is the guess.
troupe::replica_step build_in(troupe::graph_builder& g, const model_options& options);

} // namespace digits
