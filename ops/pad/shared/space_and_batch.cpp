#include "troupe/ops/pad/shared/space_and_batch.hpp"

#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

result<int64_t> product_of(const std::vector<int64_t>& sizes) {
  int64_t product = 1;
  for (auto size : sizes) {
    if (size < 1)
      return invalid("block extents must be positive, got ", size);
    if (__builtin_mul_overflow(product, size, &product))
      return invalid("block extents are too much");
  }
  return product;
}

// The extent of an axis that is padded and split into blocks, or joined from blocks and cropped.
result<int64_t> batched_extent(int64_t extent, int64_t size, int64_t before, int64_t after,
                               batching direction) {
  if (before < 0 || after < 0)
    return invalid("paddings and crops must not be negative, got ", before, " and ", after);
  int64_t frame = 0;
  auto overflow = __builtin_add_overflow(before, after, &frame);
  if (direction == batching::space_to_batch) {
    if (overflow || __builtin_add_overflow(extent, frame, &extent) || extent % size != 0)
      return invalid("the padded axis must be a multiple of its block extent ", size,
                     ", paddings are ", before, " and ", after);
    return extent / size;
  }
  if (overflow || __builtin_mul_overflow(extent, size, &extent) || frame > extent)
    return invalid("crops of ", before, " and ", after, " are too much");
  return extent - frame;
}

// The range of an axis, in its split form, whose elements the joined form has as well.
struct overlap {
  int64_t first, count;
};

overlap overlap_of(int64_t blocks, int64_t whole, int64_t size, int64_t offset) {
  auto first = offset < 0 ? (-offset + size - 1) / size : 0;
  auto last = offset >= whole ? 0 : (whole - 1 - offset) / size + 1;
  return {first, std::max<int64_t>(0, std::min(last, blocks) - first)};
}

} // namespace

result<partial_shape> batched_shape(const partial_shape& dims, const std::vector<int64_t>& sizes,
                                    const std::optional<std::vector<int64_t>>& frames,
                                    batching direction) {
  if (!dims.has_rank())
    return dims;
  if (static_cast<size_t>(dims.rank()) <= sizes.size())
    return invalid("input must have a batch and ", sizes.size(), " more axes, got shape ", dims);
  TROUPE_ASSIGN(auto factor, product_of(sizes));
  auto out = dims;
  if (auto batch = dims[0]; batch != unknown_extent) {
    if (direction == batching::space_to_batch ? __builtin_mul_overflow(batch, factor, &batch)
                                              : batch % factor != 0)
      return invalid("the batch of ", dims, " does not go with blocks of ", factor);
    out.set(0, direction == batching::space_to_batch ? batch : batch / factor);
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto axis = static_cast<int>(i) + 1;
    auto extent = unknown_extent;
    if (frames && dims[axis] != unknown_extent) {
      TROUPE_ASSIGN(extent, batched_extent(dims[axis], sizes[i], (*frames)[2 * i],
                                           (*frames)[2 * i + 1], direction));
    }
    out.set(axis, extent);
  }
  return partial_shape::make(out.extents());
}

result<shapes> infer_batching(const infer_context& at, batching direction) {
  TROUPE_ASSIGN(auto block, at.of_rank(1, 1));
  TROUPE_ASSIGN(auto table, at.of_rank(2, 2));
  TROUPE_TRY(merge(table, {block[0], 2}));
  const auto& dims = at.input(0);
  if (auto sizes = at.integers(1)) {
    TROUPE_ASSIGN(auto out, batched_shape(dims, *sizes, at.integers(2), direction));
    return shapes{out};
  }
  return shapes{dims.has_rank() ? partial_shape::of_rank(dims.rank()) : dims};
}

result<shapes> infer_square_batching(const infer_context& at, batching direction) {
  TROUPE_ASSIGN(auto dims, at.of_rank(0, 4));
  TROUPE_ASSIGN(auto table, at.of_rank(1, 2));
  TROUPE_TRY(merge(table, {2, 2}));
  auto size = at.attr<int64_t>("block_size");
  TROUPE_ASSIGN(auto out, batched_shape(dims, {size, size}, at.integers(1), direction));
  return shapes{out};
}

// For each position in a block, one part of the batch takes every size-th element of the space.
status move_batches(kernel_context& at, const batch_blocks& blocks, batching direction) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto output_shape, batched_shape(x.dims(), blocks.sizes, blocks.frames, direction));
  TROUPE_ASSIGN(auto dims, shape::make(output_shape.extents()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto to_batch = direction == batching::space_to_batch;
  if (to_batch)
    fill_zeros(at, *out);
  if (out->elements() == 0 || x.elements() == 0)
    return {};
  const auto& whole = to_batch ? x.dims() : dims;
  const auto& parts = to_batch ? dims : x.dims();
  auto in_whole = strides_of(whole), in_parts = strides_of(parts);
  auto count = blocks.sizes.size();
  auto inner = product(whole, static_cast<int>(count) + 1, whole.rank());
  std::vector<int64_t> place(count);
  for (int64_t part = 0; part < parts[0] / whole[0] && !at.stopped(); ++part) {
    auto remaining = part;
    for (auto i = count; i-- > 0; remaining /= blocks.sizes[i])
      place[i] = remaining % blocks.sizes[i];
    auto first_whole = int64_t{0}, first_part = part * whole[0] * in_parts[0];
    strided_iterator places;
    auto add = [&](int64_t extent, int64_t stride_whole, int64_t stride_part) {
      places.push_back(
          extent, {to_batch ? stride_whole : stride_part, to_batch ? stride_part : stride_whole});
    };
    add(whole[0], in_whole[0], in_parts[0]);
    for (size_t i = 0; i < count; ++i) {
      auto axis = static_cast<int>(i) + 1;
      auto offset = place[i] - blocks.frames[2 * i];
      auto common = overlap_of(parts[axis], whole[axis], blocks.sizes[i], offset);
      first_whole += (common.first * blocks.sizes[i] + offset) * in_whole[i + 1];
      first_part += common.first * in_parts[i + 1];
      add(common.count, blocks.sizes[i] * in_whole[i + 1], in_parts[i + 1]);
    }
    add(inner, 1, 1);
    if (places.elements() > 0)
      copy_between(at, places, {x, to_batch ? first_whole : first_part},
                   {*out, to_batch ? first_part : first_whole});
  }
  return {};
}

status move_batches_nd(kernel_context& at, batching direction) {
  const auto &block = at.input(1), &table = at.input(2);
  if (block.rank() != 1 || !(table.dims() == shape{block.elements(), 2}))
    return invalid("the block must be a vector, and before it and behind it listed for each of its "
                   "axes; got shapes ",
                   block.dims(), " and ", table.dims());
  auto sizes = to_integers(block), frames = to_integers(table);
  return move_batches(at, {{sizes.begin(), sizes.end()}, {frames.begin(), frames.end()}},
                      direction);
}

status move_square_batches(kernel_context& at, batching direction) {
  auto size = at.state<int64_t>();
  if (at.input(0).rank() != 4 || !(at.input(1).dims() == shape{2, 2}))
    return invalid("input must have 4 axes and its frame shape [2,2], got ", at.input(0).dims(),
                   " and ", at.input(1).dims());
  auto frames = to_integers(at.input(1));
  return move_batches(at, {{size, size}, {frames.begin(), frames.end()}}, direction);
}

} // namespace troupe::ops
