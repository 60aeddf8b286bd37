#include "troupe/api/train/input/input_pipeline.hpp"

#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/train/input/input_elements.hpp"

#include <algorithm>

namespace troupe {
namespace {

partial_shape slice_shape(const partial_shape& batch) {
  if (!batch.has_rank())
    return batch;
  return partial_shape{std::vector<int64_t>(batch.extents().begin() + 1, batch.extents().end())};
}

// Of an element's components, as far as the graph knows all of them.
std::vector<partial_shape> shapes_of(const std::vector<edge>& element, bool slices, bool ranks_do) {
  std::vector<partial_shape> found;
  for (const auto& one : element) {
    auto dims = one.node->output_shape(one.index);
    if (slices && dims.has_rank() && dims.rank() > 0)
      dims = slice_shape(dims);
    if (!(ranks_do ? dims.has_rank() : dims.fully_known()))
      return {};
    found.push_back(std::move(dims));
  }
  return found;
}

void check(const std::vector<edge>& element, int count, int at_once, std::string_view function,
           std::source_location where) {
  if (element.empty() || std::ranges::any_of(element, &edge::is_nothing))
    reject(function, where, "needs at least one tensor, and none that is nothing");
  if (count < 1 || at_once < 1)
    reject(function, where, "needs a count and at_once of at least 1, got ", count, " and ",
           at_once);
}

} // namespace

// A runner that enqueues nothing would do so again and again.
node* input_pipeline::enqueue_rows(edge queue, edge rows, std::string_view if_none,
                                   location where) {
  std::vector<edge> said{graph_.constant(tensor::scalar(std::string{if_none}), {}, where)};
  const auto* from = rows.node;
  if (from->op().name == "RandomShuffle")
    from = from->inputs()[0].node;
  if (from->op().name == "MatchingFiles")
    said.push_back(from->inputs()[0]);
  auto* some =
      assert_(greater(size_of(rows, {}, {}, where), 0, {}, where), said, {}, "not_empty", where);
  auto later = graph_.after({some}, where);
  return queue_enqueue_many(queue, {rows}, {}, {}, where);
}

edge input_pipeline::producer(operand rows, const producer_options& options, std::string_view name,
                              location where) {
  if (rows.is_edge())
    need_edge("producer", where, rows.from(), "rows");
  auto in = graph_.scope(name.empty() ? "producer" : name, where);
  auto all = rows.is_edge() ? rows.from() : graph_.constant(rows, {}, where);
  auto dims = all.node->output_shape(all.index);
  if (dims.rank() == 0)
    reject("producer", where, "rows must have a first axis, got a scalar");
  if (options.shuffle) {
    auto seed = options.seed.value_or(0);
    all = random_shuffle(graph_, all, {.seed = seed, .seed2 = options.seed ? 1 : 0}, {}, where);
  }
  auto type = all.node->output_type(all.index);
  fifo_queue_options how{.capacity = options.capacity};
  if (auto slice = slice_shape(dims); slice.fully_known())
    how.shapes = {slice};
  auto queue = fifo_queue(graph_, {type}, how, {}, where);
  auto* put = enqueue_rows(queue, all, "there are no rows to produce", where);
  queue_runner runner{queue, {put}, where};
  if (options.epochs >= 0)
    runner.limit(options.epochs);
  add(std::move(runner));
  return queue_dequeue(queue, {type}, {}, {}, where)[0];
}

std::vector<edge> input_pipeline::collect(edge queue, const std::vector<edge>& element, int count,
                                          int at_once, bool enqueue_many, bool smaller_last,
                                          location where) {
  auto* put = enqueue_many ? queue_enqueue_many(queue, element, {}, {}, where)
                           : queue_enqueue(queue, element, {}, {}, where);
  add({queue, std::vector<node*>(static_cast<size_t>(at_once), put), where});
  auto n = graph_.constant(static_cast<int32_t>(count), {}, where);
  return smaller_last ? queue_dequeue_up_to(queue, n, types_of(element), {}, {}, where)
                      : queue_dequeue_many(queue, n, types_of(element), {}, {}, where);
}

std::vector<edge> input_pipeline::batch(const std::vector<edge>& element, int count,
                                        const batch_options& options, std::string_view name,
                                        location where) {
  check(element, count, options.at_once, "batch", where);
  auto in = graph_.scope(name.empty() ? "batch" : name, where);
  auto shapes = options.shapes.empty()
                    ? shapes_of(element, options.enqueue_many, options.dynamic_pad)
                    : options.shapes;
  if (options.dynamic_pad && shapes.empty())
    reject("batch", where, "dynamic_pad needs the rank of each tensor: give `shapes`");
  auto queue = options.dynamic_pad
                   ? padding_fifo_queue(graph_, types_of(element),
                                        {.shapes = shapes, .capacity = options.capacity}, {}, where)
                   : fifo_queue(graph_, types_of(element),
                                {.shapes = shapes, .capacity = options.capacity}, {}, where);
  return collect(queue, element, count, options.at_once, options.enqueue_many, options.smaller_last,
                 where);
}

std::vector<edge> input_pipeline::shuffle_batch(const std::vector<edge>& element, int count,
                                                const shuffle_batch_options& options,
                                                std::string_view name, location where) {
  check(element, count, options.at_once, "shuffle_batch", where);
  auto in = graph_.scope(name.empty() ? "shuffle_batch" : name, where);
  auto shapes =
      options.shapes.empty() ? shapes_of(element, options.enqueue_many, false) : options.shapes;
  auto queue = random_shuffle_queue(graph_, types_of(element),
                                    {.shapes = shapes,
                                     .capacity = options.capacity,
                                     .min_after_dequeue = options.min_after_dequeue,
                                     .seed = options.seed.value_or(0),
                                     .seed2 = options.seed ? 1 : 0},
                                    {}, where);
  return collect(queue, element, count, options.at_once, options.enqueue_many, options.smaller_last,
                 where);
}

void input_pipeline::start(session& in, coordinator& by, location where) const {
  if (options_.repeat_input_after > 0 && !repeats_)
    reject("input_pipeline::start", where, "repeat_input_after needs a prefetch() to repeat");
  for (const auto& one : runners_)
    one.start(in, by, where);
}

} // namespace troupe
