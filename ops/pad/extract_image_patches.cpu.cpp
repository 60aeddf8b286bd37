#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/pad/shared/patch_plan.hpp"

namespace troupe::ops::extract_image_patches_cpu {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  const auto& layout = at.state<patch_layout>();
  const auto &rows = layout.axes[0], &columns = layout.axes[1];
  TROUPE_ASSIGN(auto plan, plan_patches(x, layout));
  auto height = x.dims()[1], width = x.dims()[2], channels = x.dims()[3];
  const auto &down = plan.down, &across = plan.across;
  auto depth = plan.depth;
  TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto zero, zero_of(x.type()));
  auto cost = 0.5 * static_cast<double>(depth) + 5.0 * static_cast<double>(depth / channels);
  at.parallel_for(out->elements() / depth, cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto first_column = i % across.count * columns.stride - across.before;
      auto top = i / across.count % down.count * rows.stride - down.before;
      auto image = i / across.count / down.count * height;
      auto to = i * depth;
      for (int64_t r = 0; r < rows.size; ++r)
        for (int64_t c = 0; c < columns.size; ++c, to += channels) {
          auto y = top + r * rows.rate, at_column = first_column + c * columns.rate;
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
    .prepare = keep_patches,
};

} // namespace troupe::ops::extract_image_patches_cpu
