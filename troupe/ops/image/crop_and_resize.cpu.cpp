#include "troupe/ops/image/shared/crop_boxes.hpp"
#include "troupe/ops/image/shared/resize_geometry.hpp"
#include "troupe/ops/kernel/element_types.hpp"

namespace troupe::ops::crop_and_resize_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto size, size_at(at, 3));
  TROUPE_ASSIGN(auto where, crop_geometry_of(at, 1, at.input(0).dims(), size));
  TROUPE_TRY(check_image_numbers(where));
  TROUPE_ASSIGN(auto dims, shape::make(std::array{where.count, size[0], size[1], where.channels}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  const auto& how = at.state<crop_settings>();
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
              std::fill_n(to, channels, how.outside);
            } else if (how.nearest) {
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
constexpr inplace_vector<typed_kernel, 18> table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def crop_and_resize_cpu{
    .op = "CropAndResize",
    .run = table(
        type_list<uint8_t, uint16_t, int8_t, int16_t, int32_t, int64_t, float16, float, double>{}),
    .prepare = keep_crop_settings,
};

} // namespace troupe::ops::crop_and_resize_cpu
