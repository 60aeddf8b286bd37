// Batches that queues collect beside the training steps: the input of OSDI 3.2 and the white
// paper's 4.5 and 4.6.
#pragma once
#include "troupe/api/train/coordinator.hpp"

#include <optional>

namespace troupe {

/// How input_pipeline::producer gives its rows.
struct producer_options {
  int64_t epochs = -1;           ///< how often all come, then the data ends; negative: for ever
  bool shuffle = true;           ///< in another order in each epoch
  std::optional<int64_t> seed{}; ///< of the order; none: another one in each run
  int64_t capacity = 32;         ///< rows that wait to be taken
};

/// How input_pipeline::batch collects.
struct batch_options {
  int at_once = 1;                        ///< runs under way that fill the queue
  int64_t capacity = 32;                  ///< elements that wait to be taken
  bool enqueue_many = false;              ///< what comes are batches themselves, of any size
  bool smaller_last = false;              ///< gives what is left at the end; else it is dropped
  bool dynamic_pad = false;               ///< zeros make elements of different extents equal
  std::vector<partial_shape> shapes = {}; ///< of an element; empty: what the graph knows
};

/// How input_pipeline::shuffle_batch collects.
struct shuffle_batch_options {
  int at_once = 1;
  int64_t capacity = 1024;
  int64_t min_after_dequeue = 512; ///< elements that stay, so that neighbours come apart
  bool enqueue_many = false;
  bool smaller_last = false;
  std::optional<int64_t> seed{};
  std::vector<partial_shape> shapes = {};
};

/// Adds queues to a graph, and runners that fill them. The end of the data travels through: when a
/// producer has given all epochs, what takes from it fails with out_of_range once its queue is
/// empty, and so does the next, until the training step does.
///
///     input_pipeline input{g};
///     auto file = input.producer(files, {.epochs = 10});
///     auto batch = input.shuffle_batch({image, label}, 32);
///     ...
///     coordinator all;
///     input.start(s, all);
///     while (!all.should_stop()) ... // out_of_range ends the loop
///     all.request_stop();
///     all.join();
class TROUPE_API input_pipeline {
public:
  using location = std::source_location;

  explicit input_pipeline(graph_builder& in) : graph_(in) {}

  /// One of the slices of `rows` along the first axis, another in each step.
  edge producer(operand rows, const producer_options& options = {}, std::string_view name = {},
                location where = location::current());
  /// `count` elements, stacked along a new first axis, in the order in which they came.
  std::vector<edge> batch(const std::vector<edge>& element, int count,
                          const batch_options& options = {}, std::string_view name = {},
                          location where = location::current());
  /// The same in random order.
  std::vector<edge> shuffle_batch(const std::vector<edge>& element, int count,
                                  const shuffle_batch_options& options = {},
                                  std::string_view name = {}, location where = location::current());

  /// Another runner, for a queue of the caller's own.
  void add(queue_runner runner) { runners_.push_back(std::move(runner)); }
  const std::vector<queue_runner>& runners() const noexcept { return runners_; }
  /// Starts all runners.
  void start(session& in, coordinator& by, location where = location::current()) const;

private:
  std::vector<edge> collect(edge queue, const std::vector<edge>& element, int count, int at_once,
                            bool enqueue_many, bool smaller_last, location where);

  graph_builder& graph_;
  std::vector<queue_runner> runners_;
};

} // namespace troupe
