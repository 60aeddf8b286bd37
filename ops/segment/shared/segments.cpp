#include "troupe/ops/segment/shared/segments.hpp"

namespace troupe::ops {
namespace {

// This many rows, with the extents of data from `axis` on.
result<shapes> rows_like(const partial_shape& data, int axis, int64_t rows) {
  std::vector<int64_t> dims{rows};
  dims.insert(dims.end(), data.extents().begin() + axis, data.extents().end());
  TROUPE_ASSIGN(auto checked, partial_shape::make(dims));
  return shapes{checked};
}

// The number of segments of the sorted ids at input i, where they are known.
int64_t count_of(const infer_context& at, int i) {
  auto ids = at.integers(i);
  if (!ids || (!ids->empty() && (ids->back() < 0 || ids->back() >= INT64_MAX)))
    return unknown_extent; // the kernel reports the error
  return ids->empty() ? 0 : ids->back() + 1;
}

result<int64_t> count_at(const infer_context& at, int i, const char* name) {
  TROUPE_TRY(at.of_rank(i, 0));
  auto value = at.integers(i);
  if (value && value->at(0) < 0)
    return at.invalid(name, " must not be negative, got ", value->at(0));
  return value ? value->at(0) : unknown_extent;
}

status check_vectors(const infer_context& at) {
  TROUPE_ASSIGN(auto indices, at.of_rank(1, 1));
  TROUPE_ASSIGN(auto ids, at.of_rank(2, 1));
  if (!indices.compatible(ids))
    return at.invalid("indices and segment_ids must have the same length, got shapes ", indices,
                      " and ", ids);
  if (at.input(0).rank() == 0)
    return at.invalid("input 0 must have rows, got a scalar");
  return {};
}

bool is_sorted(const gradient_context& at) { return at.inputs() == 2; }

// The ids, with 0 in place of negative ones.
edge valid_ids(gradient_context& at) {
  auto ids = at.input(1);
  return is_sorted(at) ? ids : build("Maximum", {ids, scalar_like(ids, 0)});
}

// For each row of data, its row of y.
edge spread(gradient_context& at, edge y) { return build("Gather", {y, valid_ids(at)}); }

// x, with zeros in rows that belong to no segment.
edge zero_unassigned(gradient_context& at, edge x) {
  if (is_sorted(at))
    return x;
  auto ids = at.input(1);
  auto has_segment = build("GreaterEqual", {ids, scalar_like(ids, 0)});
  return x * for_each_row(cast_to(has_segment, x.type()), x);
}

edge combined(gradient_context& at, const char* suffix, edge x) {
  if (is_sorted(at))
    return build(std::string{"Segment"} + suffix, {x, at.input(1)});
  return build(std::string{"UnsortedSegment"} + suffix, {x, at.input(1), at.input(2)});
}

} // namespace

result<shapes> infer_sorted_segments(const infer_context& at) {
  TROUPE_ASSIGN(auto ids, at.of_rank(1, 1));
  const auto& data = at.input(0);
  if (!data.has_rank())
    return shapes{partial_shape::unknown()};
  if (data.rank() == 0)
    return at.invalid("data must have rows, got a scalar");
  if (!ids.compatible(partial_shape{data[0]}))
    return at.invalid("segment_ids must have one element for each row of data ", data,
                      ", got shape ", ids);
  return rows_like(data, 1, count_of(at, 1));
}

result<shapes> infer_unsorted_segments(const infer_context& at) {
  TROUPE_ASSIGN(auto count, count_at(at, 2, "num_segments"));
  const auto &data = at.input(0), &ids = at.input(1);
  if (!data.has_rank() || !ids.has_rank())
    return shapes{partial_shape::unknown()};
  auto leading = data.extents().first(static_cast<size_t>(std::min(ids.rank(), data.rank())));
  if (ids.rank() > data.rank() ||
      !ids.compatible(partial_shape{std::vector<int64_t>{leading.begin(), leading.end()}}))
    return at.invalid("the shape of segment_ids ", ids, " must begin the shape of data ", data);
  return rows_like(data, ids.rank(), count);
}

result<shapes> infer_sparse_segments(const infer_context& at) {
  TROUPE_TRY(check_vectors(at));
  auto count = count_of(at, 2);
  if (at.inputs() > 3) {
    TROUPE_ASSIGN(count, count_at(at, 3, "num_segments"));
  }
  if (!at.input(0).has_rank())
    return shapes{partial_shape::unknown()};
  return rows_like(at.input(0), 1, count);
}

result<shapes> infer_sparse_segment_gradients(const infer_context& at) {
  TROUPE_TRY(check_vectors(at));
  TROUPE_ASSIGN(auto count, count_at(at, 3, "output_dim0"));
  if (!at.input(0).has_rank())
    return shapes{partial_shape::unknown()};
  return rows_like(at.input(0), 1, count);
}

edge for_each_row(edge numbers, edge data) {
  auto extra_axes = build("Rank", {data}) - build("Rank", {numbers});
  auto vector = reshaped(extra_axes, integers_like(data, {1}));
  auto ones = build("Fill", {vector, constant_like(data, tensor::scalar(int64_t{1}))});
  auto first_axis = constant_like(data, tensor::scalar(int32_t{0}));
  return reshaped(numbers, build("Concat", {first_axis, shape_of(numbers), ones}));
}

edge rows_of(edge x) {
  if (x.dims().has_rank() && x.dims()[0] != unknown_extent)
    return constant_like(x, tensor::scalar(x.dims()[0]));
  auto rows = build("Slice", {shape_of(x), integers_like(x, {0}), integers_like(x, {1})});
  return reshaped(rows, integers_like(x, {}));
}

edges segment_sum_gradient(gradient_context& at) {
  edges gradients{zero_unassigned(at, spread(at, at.output_gradient(0)))};
  gradients.resize(static_cast<size_t>(at.inputs()));
  return gradients;
}

edges segment_extreme_gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  auto chosen = cast_to(build("Equal", {x, spread(at, at.output(0))}), x.type());
  // Segments without rows distribute no gradient, so their count of 0 does not matter.
  auto count = build("Maximum", {combined(at, "Sum", chosen), scalar_like(x, 1)});
  edges gradients{zero_unassigned(at, chosen * spread(at, dy / count))};
  gradients.resize(static_cast<size_t>(at.inputs()));
  return gradients;
}

// The derivative for an element is the product of the other elements: the product of the nonzero
// elements, divided by the element, provided that no other element is zero.
edges segment_product_gradient(gradient_context& at) {
  auto x = at.input(0), zero = scalar_like(x, 0);
  auto is_zero = build("Equal", {x, zero});
  auto filled = build("Select", {is_zero, build("OnesLike", {x}), x});
  auto product_of_others = spread(at, combined(at, "Prod", filled)) / filled;
  auto zeros = cast_to(is_zero, x.type());
  auto other_zeros = spread(at, combined(at, "Sum", zeros)) - zeros;
  auto derivative =
      build("Select", {build("Equal", {other_zeros, zero}), product_of_others, zeros_of(x)});
  edges gradients{zero_unassigned(at, spread(at, at.output_gradient(0)) * conjugate(derivative))};
  gradients.resize(static_cast<size_t>(at.inputs()));
  return gradients;
}

} // namespace troupe::ops
