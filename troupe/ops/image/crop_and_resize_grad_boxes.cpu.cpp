#include "troupe/ops/image/shared/crop_boxes.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>

namespace troupe::ops::crop_and_resize_grad_boxes_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  const auto &grads = at.input(0), &images = at.input(1);
  if (grads.rank() != 4)
    return invalid("grads must have 4 axes, got shape ", grads.dims());
  TROUPE_ASSIGN(auto where,
                crop_geometry_of(at, 2, images.dims(), {grads.dims()[1], grads.dims()[2]}));
  TROUPE_TRY(check_image_numbers(where));
  TROUPE_TRY(check_crop_gradients(at, where));
  TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(2).dims()));
  const auto* g = grads.data<float>();
  const auto* from = images.data<T>();
  auto value = [&](int64_t i) { return static_cast<double>(widen(from[i])); };
  auto* to = out->template data<float>();
  if (grads.elements() == 0) {
    std::fill_n(to, out->elements(), 0.0f);
    return {};
  }
  auto each = where.crop_height * where.crop_width * where.channels;
  at.parallel_for(where.count, 8.0 * static_cast<double>(each), [&](int64_t begin, int64_t end) {
    for (auto b = begin; b < end; ++b) {
      const auto* next = g + b * each;
      auto rows = where.rows(b), columns = where.columns(b);
      box_sums vertical, horizontal;
      for (int64_t y = 0; y < where.crop_height; ++y) {
        auto row = rows.at(y);
        for (int64_t x = 0; x < where.crop_width; ++x, next += where.channels) {
          auto column = columns.at(x);
          if (!row.inside || !column.inside)
            continue;
          for (int64_t c = 0; c < where.channels; ++c) {
            auto top_left = value(where.pixel(b, row.below, column.below) + c),
                 top_right = value(where.pixel(b, row.below, column.above) + c),
                 bottom_left = value(where.pixel(b, row.above, column.below) + c),
                 bottom_right = value(where.pixel(b, row.above, column.above) + c);
            double wx = column.weight, wy = row.weight, dy = next[c];
            vertical.add(
                rows, y,
                dy * ((1 - wx) * (bottom_left - top_left) + wx * (bottom_right - top_right)));
            horizontal.add(
                columns, x,
                dy * ((1 - wy) * (top_right - top_left) + wy * (bottom_right - bottom_left)));
          }
        }
      }
      const double sums[] = {vertical.low, horizontal.low, vertical.high, horizontal.high};
      std::ranges::transform(sums, to + 4 * b, [](double sum) { return static_cast<float>(sum); });
    }
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def crop_and_resize_grad_boxes_cpu{
    .op = "CropAndResizeGradBoxes",
    .run = table(
        type_list<uint8_t, uint16_t, int8_t, int16_t, int32_t, int64_t, float16, float, double>{}),
};

} // namespace troupe::ops::crop_and_resize_grad_boxes_cpu
