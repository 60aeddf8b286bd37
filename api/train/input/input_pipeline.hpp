// Input pipelines: queues that collect batches in parallel with training (OSDI 3.2, white paper 4.5
// and 4.6).
#pragma once
#include "troupe/api/train/input/coordinator.hpp"
#include "troupe/api/train/input/input_statistics.hpp"

#include <optional>
#include <string_view>
#include <variant>

namespace troupe {

/// Options of input_pipeline::producer.
struct producer_options {
  int64_t epochs = -1;           ///< passes over the rows before the data ends; negative: endless
  bool shuffle = true;           ///< in a new order in each epoch
  std::optional<int64_t> seed{}; ///< of the order; none: a different one in each run
  int64_t capacity = 32;         ///< of the queue, in rows
};

// The kinds of records for input_pipeline::records. Files may be compressed: "ZLIB", "GZIP".

struct text_lines {
  int64_t skip = 0; ///< header lines at the beginning of each file
};
struct tf_records {
  std::string_view compression = "";
};
/// Records of a fixed size, between a header and a footer of the file.
struct byte_records {
  int64_t bytes = 0;
  int64_t head = 0, tail = 0;
  int64_t hop = 0; ///< distance between the starts of two records; 0: records are contiguous
  std::string_view compression = "";
};
struct whole_files {};
using record_kind = std::variant<text_lines, tf_records, byte_records, whole_files>;

/// Options of input_pipeline::records.
struct records_options {
  int64_t epochs = -1;           ///< passes over the files before the data ends; negative: endless
  bool shuffle = true;           ///< reads the files in a new order in each epoch
  std::optional<int64_t> seed{}; ///< of the order; none: a different one in each run
  /// If more than 1: reads up to this many records of one file per step, for ops that take several.
  /// Batch their results with `enqueue_many`.
  int64_t records_per_read = 1;
};

/// A record, or vectors of records if records_options::records_per_read is more than 1.
struct record_edges {
  edge key;   ///< the name of the file, and the position in it
  edge value; ///< the bytes
};

/// Options of input_pipeline::batch.
struct batch_options {
  int concurrent_enqueues = 1;            ///< number of concurrent runs that fill the queue
  int64_t capacity = 32;                  ///< of the queue, in elements
  bool enqueue_many = false;              ///< the inputs are batches themselves, of any size
  bool allow_smaller_final_batch = false; ///< returns a smaller last batch; false: drops it
  bool dynamic_pad = false;               ///< pads elements with zeros to equal extents
  std::vector<partial_shape> shapes = {}; ///< of an element; empty: from the graph
};

/// Options of input_pipeline::shuffle_batch.
struct shuffle_batch_options {
  int concurrent_enqueues = 1;
  int64_t capacity = 1024;
  int64_t min_after_dequeue = 512; ///< elements that stay in the queue, for mixing
  bool enqueue_many = false;
  bool allow_smaller_final_batch = false;
  std::optional<int64_t> seed{};
  std::vector<partial_shape> shapes = {};
};

/// Options of input_pipeline::bucket_by_length.
struct bucket_options {
  int concurrent_enqueues = 1;
  int64_t capacity = 32;                  ///< of each bucket, in elements
  int64_t batches = 4;                    ///< capacity of the queue of complete batches
  bool allow_smaller_final_batch = false; ///< returns smaller last batches; false: drops them
  bool dynamic_pad = true; ///< pads elements with zeros to equal extents within a batch
  std::vector<partial_shape> shapes = {};
};

/// Options of input_pipeline::prefetch.
struct prefetch_options {
  int64_t capacity = 2; ///< of the queue, in batches
  /// The task of the queue: "/job:worker/task:1"; empty: the task of the consuming step. With a
  /// GPU, "/gpu:0", batches are kept in its memory.
  std::string_view device = {};
};

/// Options of an input_pipeline.
struct pipeline_options {
  /// For measurements: after this many batches, prefetch() repeats the same ones, and no earlier
  /// stage runs. Training is then as fast as with free input. 0: never.
  int64_t repeat_input_after = 0;
};

/// Adds queues to a graph, and runners that fill them. The end of the data propagates: after the
/// last epoch of a producer, dequeuing from its queue fails with out_of_range once the queue is
/// empty. Each later stage then ends in the same way, and finally the training step.
///
///     input_pipeline input{g};
///     auto file = input.producer(files, {.epochs = 10});
///     auto batch = input.shuffle_batch({image, label}, 32);
///     // ... the model, and the node that trains it
///     coordinator runners;
///     input.start(s, runners);
///     while (!runners.should_stop())
///       s.run(train); // out_of_range ends the loop
///     runners.request_stop();
///     runners.join();
class TROUPE_API input_pipeline {
public:
  using location = std::source_location;

