#include "troupe/api/loops.hpp"
// Builds scan, map, fold and recurrent nets from while_loop.

#include "troupe/api/error.hpp"
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/operators.hpp"

#include <algorithm>

namespace troupe {
namespace {

using location = std::source_location;

graph& graph_of(edge x) { return x.node->graph().innermost(); }

edge constant(edge beside, tensor value, location where) {
  auto type = value.type();
  auto* constant_node = value_or_throw(graph_of(beside).add(
      {.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}, .where = where}));
  return constant_node->output(0);
}

// Returns the common shape of a list's elements, as list ops take it.
edge element_shape(edge beside, const partial_shape& dims, location where) {
  if (!dims.has_rank())
    return constant(beside, tensor::scalar(int32_t{-1}), where);
  std::vector<int32_t> extents(dims.extents().begin(), dims.extents().end());
  return constant(beside, tensor::vector(extents), where);
}

partial_shape slice_dims(edge x) {
  if (!x.dims().has_rank())
    return {};
  return partial_shape{
      std::vector<int64_t>(x.dims().extents().begin() + 1, x.dims().extents().end())};
}

// The type and shape of the slices or outputs of an iteration.
struct element {
  dtype type;
  partial_shape dims;
};

edge empty_list(edge beside, const element& item, location where) {
  return empty_tensor_list(element_shape(beside, item.dims, where),
                           constant(beside, tensor::scalar(int32_t{-1}), where), item.type, {},
                           where);
}

// Returns a list of the slices of x, in reverse order because items are popped from the end.
edge list_of_slices(edge x, bool reversed, location where) {
  auto in_order = reversed ? x : reverse_v2(x, {0}, {}, where);
  return tensor_list_from_tensor(in_order, element_shape(x, slice_dims(x), where), {}, where);
}

// Returns xs[i], checked to have as many slices as xs[0]. If an extent is unknown, the step checks
// it.
edge checked(const std::vector<edge>& xs, size_t i, location where) {
  auto extent = [](edge x) { return x.dims().has_rank() ? x.dims()[0] : unknown_extent; };
  if (i == 0 || (extent(xs[0]) != unknown_extent && extent(xs[0]) == extent(xs[i])))
    return xs[i];
  auto count = [&](edge x) {
    return strided_slice(shape_of(x, {}, {}, where), {0}, {1}, {1}, {.shrink_axis_mask = 1}, {},
                         where);
  };
  auto a = count(xs[0]), b = count(xs[i]);
  auto* check = assert_(troupe::equal(a, b, {}, where), {a, b}, {}, where);
  return value_or_throw(
             graph_of(xs[i]).add(
                 {.op = "Identity", .inputs = {xs[i]}, .controls = {check}, .where = where}))
      ->output(0);
}

std::vector<edge> part(const std::vector<edge>& source, size_t first, size_t count) {
  auto begin = source.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

using scan_body = std::function<scan_iteration(const std::vector<edge>&, const std::vector<edge>&)>;

void check_arguments(const std::vector<edge>& initial, const std::vector<edge>& xs,
                     const scan_body& body, location where) {
  auto nothing = &edge::is_empty;
  if (!body)
    reject("scan", where, "the loop body is an empty function");
  if (xs.empty() || std::ranges::any_of(xs, nothing) || std::ranges::any_of(initial, nothing))
    reject("scan", where, "needs at least one tensor to iterate over, and no empty edge");
  for (const auto& x : xs) {
    if (x.dims().has_rank() && x.dims().rank() == 0)
      reject("scan", where, "'", x, "' is a scalar, and has no slices");
    if (x.dims().has_rank() && xs[0].dims().has_rank() && x.dims()[0] != unknown_extent &&
        xs[0].dims()[0] != unknown_extent && x.dims()[0] != xs[0].dims()[0])
      reject("scan", where, "'", x, "' has ", x.dims()[0], " slices, and '", xs[0], "' has ",
             xs[0].dims()[0]);
  }
}

// Returns the types and shapes of the outputs of an iteration. Builds the body once more than it is
// used.
std::vector<element> find_outputs(const std::vector<edge>& initial,
                                  const std::vector<element>& inputs, graph& in,
                                  const scan_body& body, location where) {
  std::vector<argument> arguments;
  for (const auto& variable : initial)
    arguments.emplace_back(variable.type(), variable.dims());
  for (const auto& input : inputs)
    arguments.emplace_back(input.type, input.dims);
  auto trial = define(
      in, "iteration", arguments,
      [&](const std::vector<edge>& v) {
        auto results = body(part(v, 0, initial.size()), part(v, initial.size(), inputs.size()));
        if (results.carry.size() != initial.size())
          reject("scan", where, "the body returns ", results.carry.size(),
                 " carried values, and takes ", initial.size());
        return results.outputs;
      },
      where);
  std::vector<element> outputs;
  const auto& trial_body = *trial.value.body;
  for (size_t i = 0; i < trial_body.results(); ++i)
    outputs.push_back({trial_body.result_type(i), trial_body.result_dims(i)});
  return outputs;
}

} // namespace

scan_result
scan(const std::vector<edge>& initial, const std::vector<edge>& xs,
     const std::function<scan_iteration(const std::vector<edge>&, const std::vector<edge>&)>& body,
     const scan_options& options, location where) {
  check_arguments(initial, xs, body, where);
  std::vector<element> inputs;
  for (const auto& x : xs)
    inputs.push_back({x.type(), slice_dims(x)});
  const auto outputs = find_outputs(initial, inputs, graph_of(xs[0]), body, where);

  // Loop variables: lists of input slices, lists of outputs, carried values.
  std::vector<edge> variables;
  for (size_t i = 0; i < xs.size(); ++i)
    variables.push_back(list_of_slices(checked(xs, i, where), options.reverse, where));
  for (const auto& output : outputs)
    variables.push_back(empty_list(xs[0], output, where));
  variables.insert(variables.end(), initial.begin(), initial.end());
  auto last_values = while_loop(
      variables,
      [&](const std::vector<edge>& v) {
        return greater(tensor_list_length(v[0], {}, where), 0, {}, where);
      },
      [&](const std::vector<edge>& v) {
        std::vector<edge> next, slices;
        for (size_t i = 0; i < xs.size(); ++i) {
          auto [remaining, slice] = tensor_list_pop_back(
              v[i], element_shape(v[i], inputs[i].dims, where), inputs[i].type, {}, where);
          next.push_back(remaining);
          slices.push_back(slice);
        }
        auto results = body(part(v, xs.size() + outputs.size(), initial.size()), slices);
        if (results.outputs.size() != outputs.size())
          reject("scan", where, "the body returns ", results.outputs.size(), " outputs, and ",
                 outputs.size(), " in its first call: it must build the same nodes each time");
        for (size_t i = 0; i < outputs.size(); ++i)
          next.push_back(tensor_list_push_back(v[xs.size() + i], results.outputs[i], {}, where));
        next.insert(next.end(), results.carry.begin(), results.carry.end());
        return next;
      },
      {.name = options.name,
       .parallel_iterations = options.parallel_iterations,
       .recompute = options.recompute,
       .swap_memory = options.swap_memory},
      where);

  scan_result results{part(last_values, xs.size() + outputs.size(), initial.size()), {}};
  auto iterations = xs[0].dims().has_rank() ? xs[0].dims()[0] : unknown_extent;
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto joined =
        tensor_list_stack(last_values[xs.size() + i], element_shape(xs[0], outputs[i].dims, where),
                          outputs[i].type, {.num_elements = iterations}, {}, where);
    results.outputs.push_back(options.reverse ? reverse_v2(joined, {0}, {}, where) : joined);
  }
  return results;
}

