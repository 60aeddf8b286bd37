#include "troupe/ops/array/patches.hpp"
#include "troupe/ops/copy.hpp"
#include "troupe/runtime/graph.hpp"

namespace troupe::ops {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto layout, patch_layout::of(setup.of));
  return std::shared_ptr<void>{std::make_shared<patch_layout>(layout)};
}

status run(kernel_context& at) {
  const auto& x = at.input(0);
  const auto& layout = at.state<patch_layout>();
  const auto &rows = layout.axes[0], &columns = layout.axes[1];
  if (x.rank() != 4)
    return invalid("images must have 4 axes, got shape ", x.dims());
  auto height = x.dims()[1], width = x.dims()[2], channels = x.dims()[3];
  TROUPE_ASSIGN(auto down, place_patches(height, rows, layout.same_padding));
  TROUPE_ASSIGN(auto across, place_patches(width, columns, layout.same_padding));
  int64_t depth = 0;
  if (__builtin_mul_overflow(rows.size, columns.size, &depth) ||
      __builtin_mul_overflow(depth, channels, &depth))
    return invalid("patches of ", rows.size, " x ", columns.size, " pixels are too much");
  TROUPE_ASSIGN(auto dims, shape::make(std::array{x.dims()[0], down.count, across.count, depth}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto zero, zero_of(x.type()));
  auto cost = 0.5 * static_cast<double>(depth) + 5.0 * static_cast<double>(depth / channels);
  at.parallel_for(out->elements() / depth, cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto left = i % across.count * columns.stride - across.before;
      auto top = i / across.count % down.count * rows.stride - down.before;
      auto image = i / across.count / down.count * height;
      auto to = i * depth;
      for (int64_t r = 0; r < rows.size; ++r)
        for (int64_t c = 0; c < columns.size; ++c, to += channels) {
          auto y = top + r * rows.rate, at_column = left + c * columns.rate;
          if (y >= 0 && y < height && at_column >= 0 && at_column < width)
            copy_elements({x, ((image + y) * width + at_column) * channels}, {*out, to}, channels);
          else
            fill_elements(zero, {*out, to}, channels);
        }
    }
  });
  return {};
}

} // namespace

extern constexpr kernel_def extract_image_patches_cpu{
    .op = "ExtractImagePatches",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops
