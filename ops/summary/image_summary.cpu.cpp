#include "troupe/ops/image/shared/image_file.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/summary/shared/summary_proto.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::ops::image_summary_cpu {
namespace {

struct image_options {
  int64_t most;
  std::vector<uint8_t> bad_color;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  image_options options{setup.origin.attr<int64_t>("max_images"), {255, 0, 0, 255}};
  if (const auto& bad = setup.origin.attr<tensor>("bad_color"); !bad.empty())
    options.bad_color.assign(bad.values<uint8_t>().begin(), bad.values<uint8_t>().end());
  return std::shared_ptr<void>{std::make_shared<image_options>(std::move(options))};
}

template <class T>
bool finite(const T* pixel, int64_t channels) {
  return std::all_of(pixel, pixel + channels,
                     [](const T& value) { return std::isfinite(widen(value)); });
}

// Rounded to the type after each operation, as TensorFlow does.
template <class T>
T rounded(compute_type<T> value) {
  return static_cast<T>(value);
}

template <class T>
void scale_image(const T* from, int64_t pixels, int64_t channels,
                 const std::vector<uint8_t>& bad_color, uint8_t* to) {
  auto smallest = std::numeric_limits<float>::infinity(), greatest = -smallest;
  for (int64_t i = 0; i < pixels; ++i)
    if (const auto* pixel = from + i * channels; finite(pixel, channels))
      for (int64_t c = 0; c < channels; ++c) {
        auto value = static_cast<float>(widen(pixel[c]));
        smallest = std::min(smallest, value);
        greatest = std::max(greatest, value);
      }
  constexpr float nothing = 1e-6f;
  auto farthest = smallest < 0 ? std::max(std::abs(smallest), std::abs(greatest)) : greatest;
  auto scale = rounded<T>(farthest < nothing ? 0.0f : (smallest < 0 ? 127.0f : 255.0f) / farthest);
  auto offset = rounded<T>(smallest < 0 ? 128.0f : 0.0f);
  for (int64_t i = 0; i < pixels; ++i) {
    const auto* pixel = from + i * channels;
    auto* out = to + i * channels;
    if (!finite(pixel, channels)) {
      std::copy_n(bad_color.begin(), channels, out);
      continue;
    }
    for (int64_t c = 0; c < channels; ++c) {
      auto scaled = widen(rounded<T>(widen(pixel[c]) * widen(scale)));
      auto moved = widen(rounded<T>(scaled + widen(offset)));
      out[c] = static_cast<uint8_t>(std::clamp<compute_type<T>>(moved, 0, 255));
    }
  }
}

status check(const kernel_context& at) {
  const auto& dims = at.input(1).dims();
  if (at.input(0).rank() != 0)
    return invalid("tag must be a scalar, got shape ", at.input(0).dims());
  if (dims.rank() != 4 || (dims[3] != 1 && dims[3] != 3 && dims[3] != 4))
    return invalid("images must be [batch, height, width, channels] with 1, 3 or 4 channels, got ",
                   dims);
  if (dims[2] > 0 && dims[1] >= max_samples / dims[2])
    return invalid("images of ", dims[1], 'x', dims[2], " are too large");
  return {};
}

template <class T>
status run(kernel_context& at) {
  TROUPE_TRY(check(at));
  const auto& options = at.state<image_options>();
  const auto& images = at.input(1);
  const auto& dims = images.dims();
  const auto& tag = *at.input(0).data<std::string>();
  if (!std::is_same_v<T, uint8_t> && static_cast<int64_t>(options.bad_color.size()) < dims[3])
    return invalid("bad_color must have ", dims[3], " channels, has ", options.bad_color.size());
  TROUPE_ASSIGN(auto image, tensor::make(dtype::u8, shape{dims[1], dims[2], dims[3]}, at.memory()));
  std::string summary;
  for (int64_t i = 0; i < std::min(options.most, dims[0]); ++i) {
    const auto* from = images.data<T>() + i * image.elements();
    if constexpr (std::is_same_v<T, uint8_t>)
      std::copy_n(from, image.elements(), image.data<uint8_t>());
    else
      scale_image(from, dims[1] * dims[2], dims[3], options.bad_color, image.data<uint8_t>());
    TROUPE_ASSIGN(auto file, write_png(image, -1));
    std::string about, content;
    put_number(about, 1, static_cast<uint64_t>(dims[1]));
    put_number(about, 2, static_cast<uint64_t>(dims[2]));
    put_number(about, 3, static_cast<uint64_t>(dims[3]));
    put_bytes(about, 4, file);
    put_bytes(content, summary_field::image, about);
    put_summary_value(summary, tag_of(tag, "image", i, options.most), content);
  }
  return put_summary_output(at, std::move(summary));
}

} // namespace

extern constexpr kernel_def image_summary_cpu{
    .op = "ImageSummary",
    .run = {{dtype::u8, run<uint8_t>},
            {dtype::f16, run<float16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .prepare = prepare,
};

} // namespace troupe::ops::image_summary_cpu
