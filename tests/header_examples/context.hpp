// The names that the examples in comments of public headers assume.
#pragma once
#include "troupe/troupe.hpp"

#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"

namespace troupe::test::header_examples {

using namespace std::chrono_literals;

struct context {
  graph_builder g;
  session s = session::local();
  edge x, loss, logits, labels, images, image, label, target, files;
  variable_handle v, w;
  node* update = nullptr;
  tensor batch, digits;
  std::vector<feed> feeds;
  std::vector<std::function<edge(edge)>> blocks;
  std::vector<std::string> devices;
  edge y;
};

struct context_of_data_parallel : context {
  data_parallel_training training;
};

struct context_of_live_tasks : context_of_data_parallel {
  data_parallel_step step;
  void restore(session&);
};

struct context_of_input_pipeline : context {
  node* train = nullptr;
};

struct context_of_replicas : context {
  std::optional<std::vector<tensor>> (*next)(int64_t) = nullptr;
};

struct context_of_training_run : context_of_replicas {
  node* train = nullptr;
};

struct context_of_coordinator : context {
  coordinator all;
  saver checkpoints{g, "checkpoints"};
  int64_t step = 0;
};

struct context_of_summaries : context {
  summary_writer to{"summaries"};
  int64_t step = 0;
};

} // namespace troupe::test::header_examples
