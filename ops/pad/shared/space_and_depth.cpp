#include "troupe/ops/pad/shared/space_and_depth.hpp"

#include "troupe/ops/define/dims.hpp"

namespace troupe::ops {
namespace {

// The extents after the op; unknown ones stay unknown.
result<partial_shape> changed(partial_shape dims, const block_layout& layout, bool to_depth) {
  auto change = [&](int axis, int64_t factor, bool grows) -> status {
    auto extent = dims[axis];
    if (extent == unknown_extent)
      return {};
    if (grows ? __builtin_mul_overflow(extent, factor, &extent) : extent % factor != 0)
      return invalid("axis ", axis, " of ", dims, " does not go with block_size ", layout.size);
    dims.set(axis, grows ? extent : extent / factor);
    return {};
  };
  int64_t square = 0;
  if (__builtin_mul_overflow(layout.size, layout.size, &square))
    return invalid("block_size ", layout.size, " is too much");
  TROUPE_TRY(change(layout.rows(), layout.size, !to_depth));
  TROUPE_TRY(change(layout.rows() + 1, layout.size, !to_depth));
  TROUPE_TRY(change(layout.channels(), square, to_depth));
  return partial_shape::make(dims.extents());
}

} // namespace

result<shapes> infer_blocks(const infer_context& at, bool to_depth) {
  TROUPE_ASSIGN(auto dims, at.of_rank(0, 4));
  TROUPE_ASSIGN(auto layout, block_layout_of(at));
  TROUPE_ASSIGN(auto out, changed(dims, layout, to_depth));
  return shapes{out};
}

// Six axes: image, rows and columns of blocks, rows and columns in a block, channels.
status move_blocks(kernel_context& at, bool to_depth) {
  const auto& x = at.input(0);
  const auto& layout = at.state<block_layout>();
  if (x.rank() != 4)
    return invalid("input must have 4 axes, got shape ", x.dims());
  TROUPE_ASSIGN(auto output_shape, changed(x.dims(), layout, to_depth));
  TROUPE_ASSIGN(auto dims, shape::make(output_shape.extents()));
  const auto& space = to_depth ? x.dims() : dims;
  const auto& depth = to_depth ? dims : x.dims();
  auto strides = strides_of(space), deep = strides_of(depth);
  auto row = static_cast<size_t>(layout.rows()), channel = static_cast<size_t>(layout.channels());
  auto channels = space[layout.channels()];
  struct axis {
    int64_t extent, in_space, in_depth;
  };
  axis image{space[0], strides[0], deep[0]};
  axis rows{depth[layout.rows()], strides[row] * layout.size, deep[row]};
  axis columns{depth[layout.rows() + 1], strides[row + 1] * layout.size, deep[row + 1]};
  axis block_row{layout.size, strides[row], deep[channel] * layout.size * channels};
  axis block_column{layout.size, strides[row + 1], deep[channel] * channels};
  axis inner{channels, strides[channel], deep[channel]};
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  strided_iterator places;
  for (const auto& axis_strides :
       layout.channels_first ? std::array{image, block_row, block_column, inner, rows, columns}
                             : std::array{image, rows, columns, block_row, block_column, inner})
    places.push_back(axis_strides.extent,
                     {to_depth ? axis_strides.in_space : axis_strides.in_depth,
                      to_depth ? axis_strides.in_depth : axis_strides.in_space});
  copy_between(at, places, {x}, {*out});
  return {};
}

result<std::shared_ptr<void>> keep_block_layout(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto layout, block_layout_of(setup.origin));
  return std::shared_ptr<void>{std::make_shared<block_layout>(layout)};
}

} // namespace troupe::ops
