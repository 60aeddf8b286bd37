#include "troupe/ops/image/shared/resize_geometry.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <vector>

namespace troupe::ops::resize_nearest_neighbor_cpu {
namespace {

std::vector<int64_t> nearest_pixels(int64_t source, int64_t target, const resize_options& options) {
  std::vector<int64_t> nearest;
  auto scale = resize_scale(source, target, options.align_corners);
  for (int64_t i = 0; i < target; ++i) {
    nearest.push_back(nearest_pixel(i, source, scale, options));
  }
  return nearest;
}

status run_resize_nearest_neighbor(kernel_context& at) {
  const auto& images = at.input(0);
  const auto& dims = images.dims();
  TROUPE_TRY(check_images(dims));
  TROUPE_ASSIGN(auto size, size_at(at, 1));
  TROUPE_ASSIGN(auto resized, shape::make(std::array{dims[0], size[0], size[1], dims[3]}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, resized));
  if (resized.elements() == 0)
    return {};
  const auto& options = at.state<resize_options>();
  auto rows = nearest_pixels(dims[1], size[0], options),
       columns = nearest_pixels(dims[2], size[1], options);
  with_word(images.type(), [&]<class Word>(std::type_identity<Word>) {
    const auto* from = static_cast<const Word*>(images.raw());
    auto* to = static_cast<Word*>(out->raw());
    auto channels = dims[3];
    at.parallel_for(dims[0] * size[0], 1.0 * static_cast<double>(size[1] * channels),
                    [&](int64_t begin, int64_t end) {
                      for (auto i = begin; i < end; ++i) {
                        auto row = i / size[0] * dims[1] + rows[static_cast<size_t>(i % size[0])];
                        auto* pixel = to + i * size[1] * channels;
                        for (auto column : columns)
                          pixel = std::copy_n(from + (row * dims[2] + column) * channels, channels,
                                              pixel);
                      }
                    });
  });
  return {};
}

template <class T>
status run_resize_nearest_neighbor_grad(kernel_context& at) {
  const auto& grads = at.input(0);
  const auto& from = grads.dims();
  TROUPE_TRY(check_images(from));
  TROUPE_ASSIGN(auto size, size_at(at, 1));
  TROUPE_ASSIGN(auto original, shape::make(std::array{from[0], size[0], size[1], from[3]}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, original));
  if (original.elements() == 0)
    return {};
  const auto& options = at.state<resize_options>();
  auto rows = nearest_pixels(size[0], from[1], options),
       columns = nearest_pixels(size[1], from[2], options);
  auto channels = from[3], each = size[0] * size[1] * channels;
  const auto* g = grads.data<T>();
  auto* to = out->template data<T>();
  at.parallel_for(
      from[0], static_cast<double>(from[1] * from[2] * channels), [&](int64_t begin, int64_t end) {
        std::vector<compute_type<T>> sums(static_cast<size_t>(each));
        for (auto b = begin; b < end; ++b) {
          std::ranges::fill(sums, compute_type<T>{});
          const auto* next = g + b * from[1] * from[2] * channels;
          for (auto row : rows)
            for (auto column : columns)
              for (int64_t c = 0; c < channels; ++c) {
                auto& sum = sums[static_cast<size_t>((row * size[1] + column) * channels + c)];
                sum = wrapping([](auto a, auto x) { return static_cast<decltype(a)>(a + x); }, sum,
                               static_cast<compute_type<T>>(widen(*next++)));
              }
          std::ranges::transform(sums, to + b * each, [](auto sum) { return static_cast<T>(sum); });
        }
      });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_resize_nearest_neighbor_grad<Ts>}...};
}

} // namespace

extern constexpr kernel_def resize_nearest_neighbor_cpu{
    .op = "ResizeNearestNeighbor",
    .run = {{dtype::none, run_resize_nearest_neighbor}},
    .prepare = keep_resize_options,
};

extern constexpr kernel_def resize_nearest_neighbor_grad_cpu{
    .op = "ResizeNearestNeighborGrad",
    .run =
        table(types::floating + type_list<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>{}),
    .prepare = keep_resize_options,
};

} // namespace troupe::ops::resize_nearest_neighbor_cpu
