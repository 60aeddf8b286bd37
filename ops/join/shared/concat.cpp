#include "troupe/ops/join/shared/concat.hpp"

#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"

namespace troupe::ops {
namespace {

// The values are all inputs except the axis.
int values_end(int inputs, int axis) { return axis == 0 ? inputs : inputs - 1; }

} // namespace

result<shapes> infer_concatenation(const infer_context& at, int axis, int first) {
  TROUPE_TRY(at.of_rank(axis, 0));
  auto known_axis = at.integers(axis);
  auto joint = partial_shape::unknown();
  std::optional<int> along;
  int64_t extent = 0;
  for (int i = first; i < values_end(at.inputs(), axis); ++i) {
    auto dims = at.input(i);
    if (!dims.has_rank()) {
      extent = unknown_extent;
      continue;
    }
    if (dims.rank() == 0)
      return at.invalid("values must have an axis, got a scalar");
    if (known_axis) {
      TROUPE_ASSIGN(along, resolve_axis(known_axis->front(), dims.rank()));
      auto value_extent = dims[*along];
      if (value_extent == unknown_extent || extent == unknown_extent)
        extent = unknown_extent;
      else if (__builtin_add_overflow(extent, value_extent, &extent))
        return at.invalid("the values are too large together");
      dims.set(*along, unknown_extent);
    } else {
      dims = partial_shape::of_rank(dims.rank());
    }
    auto merged = merge(joint, dims);
    if (!merged)
      return at.invalid("all values must have one shape but for the axis; value ", i - first,
                        " has ", at.input(i), ", the ones before ", joint);
    joint = *std::move(merged);
  }
  if (along)
    joint.set(*along, extent);
  return shapes{joint};
}

// Each value's gradient is a slice that begins where the previous value ends.
edges concatenation_gradient(gradient_context& at, int axis, int first) {
  edges parts(static_cast<size_t>(at.inputs()));
  auto along = at.input(axis), dy = at.output_gradient(0);
  auto value = at.input(first);
  // A vector with 1 at the axis and 0 elsewhere.
  edge direction;
  auto known_axis = constant_integers(along);
  if (known_axis && value.dims().has_rank()) {
    auto rank = value.dims().rank();
    std::vector<int64_t> ones(static_cast<size_t>(rank), 0);
    ones[static_cast<size_t>(known_axis->front() < 0 ? known_axis->front() + rank
                                                     : known_axis->front())] = 1;
    direction = integers_like(dy, ones);
  } else {
    auto rank = build("Rank", {value});
    auto one_edge = constant_like(dy, tensor::scalar(int64_t{1}));
    auto zero = constant_like(dy, tensor::scalar(int64_t{0}));
    auto from_end = along + cast_to(rank, along.type());
    // A negative axis and its counterpart counted from the end: one of them is out of range and
    // gives zeros.
    direction = build("OneHot", {along, rank, one_edge, zero}) +
                build("OneHot", {from_end, rank, one_edge, zero});
  }
  auto begin = zeros_of(direction);
  for (int i = first; i < values_end(at.inputs(), axis); ++i) {
    auto extents = shape_of(at.input(i));
    parts[static_cast<size_t>(i)] = build("Slice", {dy, begin, extents});
    begin = begin + extents * direction;
  }
  return parts;
}

status concatenate(kernel_context& at, int axis, int first) {
  if (at.input(axis).elements() != 1)
    return invalid("the axis must be a scalar, got shape ", at.input(axis).dims());
  auto dims = at.input(first).dims();
  auto end = values_end(at.inputs(), axis);
  TROUPE_ASSIGN(auto along, resolve_axis(to_integers(at.input(axis))[0], dims.rank()));
  int64_t extent = 0;
  for (int i = first; i < end; ++i) {
    auto value_shape = at.input(i).dims();
    if (value_shape.rank() != dims.rank())
      return invalid("all values must have ", dims.rank(), " axes, got ", value_shape);
    if (__builtin_add_overflow(extent, value_shape[along], &extent))
      return invalid("the values are too large together");
    value_shape.set(along, dims[along]);
    if (!(value_shape == dims))
      return invalid("all values must have one shape but for axis ", along, ", got ",
                     at.input(i).dims(), " after ", at.input(first).dims());
  }
  dims.set(along, extent);
  TROUPE_ASSIGN(auto joint, shape::make(dims.extents()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, joint));
  auto outer = product(joint, 0, along), inner = product(joint, along + 1, joint.rank());
  int64_t done = 0;
  for (int i = first; i < end; ++i) {
    auto length = at.input(i).dims()[along] * inner;
    strided_iterator places;
    places.push_back(outer, {extent * inner, 0});
    places.push_back(length, {1, 0});
    copy_to_strided(at, places, at.input(i), {*out, done});
    done += length;
  }
  return {};
}

} // namespace troupe::ops