std::vector<edge> map(const std::vector<edge>& xs,
                      const std::function<std::vector<edge>(const std::vector<edge>&)>& f,
                      const scan_options& options, location where) {
  if (!f)
    reject("map", where, "f is an empty function");
  return scan(
             {}, xs,
             [&](const std::vector<edge>&, const std::vector<edge>& slices) -> scan_iteration {
               return {{}, f(slices)};
             },
             options, where)
      .outputs;
}

std::vector<edge>
fold(const std::vector<edge>& initial, const std::vector<edge>& xs,
     const std::function<std::vector<edge>(const std::vector<edge>&, const std::vector<edge>&)>& f,
     const scan_options& options, location where) {
  if (!f)
    reject("fold", where, "f is an empty function");
  return scan(
             initial, xs,
             [&](const std::vector<edge>& carry,
                 const std::vector<edge>& slices) -> scan_iteration {
               return {f(carry, slices), {}};
             },
             options, where)
      .carry;
}

scan_result dynamic_rnn(edge x, const std::vector<edge>& state, const recurrent_cell& cell,
                        const recurrent_options& options, location where) {
  if (x.is_empty())
    reject("dynamic_rnn", where, "x is an empty edge");
  if (!cell)
    reject("dynamic_rnn", where, "the cell is an empty function");
  scan_options scan_settings{.name = options.name,
                             .reverse = options.reverse,
                             .recompute = options.recompute,
                             .swap_memory = options.swap_memory};
  if (options.lengths.is_empty())
    return scan(
        state, {x},
        [&](const std::vector<edge>& carry, const std::vector<edge>& slices) {
          return cell(slices[0], carry);
        },
        scan_settings, where);
  if (const auto& dims = options.lengths.dims(); dims.has_rank() && dims.rank() != 1)
    reject("dynamic_rnn", where, "lengths must be a vector, one for each sequence, got shape ",
           dims);
  auto time = range(
      graph_of(x), 0,
      strided_slice(shape_of(x, {}, {}, where), {0}, {1}, {1}, {.shrink_axis_mask = 1}, {}, where),
      1, {}, where);
  auto lengths = cast(options.lengths, dtype::i32, {}, where);
  return scan(
      state, {x, time},
      [&](const std::vector<edge>& carry, const std::vector<edge>& slices) {
        auto is_valid = less(slices[1], lengths, {}, where);
        // The condition needs as many axes as the values.
        auto select = [&](edge value, edge otherwise) {
          if (value.is_empty() || !value.dims().has_rank() || value.dims().rank() == 0)
            reject("dynamic_rnn", where, "states and outputs of a cell must be [batch, ...]");
          std::vector<int64_t> extents(static_cast<size_t>(value.dims().rank()), 1);
          extents[0] = -1;
          return select_v2(reshape(is_valid, tensor::vector(extents), {}, where), value, otherwise,
                           {}, where);
        };
        auto results = cell(slices[0], carry);
        for (size_t i = 0; i < results.carry.size() && i < carry.size(); ++i)
          results.carry[i] = select(results.carry[i], carry[i]);
        for (auto& output : results.outputs)
          output = select(output, zeros_like(output, {}, where));
        return results;
      },
      scan_settings, where);
}

bidirectional_result bidirectional_rnn(edge x, const std::vector<edge>& forward_state,
                                       const recurrent_cell& forward,
                                       const std::vector<edge>& backward_state,
                                       const recurrent_cell& backward,
                                       const recurrent_options& options, location where) {
  auto backward_options = options;
  backward_options.reverse = !options.reverse;
  return {dynamic_rnn(x, forward_state, forward, options, where),
          dynamic_rnn(x, backward_state, backward, backward_options, where)};
}

} // namespace troupe
