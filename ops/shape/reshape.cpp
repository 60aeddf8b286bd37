// Reshapes: the same elements with another shape.
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

#include <algorithm>

namespace troupe::ops::reshape_op {
namespace {

result<shapes> infer_reshape(const infer_context& at) {
  TROUPE_ASSIGN(auto target_shape, listed_shape(at, 1));
  auto constant = at.integers(1);
  if (auto elements = at.input(0).elements(); constant && elements != unknown_extent) {
    TROUPE_ASSIGN(auto dims, fit_elements(*constant, elements));
    return shapes{dims};
  }
  if (constant && std::ranges::count(*constant, unknown_extent) > 1)
    return at.invalid("only one extent may be -1, got ", target_shape);
  return shapes{target_shape};
}

edges reshape_gradient(gradient_context& at) {
  return {reshaped(at.output_gradient(0), shape_of(at.input(0))), {}};
}

// The product of the known extents, if at most one is unknown and none is zero; otherwise 0.
int64_t known_elements(const partial_shape& dims) {
  if (!dims.has_rank() || std::ranges::count(dims.extents(), unknown_extent) > 1)
    return 0;
  int64_t product = 1;
  for (auto extent : dims.extents())
    product *= extent == unknown_extent ? 1 : extent;
  return product;
}

bool equal_in_every_run(const partial_shape& a, const partial_shape& b) {
  return a == b && known_elements(a) > 0;
}

// Whether a reshape to `to` cannot fail, for any value of the unknown extent.
bool always_fits(const partial_shape& from, const partial_shape& to) {
  auto from_product = known_elements(from), to_product = known_elements(to);
  if (from_product == 0 || to_product == 0)
    return false;
  return to.fully_known() ? from.fully_known() && from_product == to_product
                          : from_product % to_product == 0;
}

// Of two consecutive reshapes only the last is needed; a reshape to the same shape is removed.
edge simplify(simplify_context& at) {
  if (equal_in_every_run(at.input(0).dims(), at.output_shape()))
    return at.input(0);
  auto* inner = at.same_op_behind(0);
  if (!inner || !at.constant(1) || !constant_integers(inner->inputs()[1]))
    return {};
  auto from = inner->inputs()[0];
  if (!always_fits(from.dims(), at.input(0).dims()))
    return {};
  return equal_in_every_run(from.dims(), at.output_shape()) ? from
                                                            : at.op("Reshape", {from, at.input(1)});
}

result<shapes> infer_expand_dims(const infer_context& at) {
  if (at.input(1).has_rank() && at.input(1).elements() > 1)
    return at.invalid("dim must be one number, got shape ", at.input(1));
  const auto& dims = at.input(0);
  if (!dims.has_rank())
    return shapes{partial_shape::unknown()};
  auto axis = at.integers(1);
  std::vector<int64_t> extents{dims.extents().begin(), dims.extents().end()};
  extents.push_back(unknown_extent);
  if (axis && axis->size() == 1) {
    TROUPE_ASSIGN(auto new_axis, resolve_axis(axis->front(), dims.rank() + 1));
    extents.pop_back();
    extents.insert(extents.begin() + new_axis, 1);
  } else {
    std::ranges::fill(extents, unknown_extent);
  }
  TROUPE_ASSIGN(auto expanded, partial_shape::make(extents));
  return shapes{expanded};
}

edges expand_dims_gradient(gradient_context& at) {
  return {reshaped(at.output_gradient(0), shape_of(at.input(0))), {}};
}

result<shapes> infer_squeeze(const infer_context& at) {
  const auto& dims = at.input(0);
  const auto& listed = at.attr<std::vector<int64_t>>("squeeze_dims");
  if (!dims.has_rank() || (listed.empty() && !dims.fully_known()))
    return shapes{partial_shape::unknown()};
  TROUPE_ASSIGN(auto axes, axes_of(listed, dims.rank()));
  for (int axis = 0; axis < dims.rank(); ++axis)
    if (listed.empty())
      axes.set(static_cast<size_t>(axis), dims[axis] == 1);
    else if (axes[static_cast<size_t>(axis)] && dims[axis] != 1 && dims[axis] != unknown_extent)
      return at.invalid("cannot remove axis ", axis, " of ", dims, ": its extent is not 1");
  return shapes{without(dims, axes, false)};
}

edges squeeze_gradient(gradient_context& at) {
  return {reshaped(at.output_gradient(0), shape_of(at.input(0)))};
}

} // namespace

extern constexpr op_def reshape{
    .name = "Reshape",
    .doc = "Gives its input another shape of as many elements.\n\nOne extent may be -1: it becomes "
           "what is left. The memory is shared.",
    .inputs = {{"tensor", "T"}, on_host("shape", "Tshape")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tshape", index_types, dtype::i32}},
    .effects = effect::autocast_infer,
    .infer = infer_reshape,
    .gradient = reshape_gradient,
    .simplify = simplify,
    .example = R"(
y = Reshape(f32[[1, 2, 3], [4, 5, 6]], i32[3, -1])
fetch y = f32[[1, 2], [3, 4], [5, 6]]
)",
};

extern constexpr op_def expand_dims{
    .name = "ExpandDims",
    .doc = "Adds an axis of extent 1 in front of axis dim.\n\nA negative dim counts from the end: "
           "-1 adds the last axis. The memory is shared.",
    .inputs = {{"input", "T"}, on_host("dim", "Tdim")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tdim", index_types, dtype::i32}},
    .effects = effect::autocast_infer,
    .infer = infer_expand_dims,
    .gradient = expand_dims_gradient,
    .example = R"(
y = ExpandDims(f32[1, 2], i32(0))
z = ExpandDims(f32[1, 2], i32(-1))
fetch y = f32[[1, 2]]
fetch z = f32[[1], [2]]
)",
};

extern constexpr op_def squeeze{
    .name = "Squeeze",
    .doc = "Removes the axes in squeeze_dims, whose extent must be 1; by default all axes of "
           "extent 1.\n\nThe memory is shared.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"squeeze_dims", attr_kind::integers, true}},
    .effects = effect::autocast_infer,
    .infer = infer_squeeze,
    .gradient = squeeze_gradient,
    .example = R"(
y = Squeeze(f32[[[1], [2]]])
z = Squeeze(f32[[[1], [2]]]) squeeze_dims=[-1]
fetch y = f32[1, 2]
fetch z = f32[[1, 2]]
)",
};

} // namespace troupe::ops::reshape_op
