// The classifier: 64 pixels, one hidden layer, 10 classes.
#pragma once
#include "troupe/troupe.hpp"

#include <memory>

namespace digits {

struct model_options {
  int64_t hidden = 128;
  float learning_rate = 0.1f;
  int64_t seed = 1;
  /// Devices; empty if the runtime may choose. Variables are placed on the tasks of `parameters`
  /// round robin.
  std::string compute;
  std::vector<std::string> parameters;
};

/// One replica: its graph, with the edges and nodes that the training program uses.
struct model {
  std::unique_ptr<troupe::graph_builder> graph;
  troupe::edge images, labels;       ///< placeholders
  troupe::edge loss;                 ///< mean over the batch
  troupe::edge prediction;           ///< the most likely class of each image
  std::vector<troupe::edge> weights; ///< of the layers
  troupe::node* train = nullptr;
  troupe::node* initializer = nullptr;
};

model build(const model_options& options);

/// Builds the model in a graph whose devices and optimizer are chosen by the caller.
/// `extra_fetches` has the predictions.
troupe::replica_step build_in(troupe::graph_builder& g, const model_options& options);

} // namespace digits
