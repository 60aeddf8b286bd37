#include "troupe/ops/index/shared/nd_indices.hpp"

#include "troupe/ops/define/dims.hpp"

namespace troupe::ops {
namespace {

status check_policy(std::string_view policy) {
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR" || policy == "IGNORE")
    return {};
  return invalid("bad_indices_policy must be ERROR or IGNORE, got '", policy, "'");
}

} // namespace

result<block_shape> block_shape_of(const tensor& indices, const shape& dims,
                                   std::string_view policy) {
  TROUPE_TRY(check_policy(policy));
  const auto& rows = indices.dims();
  if (rows.rank() == 0 || rows[rows.rank() - 1] > dims.rank())
    return invalid("the last axis of indices ", rows, " must list at most ", dims.rank(),
                   " coordinates");
  block_shape blocks;
  blocks.depth = static_cast<int>(rows[rows.rank() - 1]);
  std::vector<int64_t> extents{rows.begin(), rows.end() - 1};
  extents.insert(extents.end(), dims.begin() + blocks.depth, dims.end());
  TROUPE_ASSIGN(blocks.dims, shape::make(extents));
  for (auto axis = blocks.depth; axis < dims.rank(); ++axis)
    blocks.length *= dims[axis];
  for (int axis = 0; axis + 1 < rows.rank(); ++axis)
    blocks.count *= rows[axis];
  return blocks;
}

result<named_blocks> blocks_named(kernel_context& at, const tensor& indices, const shape& dims,
                                  std::string_view policy) {
  TROUPE_ASSIGN(auto blocks, block_shape_of(indices, dims, policy));
  auto depth = static_cast<size_t>(blocks.depth);
  auto count = blocks.count;
  named_blocks named{blocks.dims, blocks.length, {}};
  auto coordinates = to_integers(indices);
  if (depth == 0) // there may be more rows than fit into memory
    TROUPE_TRY(tensor::make(dtype::i64, {count}, at.memory()));
  named.places.reserve(static_cast<size_t>(count));
  for (size_t row = 0; row < static_cast<size_t>(count); ++row) {
    int64_t place = 0;
    for (size_t i = 0; i < depth && place >= 0; ++i) {
      auto coordinate = coordinates[row * depth + i], extent = dims[static_cast<int>(i)];
      if (coordinate >= 0 && coordinate < extent)
        place = place * extent + coordinate;
      else if (policy == "IGNORE")
        place = -1;
      else
        return invalid("indices has the coordinate ", coordinate, ", but axis ", i, " of ", dims,
                       " has the places [0, ", extent, ')');
    }
    named.places.push_back(place);
  }
  return named;
}

result<partial_shape> infer_named_blocks(const infer_context& at, const partial_shape& indices,
                                         const partial_shape& dims) {
  if (at.has_attr("bad_indices_policy"))
    TROUPE_TRY(check_policy(at.attr<std::string>("bad_indices_policy")));
  if (!indices.has_rank())
    return partial_shape::unknown();
  if (indices.rank() == 0)
    return at.invalid("indices must have an axis of coordinates, got a scalar");
  auto depth = indices[indices.rank() - 1];
  if (depth == unknown_extent || !dims.has_rank())
    return partial_shape::unknown();
  if (depth > dims.rank())
    return at.invalid("the last axis of indices ", indices, " must list at most ", dims.rank(),
                      " coordinates");
  std::vector<int64_t> extents{indices.extents().begin(), indices.extents().end() - 1};
  extents.insert(extents.end(), dims.extents().begin() + depth, dims.extents().end());
  return partial_shape::make(extents);
}

result<shapes> infer_tensor_scatter(const infer_context& at) {
  TROUPE_ASSIGN(auto blocks, infer_named_blocks(at, at.input(1), at.input(0)));
  TROUPE_TRY(merge(blocks, at.input(2)));
  return shapes{at.input(0)};
}

} // namespace troupe::ops
