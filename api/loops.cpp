#include "troupe/api/loops.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/operators.hpp"

#include <algorithm>

namespace troupe {
namespace {

using location = std::source_location;

graph& graph_of(edge one) { return one.node->graph().innermost(); }

edge constant(edge beside, tensor value, location where) {
  auto type = value.type();
  auto* made = value_or_throw(graph_of(beside).add(
      {.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}, .where = where}));
  return made->output(0);
}

// What the elements of a list have in common, as ops on lists take it.
edge element_shape(edge beside, const partial_shape& dims, location where) {
  if (!dims.has_rank())
    return constant(beside, tensor::scalar(int32_t{-1}), where);
  std::vector<int32_t> extents(dims.extents().begin(), dims.extents().end());
  return constant(beside, tensor::vector(extents), where);
}

partial_shape slice_dims(edge of) {
  if (!of.dims().has_rank())
    return {};
  return partial_shape{
      std::vector<int64_t>(of.dims().extents().begin() + 1, of.dims().extents().end())};
}

// What each turn takes from and gives to.
struct element {
  dtype type;
  partial_shape dims;
};

edge empty_list(edge beside, const element& of, location where) {
  return empty_tensor_list(element_shape(beside, of.dims, where),
                           constant(beside, tensor::scalar(int32_t{-1}), where), of.type, {},
                           where);
}

// Items are taken off the end.
edge list_of_slices(edge x, bool from_the_last, location where) {
  auto in_order = from_the_last ? x : reverse_v2(x, {0}, {}, where);
  return tensor_list_from_tensor(in_order, element_shape(x, slice_dims(x), where), {}, where);
}

// Slices must be as many in all xs: where that is not known, a step looks.
edge checked(const std::vector<edge>& xs, size_t i, location where) {
  auto extent = [](edge x) { return x.dims().has_rank() ? x.dims()[0] : unknown_extent; };
  if (i == 0 || (extent(xs[0]) != unknown_extent && extent(xs[0]) == extent(xs[i])))
    return xs[i];
  auto count = [&](edge x) {
    return strided_slice(shape_of(x, {}, {}, where), {0}, {1}, {1}, {.shrink_axis_mask = 1}, {},
                         where);
  };
  auto a = count(xs[0]), b = count(xs[i]);
  auto* looks = assert_(troupe::equal(a, b, {}, where), {a, b}, {}, where);
  return value_or_throw(
             graph_of(xs[i]).add(
                 {.op = "Identity", .inputs = {xs[i]}, .controls = {looks}, .where = where}))
      ->output(0);
}

std::vector<edge> part(const std::vector<edge>& of, size_t first, size_t count) {
  auto begin = of.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

} // namespace

scanned
scan(const std::vector<edge>& initial, const std::vector<edge>& xs,
     const std::function<scan_turn(const std::vector<edge>&, const std::vector<edge>&)>& turn,
     const scan_options& options, location where) {
  auto nothing = &edge::is_nothing;
  if (!turn)
    reject("scan", where, "what is to be done in a turn is an empty function");
  if (xs.empty() || std::ranges::any_of(xs, nothing) || std::ranges::any_of(initial, nothing))
    reject("scan", where, "needs at least one tensor to go through, and edges to something");
  for (const auto& x : xs) {
    if (x.dims().has_rank() && x.dims().rank() == 0)
      reject("scan", where, "'", x, "' is a scalar, and has no slices");
    if (x.dims().has_rank() && xs[0].dims().has_rank() && x.dims()[0] != unknown_extent &&
        xs[0].dims()[0] != unknown_extent && x.dims()[0] != xs[0].dims()[0])
      reject("scan", where, "'", x, "' has ", x.dims()[0], " slices, and '", xs[0], "' has ",
             xs[0].dims()[0]);
  }
  auto& in = graph_of(xs[0]);
  std::vector<element> taken, given;
  for (const auto& x : xs)
    taken.push_back({x.type(), slice_dims(x)});

  // Built once more than it is used: what it gives says what to collect.
  {
    std::vector<argument> arguments;
    for (const auto& one : initial)
      arguments.emplace_back(one.type(), one.dims());
    for (const auto& one : taken)
      arguments.emplace_back(one.type, one.dims);
    auto tried = define(
        in, "turn", arguments,
        [&](const std::vector<edge>& v) {
          auto made = turn(part(v, 0, initial.size()), part(v, initial.size(), xs.size()));
          if (made.carry.size() != initial.size())
            reject("scan", where, "a turn carries ", made.carry.size(), " values on, and gets ",
                   initial.size());
          return made.outputs;
        },
        where);
    const auto& body = *tried.value.body;
    for (size_t i = 0; i < body.results(); ++i)
      given.push_back({body.result_type(i), body.result_dims(i)});
  }

  // Loop variables: lists to take from, lists to give to, what is carried.
  std::vector<edge> variables;
  for (size_t i = 0; i < xs.size(); ++i)
    variables.push_back(list_of_slices(checked(xs, i, where), options.reverse, where));
  for (const auto& one : given)
    variables.push_back(empty_list(xs[0], one, where));
  variables.insert(variables.end(), initial.begin(), initial.end());
  auto found = while_loop(
      variables,
      [&](const std::vector<edge>& v) {
        return greater(tensor_list_length(v[0], {}, where), 0, {}, where);
      },
      [&](const std::vector<edge>& v) {
        std::vector<edge> next, slices;
        for (size_t i = 0; i < xs.size(); ++i) {
          auto [rest, slice] = tensor_list_pop_back(v[i], element_shape(v[i], taken[i].dims, where),
                                                    taken[i].type, {}, where);
          next.push_back(rest);
          slices.push_back(slice);
        }
        auto made = turn(part(v, xs.size() + given.size(), initial.size()), slices);
        if (made.outputs.size() != given.size())
          reject("scan", where, "a turn gives ", made.outputs.size(), " outputs, and gave ",
                 given.size(), " before: it must do the same each time");
        for (size_t i = 0; i < given.size(); ++i)
          next.push_back(tensor_list_push_back(v[xs.size() + i], made.outputs[i], {}, where));
        next.insert(next.end(), made.carry.begin(), made.carry.end());
        return next;
      },
      {.name = options.name,
       .parallel_iterations = options.parallel_iterations,
       .recompute = options.recompute,
       .swap_memory = options.swap_memory},
      where);

  scanned all{part(found, xs.size() + given.size(), initial.size()), {}};
  auto turns = xs[0].dims().has_rank() ? xs[0].dims()[0] : unknown_extent;
  for (size_t i = 0; i < given.size(); ++i) {
    auto joined =
        tensor_list_stack(found[xs.size() + i], element_shape(xs[0], given[i].dims, where),
                          given[i].type, {.num_elements = turns}, {}, where);
    all.outputs.push_back(options.reverse ? reverse_v2(joined, {0}, {}, where) : joined);
  }
  return all;
}

std::vector<edge> map(const std::vector<edge>& xs,
                      const std::function<std::vector<edge>(const std::vector<edge>&)>& f,
                      const scan_options& options, location where) {
  if (!f)
    reject("map", where, "what is to be done with a slice is an empty function");
  return scan(
             {}, xs,
             [&](const std::vector<edge>&, const std::vector<edge>& slices) -> scan_turn {
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
    reject("fold", where, "what is to be done with a slice is an empty function");
  return scan(
             initial, xs,
             [&](const std::vector<edge>& carry, const std::vector<edge>& slices) -> scan_turn {
               return {f(carry, slices), {}};
             },
             options, where)
      .carry;
}

scanned dynamic_rnn(edge x, const std::vector<edge>& state, const recurrent_cell& cell,
                    const recurrent_options& options, location where) {
  if (x.is_nothing())
    reject("dynamic_rnn", where, "x is an edge to nothing");
  if (!cell)
    reject("dynamic_rnn", where, "the cell is an empty function");
  scan_options how{.name = options.name,
                   .reverse = options.reverse,
                   .recompute = options.recompute,
                   .swap_memory = options.swap_memory};
  if (options.lengths.is_nothing())
    return scan(
        state, {x},
        [&](const std::vector<edge>& carry, const std::vector<edge>& slices) {
          return cell(slices[0], carry);
        },
        how, where);
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
        auto counts = less(slices[1], lengths, {}, where);
        // With as many axes as what it chooses from.
        auto chosen = [&](edge now, edge otherwise) {
          if (now.is_nothing() || !now.dims().has_rank() || now.dims().rank() == 0)
            reject("dynamic_rnn", where, "states and outputs of a cell must be [batch, ...]");
          std::vector<int64_t> extents(static_cast<size_t>(now.dims().rank()), 1);
          extents[0] = -1;
          return select_v2(reshape(counts, tensor::vector(extents), {}, where), now, otherwise, {},
                           where);
        };
        auto made = cell(slices[0], carry);
        for (size_t i = 0; i < made.carry.size() && i < carry.size(); ++i)
          made.carry[i] = chosen(made.carry[i], carry[i]);
        for (auto& one : made.outputs)
          one = chosen(one, zeros_like(one, {}, where));
        return made;
      },
      how, where);
}

both_directions bidirectional_rnn(edge x, const std::vector<edge>& forward_state,
                                  const recurrent_cell& forward,
                                  const std::vector<edge>& backward_state,
                                  const recurrent_cell& backward, const recurrent_options& options,
                                  location where) {
  auto back = options;
  back.reverse = !options.reverse;
  return {dynamic_rnn(x, forward_state, forward, options, where),
          dynamic_rnn(x, backward_state, backward, back, where)};
}

} // namespace troupe
