#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/image/shared/color.cpu.hpp"
#include "troupe/ops/image/shared/contrast.hpp"

#include <vector>

namespace troupe::ops::adjust_color_cpu {
namespace {

template <class T>
status run_adjust_contrast_v2(kernel_context& at) {
  TROUPE_ASSIGN(auto factor, factor_at(at, 1));
  const auto& dims = at.input(0).dims();
  TROUPE_TRY(check_contrast(dims));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (dims.elements() == 0)
    return {};
  auto channels = dims[dims.rank() - 1], images = product(dims, 0, dims.rank() - 3);
  auto image_elements = dims.elements() / images;
  const auto* from = at.input(0).data<T>();
  auto* to = out->template data<T>();
  at.parallel_for(
      images, 2.0 * static_cast<double>(image_elements), [&](int64_t begin, int64_t end) {
        std::vector<double> sums(static_cast<size_t>(channels));
        for (auto b = begin; b < end; ++b) {
          std::ranges::fill(sums, 0.0);
          auto in_image = [&](auto&& body) {
            for (auto i = b * image_elements; i < (b + 1) * image_elements; i += channels)
              for (int64_t c = 0; c < channels; ++c)
                body(i + c, sums[static_cast<size_t>(c)]);
          };
          in_image([&](int64_t i, double& sum) { sum += static_cast<double>(widen(from[i])); });
          for (auto& sum : sums)
            sum /= static_cast<double>(image_elements / channels);
          in_image([&](int64_t i, double mean) {
            auto x = static_cast<float>(widen(from[i])), center = static_cast<float>(mean);
            to[i] = static_cast<T>((x - center) * factor + center);
          });
        }
      });
  return {};
}

template <class T>
status run_adjust_hue(kernel_context& at) {
  TROUPE_ASSIGN(auto delta, factor_at(at, 1));
  return map_pixels<T>(at, [delta](const auto& pixel) { return turn_hue(pixel, delta); });
}

template <class T>
status run_adjust_saturation(kernel_context& at) {
  TROUPE_ASSIGN(auto scale, factor_at(at, 1));
  return map_pixels<T>(at, [scale](const auto& pixel) { return scale_saturation(pixel, scale); });
}

} // namespace

extern constexpr kernel_def adjust_contrast_v2_cpu{
    .op = "AdjustContrastv2",
    .run = {{dtype::f16, run_adjust_contrast_v2<float16>},
            {dtype::f32, run_adjust_contrast_v2<float>}},
};

extern constexpr kernel_def adjust_hue_cpu{
    .op = "AdjustHue",
    .run = {{dtype::f16, run_adjust_hue<float16>}, {dtype::f32, run_adjust_hue<float>}},
};

extern constexpr kernel_def adjust_saturation_cpu{
    .op = "AdjustSaturation",
    .run = {{dtype::f16, run_adjust_saturation<float16>},
            {dtype::f32, run_adjust_saturation<float>}},
};

} // namespace troupe::ops::adjust_color_cpu
