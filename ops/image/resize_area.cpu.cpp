#include "troupe/ops/image/shared/resize.cpu.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::resize_area_cpu {
namespace {

status run(kernel_context& at) {
  return resize_images(at, {.align_corners = at.state<bool>()}, filter_of<area_taps>);
}

} // namespace

extern constexpr kernel_def resize_area_cpu{
    .op = "ResizeArea",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<bool, "align_corners">,
};

} // namespace troupe::ops::resize_area_cpu
