// Rows distributed to several tensors by index, or merged into one again.
#include "troupe/ops/join/shared/dynamic_stitch.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::dynamic_stitch_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto &data = at.input(0), &partitions = at.input(1);
  auto out = partial_shape::unknown();
  if (data.has_rank() && partitions.has_rank()) {
    auto axes = static_cast<size_t>(partitions.rank());
    if (axes > data.extents().size() ||
        !partitions.compatible(partial_shape{std::vector<int64_t>(
            data.extents().begin(), data.extents().begin() + partitions.rank())}))
      return at.invalid("the shape of partitions ", partitions, " must begin the shape of data ",
                        data);
    std::vector<int64_t> extents{unknown_extent};
    extents.insert(extents.end(), data.extents().begin() + partitions.rank(), data.extents().end());
    TROUPE_ASSIGN(out, partial_shape::make(extents));
  }
  return shapes(static_cast<size_t>(at.attr<int64_t>("num_partitions")), out);
}

// The row numbers, partitioned in the same way, give the source of each part's rows.
edges gradient(gradient_context& at) {
  auto data = at.input(0), partitions = at.input(1);
  auto count = at.attr<int64_t>("num_partitions");
  auto number = [&](int32_t value) { return constant_like(data, tensor::scalar(value)); };
  auto rows = build("Range", {number(0), build("Size", {partitions}), number(1)});
  auto sorted = build("DynamicPartition", {reshaped(rows, shape_of(partitions)), partitions},
                      {{"num_partitions", count}});
  edges stitched;
  for (int i = 0; sorted && i < count; ++i)
    stitched.push_back({sorted.node, i});
  for (int i = 0; i < count; ++i)
    stitched.push_back(at.output_gradient(i));
  return {reshaped(build("ParallelDynamicStitch", stitched), shape_of(data)), {}};
}

} // namespace

extern constexpr op_def dynamic_partition{
    .name = "DynamicPartition",
    .doc = "Puts each row of data into the output that partitions names, in order.\n\nThe shape of "
           "partitions begins that of data; what is left is a row. A number outside of "
           "[0, num_partitions) fails.",
    .inputs = {{"data", "T"}, {"partitions", "i32"}},
    .outputs = {{"outputs", "T", "num_partitions"}},
    .attrs = {{"num_partitions", at_least{1}}, {"T", any_type}},
    .effects = effect::data_dependent_shape,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = DynamicPartition(f32[[1, 2], [3, 4], [5, 6]], i32[1, 0, 1]) num_partitions=2
fetch y = f32[[3, 4]]
fetch y:1 = f32[[1, 2], [5, 6]]
)",
};

extern constexpr op_def dynamic_stitch{
    .name = "DynamicStitch",
    .doc = "Makes row j of data[i] the row indices[i][j] of the output.\n\n"
           "The shape of indices[i] begins that of data[i]; what is left is a row. Of several "
           "rows with one number the last stays; rows that have none are zero.",
    .inputs = {{"indices", "i32", "N"}, {"data", "T", "N"}},
    .outputs = {{"merged", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", any_type}},
    .effects = effect::data_dependent_shape,
    .infer = infer_stitching,
    .gradient = stitching_gradient,
    .example = R"(
y = DynamicStitch(i32(1), i32[[2, 0]], f32[1, 2], f32[[[3, 4], [5, 6]]])
fetch y = f32[[5, 6], [1, 2], [3, 4]]
)",
};

extern constexpr op_def parallel_dynamic_stitch{
    .name = "ParallelDynamicStitch",
    .doc = "Makes row j of data[i] the row indices[i][j] of the output.\n\nThe shape of indices[i] "
           "begins that of data[i]; what is left is a row. Rows should have different numbers; "
           "rows that have none are zero.",
    .inputs = {{"indices", "i32", "N"}, {"data", "T", "N"}},
    .outputs = {{"merged", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", any_type}},
    .effects = effect::data_dependent_shape,
    .infer = infer_stitching,
    .gradient = stitching_gradient,
    .example = R"(
y = ParallelDynamicStitch(i32(1), i32[[2, 0]], f32[1, 2], f32[[[3, 4], [5, 6]]])
fetch y = f32[[5, 6], [1, 2], [3, 4]]
)",
};

} // namespace troupe::ops::dynamic_stitch_op
