// Splits a tensor along an axis, into equal parts or parts of given lengths.
#include "troupe/ops/join/shared/split.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::split_op {
namespace {

result<shapes> infer_split(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  auto dims = at.input(1);
  auto parts = at.attr<int64_t>("num_split");
  auto axis = at.integers(0);
  if (dims.has_rank() && axis) {
    TROUPE_ASSIGN(auto along, resolve_axis(axis->front(), dims.rank()));
    auto extent = dims[along];
    if (extent != unknown_extent && extent % parts != 0)
      return at.invalid("axis ", along, " of ", dims, " cannot be cut into ", parts,
                        " equal parts");
    dims.set(along, extent == unknown_extent ? extent : extent / parts);
  } else if (dims.has_rank()) {
    dims = partial_shape::of_rank(dims.rank());
  }
  return shapes(static_cast<size_t>(parts), dims);
}

edges split_gradient(gradient_context& at) {
  std::vector<edge> parts{at.input(0)};
  for (int64_t i = 0; i < at.attr<int64_t>("num_split"); ++i)
    parts.push_back(at.output_gradient(static_cast<int>(i)));
  return {{}, build("Concat", parts)};
}

result<shapes> infer_split_v(const infer_context& at) {
  auto parts = at.attr<int64_t>("num_split");
  TROUPE_ASSIGN(auto list, at.of_rank(1, 1));
  TROUPE_TRY(merge(list, {parts}));
  TROUPE_TRY(at.of_rank(2, 0));
  const auto& dims = at.input(0);
  auto axis = at.integers(2), sizes = at.integers(1);
  if (!dims.has_rank() || !axis)
    return shapes(static_cast<size_t>(parts),
                  dims.has_rank() ? partial_shape::of_rank(dims.rank()) : partial_shape::unknown());
  TROUPE_ASSIGN(auto along, resolve_axis(axis->front(), dims.rank()));
  if (sizes && dims[along] != unknown_extent)
    TROUPE_TRY(resolve_sizes(*sizes, dims[along]));
  shapes out;
  for (size_t i = 0; i < static_cast<size_t>(parts); ++i) {
    out.push_back(dims);
    out.back().set(along, sizes ? (*sizes)[i] : unknown_extent);
    TROUPE_TRY(partial_shape::make(out.back().extents()));
  }
  return out;
}

edges split_v_gradient(gradient_context& at) {
  std::vector<edge> parts{at.input(2)};
  for (int64_t i = 0; i < at.attr<int64_t>("num_split"); ++i)
    parts.push_back(at.output_gradient(static_cast<int>(i)));
  return {build("Concat", parts), {}, {}};
}

} // namespace

extern constexpr op_def split{
    .name = "Split",
    .doc = "Cuts a tensor along axis split_dim into num_split parts of equal extent.",
    .inputs = {on_host("split_dim", "i32"), {"value", "T"}},
    .outputs = {{"output", "T", "num_split"}},
    .attrs = {{"num_split", at_least{1}}, {"T", any_type}},
    .effects = effect::autocast_infer,
    .infer = infer_split,
    .gradient = split_gradient,
    .example = R"(
y = Split(i32(1), f32[[1, 2], [3, 4]]) num_split=2
fetch y = f32[[1], [3]]
fetch y:1 = f32[[2], [4]]
)",
};

extern constexpr op_def split_v{
    .name = "SplitV",
    .doc = "Cuts a tensor along axis split_dim into parts of the extents that size_splits lists."
           "\n\nOne of them may be -1: that part gets what is left. Together they must make up "
           "the axis.",
    .inputs = {{"value", "T"}, on_host("size_splits", "Tlen"), on_host("split_dim", "i32")},
    .outputs = {{"output", "T", "num_split"}},
    .attrs = {{"num_split", at_least{1}}, {"T", any_type}, {"Tlen", index_types, dtype::i64}},
    .effects = effect::autocast_infer,
    .infer = infer_split_v,
    .gradient = split_v_gradient,
    .example = R"(
y = SplitV(f32[[1, 2, 3], [4, 5, 6]], i64[1, -1], i32(1)) num_split=2
fetch y = f32[[1], [4]]
fetch y:1 = f32[[2, 3], [5, 6]]
)",
};

} // namespace troupe::ops::split_op
