#include "troupe/ops/copy.hpp"
#include "troupe/ops/element_types.hpp"

#include <algorithm>
#include <array>

namespace troupe::ops {
namespace {

// Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia: in TensorFlow's order.
constexpr std::array<std::array<float, 4>, 10> palette{{
    {1, 1, 0, 1},
    {0, 0, 1, 1},
    {1, 0, 0, 1},
    {0, 1, 0, 1},
    {0.5, 0, 0.5, 1},
    {0.5, 0.5, 0, 1},
    {0.5, 0, 0, 1},
    {0, 0, 0.5, 1},
    {0, 1, 1, 1},
    {1, 0, 1, 1},
}};

// One image of the batch.
template <class T>
class canvas {
public:
  canvas(T* pixels, int64_t height, int64_t width, int64_t channels)
      : pixels_(pixels), height_(height), width_(width), channels_(channels) {}

  void draw(const float* box, const std::array<float, 4>& ink) {
    // The corners as pixels; those far away stay far away.
    auto pixel = [](float at, int64_t size) {
      auto place = at * static_cast<float>(size - 1);
      return place != place ? int64_t{-1} : static_cast<int64_t>(std::clamp(place, -1e9f, 1e9f));
    };
    auto top = pixel(box[0], height_), left = pixel(box[1], width_),
         bottom = pixel(box[2], height_), right = pixel(box[3], width_);
    if (top > bottom || left > right || top >= height_ || bottom < 0 || left >= width_ || right < 0)
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
  void paint(int64_t y, int64_t x, const std::array<float, 4>& ink) {
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
  const auto &dims = images.dims(), &listed = boxes.dims();
  if (dims.rank() != 4 || (dims[3] != 1 && dims[3] != 3 && dims[3] != 4))
    return invalid("images must be [batch, height, width, channels] with 1, 3 or 4 channels, got ",
                   dims);
  if (listed.rank() != 3 || listed[0] != dims[0] || listed[2] != 4)
    return invalid("boxes must be [", dims[0], ", count, 4], got ", listed);
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (dims.elements() == 0)
    return {};
  copy_elements({images}, {*out}, images.elements());
  auto each = dims[1] * dims[2] * dims[3];
  auto* to = out->template data<T>();
  at.parallel_for(dims[0], 100.0 * static_cast<double>(listed[1] + 1),
                  [&](int64_t begin, int64_t end) {
                    for (auto b = begin; b < end; ++b) {
                      canvas<T> onto{to + b * each, dims[1], dims[2], dims[3]};
                      for (int64_t i = 0; i < listed[1]; ++i)
                        onto.draw(boxes.data<float>() + (b * listed[1] + i) * 4,
                                  palette[static_cast<size_t>(i) % palette.size()]);
                    }
                  });
  return {};
}

} // namespace

extern constexpr kernel_def draw_bounding_boxes_cpu{
    .op = "DrawBoundingBoxes",
    .run = {{dtype::f16, run<float16>}, {dtype::f32, run<float>}},
};

} // namespace troupe::ops
