// UnsortedSegmentSum: sums of the rows that have the same number.
#include "troupe/ops/build.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(2, 0));
  const auto &data = at.input(0), &ids = at.input(1);
  if (!data.has_rank() || !ids.has_rank())
    return shapes{partial_shape::unknown()};
  auto leading = data.extents().first(static_cast<size_t>(std::min(ids.rank(), data.rank())));
  if (ids.rank() > data.rank() ||
      !ids.compatible(partial_shape{std::vector<int64_t>{leading.begin(), leading.end()}}))
    return at.invalid("the shape of segment_ids ", ids, " must begin the shape of data ", data);
  auto count = at.integers(2);
  std::vector<int64_t> dims{count ? count->at(0) : unknown_extent};
  if (count && dims[0] < 0)
    return at.invalid("num_segments must not be negative, got ", dims[0]);
  dims.insert(dims.end(), data.extents().begin() + ids.rank(), data.extents().end());
  TROUPE_ASSIGN(auto checked, partial_shape::make(dims));
  return shapes{checked};
}

// Rows that went nowhere get zeros.
edges gradient(gradient_context& at) {
  auto data = at.input(0), ids = at.input(1), dy = at.output_gradient(0);
  auto zero = scalar_like(ids, 0);
  auto rows = build("Gather", {dy, build("Maximum", {ids, zero})});
  // One truth value for each row, with as many axes as data.
  auto more = build("Rank", {data}) - build("Rank", {ids});
  auto vector = reshaped(more, integers_like(data, {1}));
  auto ones = build("Fill", {vector, constant_like(data, tensor::scalar(int64_t{1}))});
  auto first_axis = constant_like(data, tensor::scalar(int32_t{0}));
  auto dims = build("Concat", {first_axis, shape_of(ids), ones});
  auto kept = cast_to(build("GreaterEqual", {ids, zero}), data.type());
  return {rows * reshaped(kept, dims), {}, {}};
}

} // namespace

extern constexpr op_def unsorted_segment_sum{
    .name = "UnsortedSegmentSum",
    .doc = "Adds up the rows of data that have the same number in segment_ids.\n\nRow i of the "
           "output is the sum of the rows numbered i, or zeros. Rows with a negative number are "
           "left out; a number beyond num_segments fails.",
    .inputs = {{"data", "T"}, {"segment_ids", "Tindices"}, {"num_segments", "Tnumsegments"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tindices", index_types}, {"Tnumsegments", index_types, dtype::i32}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = UnsortedSegmentSum(f32[[1, 2], [3, 4], [5, 6]], i32[0, 2, 0], i32(3))
fetch y = f32[[6, 8], [0, 0], [3, 4]]
)",
};

} // namespace troupe::ops
