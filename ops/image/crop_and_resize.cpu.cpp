#include "troupe/ops/image/shared/crop_boxes.hpp"
#include "troupe/ops/image/shared/resize_geometry.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/runtime/graph/infer.hpp"

#include <algorithm>

namespace troupe::ops::crop_and_resize_cpu {
namespace {

template <class T>
status run_crop_and_resize(kernel_context& at) {
  TROUPE_ASSIGN(auto size, size_at(at, 3));
  TROUPE_ASSIGN(auto where, crop_geometry_of(at, 1, at.input(0).dims(), size));
  TROUPE_TRY(check_image_numbers(where));
  TROUPE_ASSIGN(auto dims, shape::make(std::array{where.count, size[0], size[1], where.channels}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  const auto& settings = at.state<crop_settings>();
  const auto* from = at.input(0).data<T>();
  auto value = [&](int64_t i) { return static_cast<float>(widen(from[i])); };
  auto* crops = out->template data<float>();
  auto channels = where.channels, pitch = size[1] * channels;
  if (dims.elements() == 0)
    return {};
  at.parallel_for(
      where.count * size[0], 4.0 * static_cast<double>(pitch), [&](int64_t begin, int64_t end) {
        for (auto i = begin; i < end; ++i) {
          auto b = i / size[0];
          auto* to = crops + i * pitch;
          auto row = where.rows(b).at(i % size[0]);
          auto columns = where.columns(b);
          for (int64_t x = 0; x < size[1]; ++x, to += channels) {
            auto column = columns.at(x);
            if (!row.inside || !column.inside) {
              std::fill_n(to, channels, settings.outside);
            } else if (settings.nearest) {
              auto pixel = where.pixel(b, row.nearest, column.nearest);
              for (int64_t c = 0; c < channels; ++c)
                to[c] = value(pixel + c);
            } else {
              auto top_left = where.pixel(b, row.below, column.below),
                   top_right = where.pixel(b, row.below, column.above),
                   bottom_left = where.pixel(b, row.above, column.below),
                   bottom_right = where.pixel(b, row.above, column.above);
              for (int64_t c = 0; c < channels; ++c)
                to[c] = mixed(mixed(value(top_left + c), value(top_right + c), column.weight),
                              mixed(value(bottom_left + c), value(bottom_right + c), column.weight),
                              row.weight);
            }
          }
        }
      });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> crop_and_resize_table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_crop_and_resize<Ts>}...};
}

template <class T>
status run_crop_and_resize_grad_boxes(kernel_context& at) {
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
  auto crop_elements = where.crop_height * where.crop_width * where.channels;
  at.parallel_for(
      where.count, 8.0 * static_cast<double>(crop_elements), [&](int64_t begin, int64_t end) {
        for (auto b = begin; b < end; ++b) {
          const auto* next = g + b * crop_elements;
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
          std::ranges::transform(sums, to + 4 * b,
                                 [](double sum) { return static_cast<float>(sum); });
        }
      });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> crop_and_resize_grad_boxes_table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_crop_and_resize_grad_boxes<Ts>}...};
}

// Boxes overlap, so that the order of the sums is the order of the boxes.
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
status run_crop_and_resize_grad_image(kernel_context& at) {
  const auto& grads = at.input(0);
  TROUPE_ASSIGN(auto dims, cropped_dims(at));
  TROUPE_ASSIGN(auto where, crop_geometry_of(at, 1, dims, {grads.dims()[1], grads.dims()[2]}));
  TROUPE_TRY(check_image_numbers(where));
  TROUPE_TRY(check_crop_gradients(at, where));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  TROUPE_ASSIGN(auto sums, tensor::make(dtype::f64, dims, at.memory()));
  std::ranges::fill(sums.values<double>(), 0.0);
  auto crop_elements = where.crop_height * where.crop_width * where.channels;
  for (int64_t b = 0; b < where.count && grads.elements() > 0 && !at.stopped(); ++b)
    add_crop(where, b, at.state<std::string>() == "nearest",
             grads.data<float>() + b * crop_elements, sums.data<double>());
  std::ranges::transform(sums.values<double>(), out->template data<T>(), [](double sum) {
    return static_cast<T>(static_cast<compute_type<T>>(sum));
  });
  return {};
}

} // namespace

extern constexpr kernel_def crop_and_resize_cpu{
    .op = "CropAndResize",
    .run = crop_and_resize_table(
        type_list<uint8_t, uint16_t, int8_t, int16_t, int32_t, int64_t, float16, float, double>{}),
    .prepare = keep_crop_settings,
};

extern constexpr kernel_def crop_and_resize_grad_boxes_cpu{
    .op = "CropAndResizeGradBoxes",
    .run = crop_and_resize_grad_boxes_table(
        type_list<uint8_t, uint16_t, int8_t, int16_t, int32_t, int64_t, float16, float, double>{}),
};

extern constexpr kernel_def crop_and_resize_grad_image_cpu{
    .op = "CropAndResizeGradImage",
    .run = {{dtype::f16, run_crop_and_resize_grad_image<float16>},
            {dtype::f32, run_crop_and_resize_grad_image<float>},
            {dtype::f64, run_crop_and_resize_grad_image<double>}},
    .prepare = cache_attr<std::string, "method">,
};

} // namespace troupe::ops::crop_and_resize_cpu
