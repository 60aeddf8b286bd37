#include "troupe/ops/image/shared/drawn_boxes.hpp"
#include "troupe/ops/image/shared/resize.cuda.hpp"

namespace troupe::ops::draw_bounding_boxes_gpu {
namespace {

// Each element looks for the last box that covers it.
template <class T>
struct draw_boxes_body {
  ink_colors colors;
  int64_t height, width, channels, count;
  const float* boxes;
  const T* from;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto position = gpu::place_in(i, height, width, channels);
    for (auto box = count - 1; box >= 0; --box) {
      auto outline = outline_of(boxes + (position.image * count + box) * 4, height, width);
      if (!is_seen(outline, height, width))
        continue;
      auto within = position.row >= outline.top && position.row <= outline.bottom &&
                    position.column >= outline.left && position.column <= outline.right;
      auto edge = position.row == outline.top || position.row == outline.bottom ||
                  position.column == outline.left || position.column == outline.right;
      if (within && edge) {
        const auto& ink = colors[static_cast<size_t>(box) % colors.size()];
        to[i] = gpu::store<T>(channels == 1 ? 1.0f : ink[static_cast<size_t>(position.channel)]);
        return;
      }
    }
    to[i] = from[i];
  }
};

template <class T>
status run_draw_boxes(kernel_context& at) {
  TROUPE_TRY(check_boxes_to_draw(at));
  const auto &images = at.input(0), &boxes = at.input(1);
  const auto& dims = images.dims();
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  return gpu::for_each(at, out->elements(),
                       draw_boxes_body<T>{inks, dims[1], dims[2], dims[3], boxes.dims()[1],
                                          boxes.data<float>(), images.data<T>(),
                                          out->template data<T>()});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(draw_bounding_boxes){
    .op = "DrawBoundingBoxes",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run_draw_boxes<float16>}, {dtype::f32, run_draw_boxes<float>}},
};

} // namespace troupe::ops::draw_bounding_boxes_gpu
