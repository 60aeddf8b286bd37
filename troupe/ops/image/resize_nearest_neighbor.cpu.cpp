#include "troupe/ops/image/shared/nearest.cpu.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops::resize_nearest_neighbor_cpu {
namespace {

status run(kernel_context& at) {
  const auto& images = at.input(0);
  const auto& dims = images.dims();
  TROUPE_TRY(check_images(dims));
  TROUPE_ASSIGN(auto size, size_at(at, 1));
  TROUPE_ASSIGN(auto made, shape::make(std::array{dims[0], size[0], size[1], dims[3]}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, made));
  if (made.elements() == 0)
    return {};
  const auto& how = at.state<resize_options>();
  auto rows = nearest_pixels(dims[1], size[0], how),
       columns = nearest_pixels(dims[2], size[1], how);
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

} // namespace

extern constexpr kernel_def resize_nearest_neighbor_cpu{
    .op = "ResizeNearestNeighbor",
    .run = {{dtype::none, run}},
    .prepare = keep_resize_options,
};

} // namespace troupe::ops::resize_nearest_neighbor_cpu
