#include "troupe/ops/image/shared/crop_boxes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::crop_and_resize_grad_image_cpu {
namespace {

// Boxes overlap, so that their order is that of the sums.
void add_crop(const crop_geometry& where, int64_t b, bool nearest, const float* g, double* to) {
  auto rows = where.rows(b), columns = where.columns(b);
  for (int64_t y = 0; y < where.crop_height; ++y) {
    auto row = rows.at(y);
    for (int64_t x = 0; x < where.crop_width; ++x, g += where.channels) {
      auto column = columns.at(x);
      if (!row.inside || !column.inside)
        continue;
      auto add = [&](int64_t at_row, int64_t at_column, float weight) {
        auto* pixel = to + where.pixel(b, at_row, at_column);
        for (int64_t c = 0; c < where.channels; ++c)
          pixel[c] += double{weight} * double{g[c]};
      };
      if (nearest) {
        add(row.nearest, column.nearest, 1);
        continue;
      }
      add(row.below, column.below, (1 - row.weight) * (1 - column.weight));
      add(row.below, column.above, (1 - row.weight) * column.weight);
      add(row.above, column.below, row.weight * (1 - column.weight));
      add(row.above, column.above, row.weight * column.weight);
    }
  }
}

template <class T>
status run(kernel_context& at) {
  const auto& grads = at.input(0);
  TROUPE_ASSIGN(auto dims, cropped_dims(at));
  TROUPE_ASSIGN(auto where, crop_geometry_of(at, 1, dims, {grads.dims()[1], grads.dims()[2]}));
  TROUPE_TRY(check_image_numbers(where));
  TROUPE_TRY(check_crop_gradients(at, where));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  TROUPE_ASSIGN(auto sums, tensor::make(dtype::f64, dims, at.memory()));
  std::ranges::fill(sums.values<double>(), 0.0);
  auto each = where.crop_height * where.crop_width * where.channels;
  for (int64_t b = 0; b < where.count && grads.elements() > 0 && !at.stopped(); ++b)
    add_crop(where, b, at.state<std::string>() == "nearest", grads.data<float>() + b * each,
             sums.data<double>());
  std::ranges::transform(sums.values<double>(), out->template data<T>(), [](double sum) {
    return static_cast<T>(static_cast<compute_type<T>>(sum));
  });
  return {};
}

} // namespace

extern constexpr kernel_def crop_and_resize_grad_image_cpu{
    .op = "CropAndResizeGradImage",
    .run = {{dtype::f16, run<float16>}, {dtype::f32, run<float>}, {dtype::f64, run<double>}},
    .prepare = cache_attr<std::string, "method">,
};

} // namespace troupe::ops::crop_and_resize_grad_image_cpu
