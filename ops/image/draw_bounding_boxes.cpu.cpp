#include "troupe/ops/image/shared/drawn_boxes.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>

namespace troupe::ops::draw_bounding_boxes_cpu {
namespace {

// One image of the batch, for drawing.
template <class T>
class canvas {
public:
  canvas(T* pixels, int64_t height, int64_t width, int64_t channels)
      : pixels_(pixels), height_(height), width_(width), channels_(channels) {}

  void draw(const float* box, const ink_color& ink) {
    auto [top, left, bottom, right] = outline_of(box, height_, width_);
    if (!is_seen({top, left, bottom, right}, height_, width_))
      return;
    auto first_row = std::max<int64_t>(top, 0), last_row = std::min(bottom, height_ - 1),
         first_column = std::max<int64_t>(left, 0), last_column = std::min(right, width_ - 1);
    for (auto y : {top, bottom})
      for (auto x = first_column; y >= 0 && y < height_ && x <= last_column; ++x)
        paint(y, x, ink);
    for (auto x : {left, right})
      for (auto y = first_row; x >= 0 && x < width_ && y <= last_row; ++y)
        paint(y, x, ink);
  }

private:
  void paint(int64_t y, int64_t x, const ink_color& ink) {
    for (int64_t c = 0; c < channels_; ++c) {
      auto value = channels_ == 1 ? 1.0f : ink[static_cast<size_t>(c)];
      pixels_[(y * width_ + x) * channels_ + c] = static_cast<T>(value);
    }
  }

  T* pixels_;
  int64_t height_, width_, channels_;
};

template <class T>
status run(kernel_context& at) {
  const auto &images = at.input(0), &boxes = at.input(1);
  TROUPE_TRY(check_boxes_to_draw(at));
  const auto &dims = images.dims(), &listed = boxes.dims();
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (dims.elements() == 0)
    return {};
  copy_elements({images}, {*out}, images.elements());
  auto image_elements = dims[1] * dims[2] * dims[3];
  auto* to = out->template data<T>();
  at.parallel_for(dims[0], 100.0 * static_cast<double>(listed[1] + 1),
                  [&](int64_t begin, int64_t end) {
                    for (auto b = begin; b < end; ++b) {
                      canvas<T> onto{to + b * image_elements, dims[1], dims[2], dims[3]};
                      for (int64_t i = 0; i < listed[1]; ++i)
                        onto.draw(boxes.data<float>() + (b * listed[1] + i) * 4,
                                  inks[static_cast<size_t>(i) % inks.size()]);
                    }
                  });
  return {};
}

} // namespace

extern constexpr kernel_def draw_bounding_boxes_cpu{
    .op = "DrawBoundingBoxes",
    .run = {{dtype::f16, run<float16>}, {dtype::f32, run<float>}},
};

} // namespace troupe::ops::draw_bounding_boxes_cpu
