#include "troupe/api/train/input/input_pipeline.hpp"
// The producer and batch stages of an input_pipeline.

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

// Returns the shapes of an element's components, or an empty vector if the graph does not know all
// of them. `ranks_suffice`: known ranks are enough.
std::vector<partial_shape> shapes_of(const std::vector<edge>& element, bool slices,
                                     bool ranks_suffice) {
  std::vector<partial_shape> shapes;
  for (const auto& component : element) {
    auto dims = component.node->output_shape(component.index);
    if (slices && dims.has_rank() && dims.rank() > 0)
      dims = slice_shape(dims);
    if (!(ranks_suffice ? dims.has_rank() : dims.fully_known()))
      return {};
    shapes.push_back(std::move(dims));
  }
  return shapes;
}

void check(const std::vector<edge>& element, int count, int run_count, std::string_view function,
           std::source_location where) {
  if (element.empty() || std::ranges::any_of(element, &edge::is_empty))
    reject(function, where, "needs at least one tensor, and no empty edge");
  if (count < 1 || run_count < 1)
    reject(function, where, "needs a count and concurrent_enqueues of at least 1, got ", count,
           " and ", run_count);
}

} // namespace

// Fails for an empty tensor: its runner would otherwise run endlessly without enqueuing anything.
node* input_pipeline::enqueue_rows(edge queue, edge rows, std::string_view empty_error,
                                   location where) {
  std::vector<edge> message{graph_.constant(tensor::scalar(std::string{empty_error}), {}, where)};
  const auto* source = rows.node;
  if (source->op().name == "RandomShuffle")
    source = source->inputs()[0].node;
  if (source->op().name == "MatchingFiles")
    message.push_back(source->inputs()[0]);
  auto* check_node =
      assert_(greater(size_of(rows, {}, {}, where), 0, {}, where), message, {}, "not_empty", where);
  auto later = graph_.after({check_node}, where);
  return queue_enqueue_many(queue, {rows}, {}, {}, where);
}

edge input_pipeline::producer(operand rows, const producer_options& options, std::string_view name,
                              location where) {
  if (rows.is_edge())
    need_edge("producer", where, rows.source(), "rows");
  auto name_scope = graph_.scope(name.empty() ? "producer" : name, where);
  auto source = rows.is_edge() ? rows.source() : graph_.constant(rows, {}, where);
  auto dims = source.node->output_shape(source.index);
  if (dims.rank() == 0)
    reject("producer", where, "rows must have a first axis, got a scalar");
  if (options.shuffle) {
    auto seed = options.seed.value_or(0);
    source =
        random_shuffle(graph_, source, {.seed = seed, .seed2 = options.seed ? 1 : 0}, {}, where);
  }
  auto type = source.node->output_type(source.index);
  fifo_queue_options settings{.capacity = options.capacity};
  if (auto slice = slice_shape(dims); slice.fully_known())
    settings.shapes = {slice};
  auto queue = fifo_queue(graph_, {type}, settings, {}, where);
  auto* enqueue = enqueue_rows(queue, source, "there are no rows to produce", where);
  queue_runner runner{queue, {enqueue}, where};
  if (options.epochs >= 0)
    runner.limit(options.epochs);
  add(std::move(runner));
  return queue_dequeue(queue, {type}, {}, {}, where)[0];
}

std::vector<edge> input_pipeline::collect(edge queue, const std::vector<edge>& element, int count,
                                          int run_count, bool enqueue_many,
                                          bool allow_smaller_final_batch, location where) {
  auto* enqueue = enqueue_many ? queue_enqueue_many(queue, element, {}, {}, where)
                               : queue_enqueue(queue, element, {}, {}, where);
  add({queue, std::vector<node*>(static_cast<size_t>(run_count), enqueue), where});
  auto batch_size = graph_.constant(static_cast<int32_t>(count), {}, where);
  return allow_smaller_final_batch
             ? queue_dequeue_up_to(queue, batch_size, types_of(element), {}, {}, where)
             : queue_dequeue_many(queue, batch_size, types_of(element), {}, {}, where);
}

std::vector<edge> input_pipeline::batch(const std::vector<edge>& element, int count,
                                        const batch_options& options, std::string_view name,
                                        location where) {
  check(element, count, options.concurrent_enqueues, "batch", where);
  auto name_scope = graph_.scope(name.empty() ? "batch" : name, where);
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
  return collect(queue, element, count, options.concurrent_enqueues, options.enqueue_many,
                 options.allow_smaller_final_batch, where);
}

std::vector<edge> input_pipeline::shuffle_batch(const std::vector<edge>& element, int count,
                                                const shuffle_batch_options& options,
                                                std::string_view name, location where) {
  check(element, count, options.concurrent_enqueues, "shuffle_batch", where);
  auto name_scope = graph_.scope(name.empty() ? "shuffle_batch" : name, where);
  auto shapes =
      options.shapes.empty() ? shapes_of(element, options.enqueue_many, false) : options.shapes;
  auto queue = random_shuffle_queue(graph_, types_of(element),
                                    {.shapes = shapes,
                                     .capacity = options.capacity,
                                     .min_after_dequeue = options.min_after_dequeue,
                                     .seed = options.seed.value_or(0),
                                     .seed2 = options.seed ? 1 : 0},
                                    {}, where);
  return collect(queue, element, count, options.concurrent_enqueues, options.enqueue_many,
                 options.allow_smaller_final_batch, where);
}

void input_pipeline::start(session& in, coordinator& runners, location where) const {
  if (options_.repeat_input_after > 0 && !repeats_)
    reject("input_pipeline::start", where, "repeat_input_after needs a prefetch() to repeat");
  for (const auto& runner : runners_)
    runner.start(in, runners, where);
}

} // namespace troupe
