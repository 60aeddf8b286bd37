// The stages of an input_pipeline beside its batches: records of files, buckets, prefetched
// batches, and what is measured of all.
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/operators.hpp"
#include "troupe/api/train/input/input_elements.hpp"
#include "troupe/api/train/input/input_pipeline.hpp"

#include <algorithm>
#include <set>

namespace troupe {
namespace {

partial_shape batch_of(int64_t count, const partial_shape& dims, bool extents_open) {
  if (!dims.has_rank())
    return dims;
  std::vector<int64_t> extents{count};
  for (auto extent : dims.extents())
    extents.push_back(extents_open ? std::min<int64_t>(extent, unknown_extent) : extent);
  return partial_shape{std::move(extents)};
}

// Whether `from` needs what comes out of the queue.
bool takes_from(const node& from, const node& queue) {
  std::set<const node*> seen;
  std::vector<const node*> todo{&from};
  while (!todo.empty()) {
    const auto* at = todo.back();
    todo.pop_back();
    if (!seen.insert(at).second)
      continue;
    if (at->op().goes_back && resource_behind(at->inputs()[0]) == &queue)
      return true;
    if (at->op().ask && at->inputs().size() > 1 && resource_behind(at->inputs()[1]) == &queue)
      return true; // a reader's names
    for (const auto& one : at->inputs())
      todo.push_back(one.node);
    for (const auto* one : at->controls())
      todo.push_back(one);
  }
  return false;
}

} // namespace

record_edges input_pipeline::records(operand files, const record_kind& kind,
                                     const records_options& options, std::string_view name,
                                     location where) {
  if (files.is_edge())
    need_edge("records", where, files.from(), "files");
  auto in = graph_.scope(name.empty() ? "records" : name, where);
  auto names = files.is_edge() ? files.from() : graph_.constant(files, {}, where);
  if (names.node->output_type(names.index) != dtype::string)
    reject("records", where, "files must be names, strings, got ",
           names.node->output_type(names.index));
  if (options.at_once < 1)
    reject("records", where, "at_once must be positive, got ", options.at_once);
  if (options.shuffle)
    names = random_shuffle(graph_, names,
                           {.seed = options.seed.value_or(0), .seed2 = options.seed ? 1 : 0}, {},
                           where);
  auto queue =
      fifo_queue(graph_, {dtype::string}, {.shapes = {shape{}}, .capacity = 32}, "files", where);
  auto* put = enqueue_rows(queue, names, "there are no files to read", where);
  queue_runner runner{queue, {put}, where};
  if (options.epochs >= 0)
    runner.limit(options.epochs);
  add(std::move(runner));

  struct make {
    graph_builder& g;
    location where;
    edge operator()(const text_lines& of) const {
      return text_line_reader(g, {.skip_header_lines = of.skip}, "reader", where);
    }
    edge operator()(const tf_records& of) const {
      return tf_record_reader(g, {.compression_type = std::string{of.compression}}, "reader",
                              where);
    }
    edge operator()(const byte_records& of) const {
      return fixed_length_record_reader(g, of.bytes,
                                        {.header_bytes = of.head,
                                         .footer_bytes = of.tail,
                                         .hop_bytes = of.hop,
                                         .encoding = std::string{of.compression}},
                                        "reader", where);
    }
    edge operator()(const whole_files&) const { return whole_file_reader(g, {}, "reader", where); }
  };
  auto reader = std::visit(make{graph_, where}, kind);
  if (options.at_once == 1) {
    auto [key, value] = reader_read(reader, queue, {}, "read", where);
    return {key, value};
  }
  auto count = graph_.constant(options.at_once, {}, where);
  auto [keys, values] = reader_read_up_to(reader, queue, count, {}, "read", where);
  return {keys, values};
}

std::vector<edge> input_pipeline::bucket_by_length(operand length, const std::vector<edge>& element,
                                                   const std::vector<int64_t>& boundaries,
                                                   const std::vector<int>& counts,
                                                   const bucket_options& options,
                                                   std::string_view name, location where) {
  const auto buckets = boundaries.size() + 1;
  if (element.empty() || std::ranges::any_of(element, &edge::is_nothing))
    reject("bucket_by_length", where, "needs at least one tensor, and none that is nothing");
  if (std::ranges::adjacent_find(boundaries, std::greater_equal<>{}) != boundaries.end())
    reject("bucket_by_length", where, "boundaries must rise");
  if (counts.size() != 1 && counts.size() != buckets)
    reject("bucket_by_length", where, "needs one count, or one for each of ", buckets,
           " buckets, got ", counts.size());
  if (options.at_once < 1 || options.batches < 1 ||
      std::ranges::any_of(counts, [](int one) { return one < 1; }))
    reject("bucket_by_length", where, "counts, at_once and batches must be positive");
  if (length.is_edge())
    need_edge("bucket_by_length", where, length.from(), "the length");
  auto in = graph_.scope(name.empty() ? "bucket_by_length" : name, where);
  auto shapes = options.shapes;
  if (shapes.empty())
    for (const auto& one : element)
      shapes.push_back(one.node->output_shape(one.index));
  if (shapes.size() != element.size() || !std::ranges::all_of(shapes, [&](auto& one) {
        return options.dynamic_pad ? one.has_rank() : one.fully_known();
      }))
    reject("bucket_by_length", where, "needs the ", options.dynamic_pad ? "rank" : "shape",
           " of each tensor: give `shapes`");
  auto types = types_of(element);
  auto by = cast(length.is_edge() ? length.from() : graph_.constant(length, {}, where), dtype::i64,
                 {}, where);
  std::vector<edge> wrapped;
  for (const auto& one : element)
    wrapped.push_back(expand_dims(one, 0, {}, where));

  // An element goes to all buckets, as a batch of none but to its own.
  std::vector<edge> queues;
  std::vector<node*> puts;
  for (size_t i = 0; i < buckets; ++i) {
    auto within = graph_.scope(concat("bucket_", i), where);
    edge here;
    if (i > 0)
      here = greater_equal(by, boundaries[i - 1], {}, where);
    if (i < boundaries.size()) {
      auto below = less(by, boundaries[i], {}, where);
      here = here ? logical_and(here, below, {}, where) : below;
    }
    auto parts = wrapped;
    if (here) {
      auto none_or_it = range(graph_, 0, cast(here, dtype::i32, {}, where), 1, {}, where);
      for (auto& one : parts)
        one = gather(one, none_or_it, {}, {}, where);
    }
    auto queue =
        options.dynamic_pad
            ? padding_fifo_queue(graph_, types, {.shapes = shapes, .capacity = options.capacity},
                                 "queue", where)
            : fifo_queue(graph_, types, {.shapes = shapes, .capacity = options.capacity}, "queue",
                         where);
    queues.push_back(queue);
    puts.push_back(queue_enqueue_many(queue, parts, {}, {}, where));
  }
  auto* put = graph_.group(puts, "put", where);
  queue_runner fills{queues[0], std::vector<node*>(static_cast<size_t>(options.at_once), put),
                     where};
  fills.closes({queues.begin() + 1, queues.end()}, where);
  add(std::move(fills));

  auto same = counts.size() == 1 && !options.smaller_last;
  std::vector<partial_shape> batches;
  for (const auto& one : shapes)
    batches.push_back(batch_of(same ? counts[0] : unknown_extent, one, false));
  auto ready =
      fifo_queue(graph_, types, {.shapes = batches, .capacity = options.batches}, "ready", where);
  std::vector<node*> moves;
  for (size_t i = 0; i < buckets; ++i) {
    auto n = graph_.constant(static_cast<int32_t>(counts[counts.size() == 1 ? 0 : i]), {}, where);
    auto batch = options.smaller_last ? queue_dequeue_up_to(queues[i], n, types, {}, {}, where)
                                      : queue_dequeue_many(queues[i], n, types, {}, {}, where);
    moves.push_back(queue_enqueue(ready, batch, {}, {}, where));
  }
  add({ready, std::move(moves), where});
  return queue_dequeue(ready, types, {}, {}, where);
}

std::vector<edge> input_pipeline::prefetch(const std::vector<edge>& batch,
                                           const prefetch_options& options, std::string_view name,
                                           location where) {
  if (batch.empty() || std::ranges::any_of(batch, &edge::is_nothing))
    reject("prefetch", where, "needs at least one tensor, and none that is nothing");
  if (options.capacity < 1)
    reject("prefetch", where, "capacity must be positive, got ", options.capacity);
  auto in = graph_.scope(name.empty() ? "prefetch" : name, where);
  auto repeats = options_.repeat_input_after > 0;
  auto types = types_of(batch);
  std::vector<partial_shape> shapes;
  for (const auto& one : batch)
    shapes.push_back(one.node->output_shape(one.index));
  edge queue;
  {
    auto there = graph_.on(options.on, where);
    // What goes round was counted by its runner.
    queue =
        fifo_queue(graph_, types, {.shapes = shapes, .capacity = repeats ? -1 : options.capacity},
                   "ready", where);
  }
  queue_runner runner{queue, {queue_enqueue(queue, batch, {}, {}, where)}, where};
  if (repeats)
    runner.limit(options_.repeat_input_after).stays_open();
  add(std::move(runner));
  if (!repeats)
    return queue_dequeue(queue, types, {}, {}, where);
  repeats_ = true;
  auto taken = queue_dequeue(queue, types, {.drop_if_step_fails = true}, {}, where);
  auto later = graph_.after({queue_enqueue(queue, taken, {}, {}, where)}, where);
  for (auto& one : taken)
    one = identity(one, {}, where);
  return taken;
}

void input_pipeline::add(queue_runner runner) {
  for (size_t i = 0; i < runners_.size(); ++i)
    for (const auto* put : runner.enqueues())
      if (takes_from(*put, *runners_[i].queue().node))
        queues_[i].last = false;
  queues_.push_back({runner.name()});
  runners_.push_back(std::move(runner));
}

input_statistics input_pipeline::statistics(session& in, location where) {
  std::vector<edge> figures;
  for (size_t i = 0; i < queues_.size(); ++i) {
    auto& one = queues_[i];
    if (one.figures.empty()) {
      auto of = queue_statistics(runners_[i].queue(), one.name + "/statistics", where);
      one.figures = {of.seconds,         of.mean_size, of.enqueues,        of.enqueue_seconds,
                     of.enqueue_waiting, of.dequeues,  of.dequeue_seconds, of.dequeue_waiting};
    }
    figures.insert(figures.end(), one.figures.begin(), one.figures.end());
  }
  input_statistics found;
  if (figures.empty())
    return found;
  auto values = in.run({}, figures, {}, {}, where);
  auto real = [](const tensor& one) { return *one.data<double>(); };
  auto count = [](const tensor& one) { return *one.data<int64_t>(); };
  const auto* at = values.data();
  for (const auto& one : queues_) {
    found.queues.push_back({.queue = one.name,
                            .last = one.last,
                            .seconds = real(at[0]),
                            .mean_size = real(at[1]),
                            .enqueues = count(at[2]),
                            .dequeues = count(at[5]),
                            .enqueue_seconds = real(at[3]),
                            .dequeue_seconds = real(at[6]),
                            .enqueue_waiting = real(at[4]),
                            .dequeue_waiting = real(at[7])});
    at += one.figures.size();
  }
  return found;
}

} // namespace troupe