  explicit input_pipeline(graph_builder& in, const pipeline_options& options = {})
      : graph_(in), options_(options) {}

  /// Returns one of the slices of `rows` along the first axis, a different one in each step. No
  /// rows are an error.
  edge producer(operand rows, const producer_options& options = {}, std::string_view name = {},
                location where = location::current());
  /// Returns the records of files, a different one in each step. `files` are names, a vector of
  /// strings, for instance matching_files(g, tensor::scalar<std::string>("data/*.tfrecord")). The
  /// task of the reader must see the files. A file that is missing, damaged or truncated is an
  /// error with its name and the byte offset. No files are an error, too.
  record_edges records(operand files, const record_kind& kind, const records_options& options = {},
                       std::string_view name = {}, location where = location::current());
  /// Returns `count` elements, stacked along a new first axis, in the order of their arrival.
  std::vector<edge> batch(const std::vector<edge>& element, int count,
                          const batch_options& options = {}, std::string_view name = {},
                          location where = location::current());
  /// Returns batches of elements in random order.
  std::vector<edge> shuffle_batch(const std::vector<edge>& element, int count,
                                  const shuffle_batch_options& options = {},
                                  std::string_view name = {}, location where = location::current());

  /// Returns batches of elements of similar length, which need little padding. The first bucket has
  /// elements whose `length` is below boundaries[0], the next those below boundaries[1], and so on,
  /// boundaries.size() + 1 buckets in all. `counts` has the batch size of each bucket, or one size
  /// for all. A batch is returned when its bucket is full.
  std::vector<edge> bucket_by_length(operand length, const std::vector<edge>& element,
                                     const std::vector<int64_t>& boundaries,
                                     const std::vector<int>& counts,
                                     const bucket_options& options = {}, std::string_view name = {},
                                     location where = location::current());
  /// Computes values that a step needs, such as a batch, before the step runs. They are kept on the
  /// task that needs them, in the host's memory or in a GPU's. Must be the last stage.
  std::vector<edge> prefetch(const std::vector<edge>& batch, const prefetch_options& options = {},
                             std::string_view name = {}, location where = location::current());

  /// Adds a runner for a queue of the caller's own.
  void add(queue_runner runner);
  const std::vector<queue_runner>& runners() const noexcept { return runners_; }
  /// Starts all runners.
  void start(session& in, coordinator& runners, location where = location::current()) const;

  /// Returns the usage of the queues so far, for describe_input(). Runs a step, whose nodes the
  /// first call adds to the graph.
  input_statistics statistics(session& in, location where = location::current());

private:
  node* enqueue_rows(edge queue, edge rows, std::string_view empty_error, location where);
  std::vector<edge> collect(edge queue, const std::vector<edge>& element, int count, int run_count,
                            bool enqueue_many, bool allow_smaller_final_batch, location where);

  struct measured_queue {
    std::string name;
    std::vector<edge> figures = {}; // added by the first call of statistics()
    bool is_last_stage = true;      // no runner of the pipeline dequeues from it
  };

  graph_builder& graph_;
  pipeline_options options_;
  std::vector<queue_runner> runners_;
  std::vector<measured_queue> queues_;
  bool repeats_ = false;
};

} // namespace troupe
