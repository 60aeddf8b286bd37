// Tile: a tensor repeated along its axes.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::tile_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto multiples, listed_extents(at, 1));
  auto dims = at.input(0);
  if (!dims.has_rank() || !multiples.has_rank())
    return shapes{dims.has_rank() ? partial_shape::of_rank(dims.rank()) : partial_shape::unknown()};
  if (multiples.rank() != dims.rank())
    return at.invalid("multiples must list ", dims.rank(), " axes, got ", multiples.rank());
  auto known_multiples = at.integers(1);
  for (int axis = 0; axis < dims.rank(); ++axis) {
    int64_t extent = unknown_extent;
    if (known_multiples && dims[axis] != unknown_extent &&
        __builtin_mul_overflow(dims[axis], multiples[axis], &extent))
      return at.invalid("multiples of ", multiples, " are too much");
    dims.set(axis, extent);
  }
  TROUPE_ASSIGN(auto checked, partial_shape::make(dims.extents()));
  return shapes{checked};
}

edge part(edge list, int64_t from, int64_t count) {
  return build("Slice", {list, integers_like(list, {from}), integers_like(list, {count})});
}

// The repetitions become separate axes, which are summed over: all at a time where the rank is
// unknown, otherwise one after another, because a tensor cannot have twice as many axes.
edges gradient(gradient_context& at) {
  auto x = at.input(0), gradient = at.output_gradient(0);
  auto extents = shape_of(x), multiples = cast_to(at.input(1), dtype::i64);
  auto number = [&](int32_t value) { return constant_like(x, tensor::scalar(value)); };
  if (!x.dims().has_rank()) {
    auto pairs = build("Pack", {multiples, extents}, {{"axis", 1}});
    auto axes = build("Range", {number(0), build("Size", {pairs}), number(2)});
    auto split = reshaped(gradient, reshaped(pairs, integers_like(x, {-1})));
    return {build("Sum", {split, axes}), {}};
  }
  for (int axis = 0; axis < x.dims().rank(); ++axis) {
    auto behind = part(extents, axis + 1, -1) * part(multiples, axis + 1, -1);
    auto split = build("Concat", {number(0), part(extents, 0, axis), part(multiples, axis, 1),
                                  part(extents, axis, 1), behind});
    gradient = sum_over(reshaped(gradient, split), {axis});
  }
  return {gradient, {}};
}

} // namespace

extern constexpr op_def tile{
    .name = "Tile",
    .doc = "Repeats the input multiples[i] times along axis i.",
    .inputs = {{"input", "T"}, on_host("multiples", "Tmultiples")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tmultiples", index_types, dtype::i32}},
    .effects = effect::autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Tile(f32[[1, 2]], i32[2, 2])
fetch y = f32[[1, 2, 1, 2], [1, 2, 1, 2]]
)",
};

} // namespace troupe::ops::tile_op
