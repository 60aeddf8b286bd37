// The names that the examples of public headers and of the documentation assume.
#pragma once
#include "troupe/troupe.hpp"

#include <future>
#include <iostream>
#include <stop_token>
#include <thread>

#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#ifdef __clang__ // whose -Wshadow also reports locals of examples that hide members of contexts
#pragma clang diagnostic ignored "-Wshadow"
#endif

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
  coordinator runners;
  saver checkpoints{g, "checkpoints"};
  int64_t step = 0;
};

struct context_of_summaries : context {
  summary_writer writer{"summaries"};
  int64_t step = 0;
};

// The contexts of pages, by the names of their files.

struct context_of_page_control_flow : context {
  edge n, state, q, w;
  std::function<edge(const edges&)> more;
};

struct context_of_page_insight : context {
  node* train = nullptr;
  troupe::step step = s.prepare({images, labels}, {loss}, {train});
  tensor image_batch, label_batch;
  std::vector<step_statistics> steps;
};

struct context_of_page_memory : context {
  node* train = nullptr;
  edge i;
  std::function<edge(const edges&)> condition;
  std::function<edges(const edges&)> body;
  std::vector<std::vector<tensor>> batches;
  troupe::step step = s.prepare({x}, {y});
  tensor question;
};

struct context_of_page_mixed_precision : context {
  adam by{0.001};
  loss_scale scale = loss_scale::dynamic(g);
  tensor classes;
};

struct context_of_page_operating : context {
  std::promise<void> done;
};

struct context_of_page_recovery : context {
  std::string cluster;
  edge rows;
};

struct context_of_page_tables : context {
  edge text;
};

struct context_of_page_input : context {
  input_pipeline input{g};
  tensor rows;
  edge words, length;
  edge image_of(edge row);
  edge label_of(edge row);
  node* train_on(const edges& batch);
};

struct context_of_page_loop : context_of_training_run {
  int64_t last = 0, step = 0;
  summaries step_summaries;
  std::vector<tensor> batch_of(int64_t n);
  std::function<void(const training_progress&)> print_progress;
  std::function<void(const training_event&)> print_event;
};

struct context_of_page_models : context {
  adam by{0.001};
  edge words;
  gradient_function my_gradient;
};

struct context_of_page_replicas : context_of_live_tasks {
  std::string folder, cluster;
  edge mean_0, mean_1, sums, statistics;
  node* train = nullptr;
  adam by{0.001};
  tensor initial;
  saver checkpoints{g, "checkpoints"};
  replicas::builder model;
  std::optional<std::vector<tensor>> (*next)(int64_t) = nullptr;
  std::vector<tensor> batch_of(int64_t n);
};

} // namespace troupe::test::header_examples
