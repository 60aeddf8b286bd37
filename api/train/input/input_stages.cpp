// The other stages of an input_pipeline: records of files, buckets, prefetched batches; and its
// statistics.
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/operators.hpp"
#include "troupe/api/train/input/input_elements.hpp"
#include "troupe/api/train/input/input_pipeline.hpp"

#include <algorithm>
#include <set>

namespace troupe {
namespace {

partial_shape batch_of(int64_t count, const partial_shape& dims, bool open_extents) {
  if (!dims.has_rank())
    return dims;
  std::vector<int64_t> extents{count};
  for (auto extent : dims.extents())
    extents.push_back(open_extents ? std::min<int64_t>(extent, unknown_extent) : extent);
  return partial_shape{std::move(extents)};
}

// Returns true if `from` depends on a dequeue from the queue.
bool takes_from(const node& from, const node& queue) {
  std::set<const node*> visited;
  std::vector<const node*> pending{&from};
  while (!pending.empty()) {
    const auto* current = pending.back();
    pending.pop_back();
    if (!visited.insert(current).second)
      continue;
    if (current->op().returns_answer_on_failure && resource_behind(current->inputs()[0]) == &queue)
      return true;
    if (current->op().start_operation && current->inputs().size() > 1 &&
        resource_behind(current->inputs()[1]) == &queue)
      return true; // a reader that takes file names from the queue
    for (const auto& input : current->inputs())
      pending.push_back(input.node);
    for (const auto* predecessor : current->controls())
      pending.push_back(predecessor);
  }
  return false;
}

void check_buckets(const std::vector<edge>& element, const std::vector<int64_t>& boundaries,
                   const std::vector<int>& counts, const bucket_options& options,
                   std::source_location where) {
  const auto buckets = boundaries.size() + 1;
  if (element.empty() || std::ranges::any_of(element, &edge::is_empty))
    reject("bucket_by_length", where, "needs at least one tensor, and no empty edge");
  if (std::ranges::adjacent_find(boundaries, std::greater_equal<>{}) != boundaries.end())
    reject("bucket_by_length", where, "boundaries must increase");
  if (counts.size() != 1 && counts.size() != buckets)
    reject("bucket_by_length", where, "needs one count, or one for each of ", buckets,
           " buckets, got ", counts.size());
  if (options.concurrent_enqueues < 1 || options.batches < 1 ||
      std::ranges::any_of(counts, [](int count) { return count < 1; }))
    reject("bucket_by_length", where, "counts, concurrent_enqueues and batches must be positive");
}

std::vector<partial_shape> shapes_for_buckets(const std::vector<edge>& element,
                                              const bucket_options& options,
                                              std::source_location where) {
  auto shapes = options.shapes;
  if (shapes.empty())
    for (const auto& component : element)
      shapes.push_back(component.node->output_shape(component.index));
  if (shapes.size() != element.size() || !std::ranges::all_of(shapes, [&](auto& dims) {
        return options.dynamic_pad ? dims.has_rank() : dims.fully_known();
      }))
    reject("bucket_by_length", where, "needs the ", options.dynamic_pad ? "rank" : "shape",
           " of each tensor: give `shapes`");
  return shapes;
}

// Whether a length is in bucket `i`; empty if there is one bucket.
edge is_between(edge length_value, const std::vector<int64_t>& boundaries, size_t i,
                std::source_location where) {
  edge is_in_bucket;
  if (i > 0)
    is_in_bucket = greater_equal(length_value, boundaries[i - 1], {}, where);
  if (i < boundaries.size()) {
    auto below = less(length_value, boundaries[i], {}, where);
    is_in_bucket = is_in_bucket ? logical_and(is_in_bucket, below, {}, where) : below;
  }
  return is_in_bucket;
}

// Returns batches of one row each, without the row if the condition is false.
std::vector<edge> rows_if(edge condition, std::vector<edge> batch, graph_builder& g,
                          std::source_location where) {
  auto indices = range(g, 0, cast(condition, dtype::i32, {}, where), 1, {}, where);
  for (auto& component : batch)
    component = gather(component, indices, {}, {}, where);
  return batch;
}

} // namespace

record_edges input_pipeline::records(operand files, const record_kind& kind,
                                     const records_options& options, std::string_view name,
                                     location where) {
  if (files.is_edge())
    need_edge("records", where, files.source(), "files");
  auto name_scope = graph_.scope(name.empty() ? "records" : name, where);
  auto names = files.is_edge() ? files.source() : graph_.constant(files, {}, where);
  if (names.node->output_type(names.index) != dtype::string)
    reject("records", where, "files must be names, strings, got ",
           names.node->output_type(names.index));
  if (options.records_per_read < 1)
    reject("records", where, "records_per_read must be positive, got ", options.records_per_read);
  if (options.shuffle)
    names = random_shuffle(graph_, names,
                           {.seed = options.seed.value_or(0), .seed2 = options.seed ? 1 : 0}, {},
                           where);
  auto queue =
      fifo_queue(graph_, {dtype::string}, {.shapes = {shape{}}, .capacity = 32}, "files", where);
  auto* enqueue = enqueue_rows(queue, names, "there are no files to read", where);
  queue_runner runner{queue, {enqueue}, where};
  if (options.epochs >= 0)
    runner.limit(options.epochs);
  add(std::move(runner));

  struct reader_builder {
    graph_builder& g;
    location where;
    edge operator()(const text_lines& options) const {
      return text_line_reader(g, {.skip_header_lines = options.skip}, "reader", where);
    }
    edge operator()(const tf_records& options) const {
      return tf_record_reader(g, {.compression_type = std::string{options.compression}}, "reader",
                              where);
    }
    edge operator()(const byte_records& options) const {
      return fixed_length_record_reader(g, options.bytes,
                                        {.header_bytes = options.head,
                                         .footer_bytes = options.tail,
                                         .hop_bytes = options.hop,
                                         .encoding = std::string{options.compression}},
                                        "reader", where);
    }
    edge operator()(const whole_files&) const { return whole_file_reader(g, {}, "reader", where); }
  };
  auto reader = std::visit(reader_builder{graph_, where}, kind);
  if (options.records_per_read == 1) {
    auto [key, value] = reader_read(reader, queue, {}, "read", where);
    return {key, value};
  }
  auto count = graph_.constant(options.records_per_read, {}, where);
  auto [keys, values] = reader_read_up_to(reader, queue, count, {}, "read", where);
  return {keys, values};
}

std::vector<edge> input_pipeline::bucket_by_length(operand length, const std::vector<edge>& element,
                                                   const std::vector<int64_t>& boundaries,
                                                   const std::vector<int>& counts,
                                                   const bucket_options& options,
                                                   std::string_view name, location where) {
  const auto buckets = boundaries.size() + 1;
  check_buckets(element, boundaries, counts, options, where);
  if (length.is_edge())
    need_edge("bucket_by_length", where, length.source(), "the length");
  auto name_scope = graph_.scope(name.empty() ? "bucket_by_length" : name, where);
  auto shapes = shapes_for_buckets(element, options, where);
  auto types = types_of(element);
  auto length_value = cast(length.is_edge() ? length.source() : graph_.constant(length, {}, where),
                           dtype::i64, {}, where);
  std::vector<edge> wrapped;
  for (const auto& component : element)
    wrapped.push_back(expand_dims(component, 0, {}, where));

  // Each bucket gets a batch of the element: of size 1 for its own bucket, of size 0 for others.
  std::vector<edge> queues;
  std::vector<node*> enqueues;
  for (size_t i = 0; i < buckets; ++i) {
    auto bucket_scope = graph_.scope(concat("bucket_", i), where);
    auto is_in_bucket = is_between(length_value, boundaries, i, where);
    auto bucket_batch = is_in_bucket ? rows_if(is_in_bucket, wrapped, graph_, where) : wrapped;
    auto queue =
        options.dynamic_pad
            ? padding_fifo_queue(graph_, types, {.shapes = shapes, .capacity = options.capacity},
                                 "queue", where)
            : fifo_queue(graph_, types, {.shapes = shapes, .capacity = options.capacity}, "queue",
                         where);
    queues.push_back(queue);
    enqueues.push_back(queue_enqueue_many(queue, bucket_batch, {}, {}, where));
  }
  auto* enqueue = graph_.group(enqueues, "put", where);
  queue_runner filling_runner{
      queues[0], std::vector<node*>(static_cast<size_t>(options.concurrent_enqueues), enqueue),
      where};
  filling_runner.also_close({queues.begin() + 1, queues.end()}, where);
  add(std::move(filling_runner));

  auto has_fixed_size = counts.size() == 1 && !options.allow_smaller_final_batch;
  std::vector<partial_shape> batch_shapes;
  for (const auto& dims : shapes)
    batch_shapes.push_back(batch_of(has_fixed_size ? counts[0] : unknown_extent, dims, false));
  auto ready = fifo_queue(graph_, types, {.shapes = batch_shapes, .capacity = options.batches},
                          "ready", where);
  std::vector<node*> moves;
  for (size_t i = 0; i < buckets; ++i) {
    auto batch_size =
        graph_.constant(static_cast<int32_t>(counts[counts.size() == 1 ? 0 : i]), {}, where);
    auto batch = options.allow_smaller_final_batch
                     ? queue_dequeue_up_to(queues[i], batch_size, types, {}, {}, where)
                     : queue_dequeue_many(queues[i], batch_size, types, {}, {}, where);
    moves.push_back(queue_enqueue(ready, batch, {}, {}, where));
  }
  add({ready, std::move(moves), where});
  return queue_dequeue(ready, types, {}, {}, where);
}

std::vector<edge> input_pipeline::prefetch(const std::vector<edge>& batch,
                                           const prefetch_options& options, std::string_view name,
                                           location where) {
  if (batch.empty() || std::ranges::any_of(batch, &edge::is_empty))
    reject("prefetch", where, "needs at least one tensor, and no empty edge");
  if (options.capacity < 1)
    reject("prefetch", where, "capacity must be positive, got ", options.capacity);
  auto name_scope = graph_.scope(name.empty() ? "prefetch" : name, where);
  auto repeats = options_.repeat_input_after > 0;
  auto types = types_of(batch);
  std::vector<partial_shape> shapes;
  for (const auto& component : batch)
    shapes.push_back(component.node->output_shape(component.index));
  edge queue;
  {
    auto device_scope = graph_.on(options.device, where);
    // With repeated batches the runner's limit bounds the queue, so its capacity is unlimited.
    queue =
        fifo_queue(graph_, types, {.shapes = shapes, .capacity = repeats ? -1 : options.capacity},
                   "ready", where);
  }
  queue_runner runner{queue, {queue_enqueue(queue, batch, {}, {}, where)}, where};
  if (repeats)
    runner.limit(options_.repeat_input_after).keep_open();
  add(std::move(runner));
  if (!repeats)
    return queue_dequeue(queue, types, {}, {}, where);
  repeats_ = true;
  auto dequeued = queue_dequeue(queue, types, {.drop_if_step_fails = true}, {}, where);
  auto later = graph_.after({queue_enqueue(queue, dequeued, {}, {}, where)}, where);
  for (auto& component : dequeued)
    component = identity(component, {}, where);
  return dequeued;
}

void input_pipeline::add(queue_runner runner) {
  for (size_t i = 0; i < runners_.size(); ++i)
    for (const auto* enqueue : runner.enqueues())
      if (takes_from(*enqueue, *runners_[i].queue().node))
        queues_[i].is_last_stage = false;
  queues_.push_back({runner.name()});
  runners_.push_back(std::move(runner));
}

input_statistics input_pipeline::statistics(session& in, location where) {
  std::vector<edge> figures;
  for (size_t i = 0; i < queues_.size(); ++i) {
    auto& queue = queues_[i];
    if (queue.figures.empty()) {
      auto counters = queue_statistics(runners_[i].queue(), queue.name + "/statistics", where);
      queue.figures = {counters.seconds,         counters.mean_size,       counters.enqueues,
                       counters.enqueue_seconds, counters.enqueue_waiting, counters.dequeues,
                       counters.dequeue_seconds, counters.dequeue_waiting};
    }
    figures.insert(figures.end(), queue.figures.begin(), queue.figures.end());
  }
  input_statistics report;
  if (figures.empty())
    return report;
  auto values = in.run({}, figures, {}, {}, where);
  auto real = [](const tensor& value) { return *value.data<double>(); };
  auto count = [](const tensor& value) { return *value.data<int64_t>(); };
  const auto* figure = values.data();
  for (const auto& queue : queues_) {
    report.queues.push_back({.queue = queue.name,
                             .is_last_stage = queue.is_last_stage,
                             .seconds = real(figure[0]),
                             .mean_size = real(figure[1]),
                             .enqueues = count(figure[2]),
                             .dequeues = count(figure[5]),
                             .enqueue_seconds = real(figure[3]),
                             .dequeue_seconds = real(figure[6]),
                             .enqueue_waiting = real(figure[4]),
                             .dequeue_waiting = real(figure[7])});
    figure += queue.figures.size();
  }
  return report;
}

} // namespace troupe
