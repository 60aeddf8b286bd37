// Batches that queues collect beside the training steps: the input of OSDI 3.2 and the white
// paper's 4.5 and 4.6.
#pragma once
#include "troupe/api/train/input/coordinator.hpp"
#include "troupe/api/train/input/input_statistics.hpp"

#include <optional>
#include <string_view>
#include <variant>

namespace troupe {

/// How input_pipeline::producer gives its rows.
struct producer_options {
  int64_t epochs = -1;           ///< how often all come, then the data ends; negative: for ever
  bool shuffle = true;           ///< in another order in each epoch
  std::optional<int64_t> seed{}; ///< of the order; none: another one in each run
  int64_t capacity = 32;         ///< rows that wait to be taken
};

// What a record of a file is, for input_pipeline::records. Files may be compressed: "ZLIB", "GZIP".

struct text_lines {
  int64_t skip = 0; ///< at the beginning of each file: headings
};
struct tf_records {
  std::string_view compression = "";
};
/// So many bytes each, between a head and a tail of the file.
struct byte_records {
  int64_t bytes = 0;
  int64_t head = 0, tail = 0;
  int64_t hop = 0; ///< from the begin of one to that of the next; 0: they follow each other
  std::string_view compression = "";
};
struct whole_files {};
using record_kind = std::variant<text_lines, tf_records, byte_records, whole_files>;

/// How input_pipeline::records reads.
struct records_options {
  int64_t epochs = -1;           ///< how often all files are read; negative: for ever
  bool shuffle = true;           ///< the files, in another order in each epoch
  std::optional<int64_t> seed{}; ///< of the order; none: another one in each run
  /// More than 1: up to so many records of one file at once, for ops that take many. What they make
  /// is batched with `enqueue_many`.
  int64_t at_once = 1;
};

/// A record, or with records_options::at_once vectors of them.
struct record_edges {
  edge key;   ///< the name of the file, and where in it
  edge value; ///< the bytes
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

/// How input_pipeline::bucket_by_length collects.
struct bucket_options {
  int at_once = 1;
  int64_t capacity = 32;     ///< elements that wait in each bucket
  int64_t batches = 4;       ///< complete ones that wait to be taken
  bool smaller_last = false; ///< gives what is left in the buckets at the end; else it is dropped
  bool dynamic_pad = true;   ///< zeros make elements of different extents equal within a batch
  std::vector<partial_shape> shapes = {};
};

/// How input_pipeline::prefetch collects.
struct prefetch_options {
  int64_t capacity = 2; ///< batches that wait to be taken
  /// A task: "/job:worker/task:1"; empty: where the step takes them. With a GPU, "/gpu:0", batches
  /// wait in its memory.
  std::string_view on = {};
};

/// For a whole input_pipeline.
struct pipeline_options {
  /// Measures: after so many batches, prefetch() gives the same ones again and again, and nothing
  /// before it runs any more. Training then goes as fast as if its input were free. 0: never.
  int64_t repeat_input_after = 0;
};

/// Adds queues to a graph, and runners that fill them. The end of the data travels through: when a
/// producer has given all epochs, what takes from it fails with out_of_range once its queue is
/// empty, and so does the next, until the training step does.
///
///     input_pipeline input{g};
///     auto file = input.producer(files, {.epochs = 10});
///     auto batch = input.shuffle_batch({image, label}, 32);
///     // ... the model, and the node that trains it
///     coordinator all;
///     input.start(s, all);
///     while (!all.should_stop())
///       s.run(train); // out_of_range ends the loop
///     all.request_stop();
///     all.join();
class TROUPE_API input_pipeline {
public:
  using location = std::source_location;

  explicit input_pipeline(graph_builder& in, const pipeline_options& options = {})
      : graph_(in), options_(options) {}

  /// One of the slices of `rows` along the first axis, another in each step. None is an error.
  edge producer(operand rows, const producer_options& options = {}, std::string_view name = {},
                location where = location::current());
  /// The records of files, another one in each step. `files` are names, a vector of strings, say
  /// matching_files(g, tensor::scalar<std::string>("data/*.tfrecord")). The task of the reader must
  /// see the files. A file that is missing, damaged or cut off is an error with its name and the
  /// byte; no files at all are one, too.
  record_edges records(operand files, const record_kind& kind, const records_options& options = {},
                       std::string_view name = {}, location where = location::current());
  /// `count` elements, stacked along a new first axis, in the order in which they came.
  std::vector<edge> batch(const std::vector<edge>& element, int count,
                          const batch_options& options = {}, std::string_view name = {},
                          location where = location::current());
  /// The same in random order.
  std::vector<edge> shuffle_batch(const std::vector<edge>& element, int count,
                                  const shuffle_batch_options& options = {},
                                  std::string_view name = {}, location where = location::current());

  /// Batches of elements of similar length, so that little is padded: those of `length` below
  /// boundaries[0], from there to below boundaries[1], and so on, boundaries.size() + 1 buckets in
  /// all. `counts` says how many make a batch: of each bucket, or one number for all. Batches come
  /// as their buckets get full.
  std::vector<edge> bucket_by_length(operand length, const std::vector<edge>& element,
                                     const std::vector<int64_t>& boundaries,
                                     const std::vector<int>& counts,
                                     const bucket_options& options = {}, std::string_view name = {},
                                     location where = location::current());
  /// What a step would compute or wait for, such as a batch, made ahead of it, so that the step
  /// finds it: on the task where it is wanted, in the host's memory or in that of a GPU. The last
  /// stage.
  std::vector<edge> prefetch(const std::vector<edge>& batch, const prefetch_options& options = {},
                             std::string_view name = {}, location where = location::current());

  /// Another runner, for a queue of the caller's own.
  void add(queue_runner runner);
  const std::vector<queue_runner>& runners() const noexcept { return runners_; }
  /// Starts all runners.
  void start(session& in, coordinator& by, location where = location::current()) const;

  /// How the queues have been used so far: describe_input() says what that means. Runs a step,
  /// whose nodes the first call adds to the graph.
  input_statistics statistics(session& in, location where = location::current());

private:
  node* enqueue_rows(edge queue, edge rows, std::string_view if_none, location where);
  std::vector<edge> collect(edge queue, const std::vector<edge>& element, int count, int at_once,
                            bool enqueue_many, bool smaller_last, location where);

  struct measured_queue {
    std::string name;
    std::vector<edge> figures = {}; // once they are wanted
    bool last = true;               // no runner of the pipeline takes from it
  };

  graph_builder& graph_;
  pipeline_options options_;
  std::vector<queue_runner> runners_;
  std::vector<measured_queue> queues_;
  bool repeats_ = false;
};

} // namespace troupe
