// Windows on images in GPU kernels: one thread for each element of the input or the output.
#pragma once
#include "troupe/ops/define/windows.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// The position of an element in a tensor of images.
struct spot {
  int64_t image;
  int32_t channel, at[3];
};

/// The memory layout of images.
struct image_layout {
  int32_t extents[3], channels;
  bool channels_first, narrow; ///< narrow: every offset fits 32 bits

  TROUPE_DEVICE int64_t pixels() const { return int64_t{extents[0]} * extents[1] * extents[2]; }
  /// The distance between neighbours in a row of pixels.
  TROUPE_DEVICE int64_t step() const { return channels_first ? 1 : channels; }
  /// The first pixel of a channel.
  TROUPE_DEVICE int64_t plane(int64_t image, int32_t channel) const {
    return channels_first ? (image * channels + channel) * pixels()
                          : image * pixels() * channels + channel;
  }
  TROUPE_DEVICE spot locate(int64_t element) const {
    return narrow ? find(static_cast<uint32_t>(element)) : find(static_cast<uint64_t>(element));
  }
  TROUPE_DEVICE int64_t offset(const spot& position) const {
    auto pixel =
        (int64_t{position.at[0]} * extents[1] + position.at[1]) * extents[2] + position.at[2];
    return plane(position.image, position.channel) + pixel * step();
  }

private:
  template <class Index>
  TROUPE_DEVICE static int32_t split(Index& remaining, int32_t extent) {
    auto quotient = static_cast<Index>(remaining / static_cast<Index>(extent));
    auto place = remaining - quotient * static_cast<Index>(extent);
    remaining = quotient;
    return static_cast<int32_t>(place);
  }
  template <class Index>
  TROUPE_DEVICE spot find(Index remaining) const {
    spot position{};
    if (!channels_first)
      position.channel = split(remaining, channels);
    for (int i = 2; i >= 0; --i)
      position.at[i] = split(remaining, extents[i]);
    if (channels_first)
      position.channel = split(remaining, channels);
    position.image = static_cast<int64_t>(remaining);
    return position;
  }
};

/// Windows over images. Their results are images, too, and may have other channels.
struct windows {
  basic_window_axis<int32_t> axes[3];
  image_layout in, out;

  /// Calls body(k, offset) for the elements k of a window that lie on the input, whose channel
  /// begins at `plane`.
  template <class Body>
  TROUPE_DEVICE void for_each_element(const int32_t (&window)[3], int64_t plane,
                                      const Body& body) const {
    int32_t first[3], last[3], start[3];
    for (int i = 0; i < 3; ++i) {
      first[i] = axes[i].first_in(window[i]);
      last[i] = axes[i].last_in(window[i]);
      start[i] = window[i] * axes[i].stride - axes[i].before;
    }
    auto step = in.step(), stride = axes[2].dilation * step;
    for (auto d = first[0]; d < last[0]; ++d)
      for (auto r = first[1]; r < last[1]; ++r) {
        auto row = int64_t{start[0] + d * axes[0].dilation} * in.extents[1] + start[1] +
                   r * axes[1].dilation;
        auto k = (d * axes[1].size + r) * axes[2].size;
        auto offset = plane + (row * in.extents[2] + start[2] + first[2] * axes[2].dilation) * step;
        for (auto c = first[2]; c < last[2]; ++c, offset += stride)
          body(k + c, offset);
      }
  }

  /// The number of elements of a window that lie on the input.
  TROUPE_DEVICE int32_t count(const int32_t (&window)[3]) const {
    int32_t total = 1;
    for (int i = 0; i < 3; ++i) {
      auto extent = axes[i].last_in(window[i]) - axes[i].first_in(window[i]);
      total *= extent > 0 ? extent : 0;
    }
    return total;
  }

  /// The offset of element k of a window; that element must lie on the input.
  TROUPE_DEVICE int64_t element(const int32_t (&window)[3], int64_t plane, int32_t k) const {
    int32_t place[3];
    for (int i = 2; i >= 0; --i) {
      place[i] = window[i] * axes[i].stride - axes[i].before + k % axes[i].size * axes[i].dilation;
      k /= axes[i].size;
    }
    return plane +
           ((int64_t{place[0]} * in.extents[1] + place[1]) * in.extents[2] + place[2]) * in.step();
  }

  /// Calls body(k, offset, window) for the windows in which an element of the input is element k.
  /// The offset is the window's in the output, whose channel begins at `plane`.
  template <class Body>
  TROUPE_DEVICE void for_each_window(const int32_t (&element)[3], int64_t plane,
                                     const Body& body) const {
    int32_t first[3], last[3];
    for (int i = 0; i < 3; ++i) {
      first[i] = axes[i].first_of(element[i]);
      last[i] = axes[i].last_of(element[i]);
    }
    auto step = out.step();
    int32_t window[3];
    for (auto d = first[0]; d < last[0]; ++d) {
      if (!axes[0].is_of(element[0], d))
        continue;
      window[0] = axes[0].window_of(element[0], d);
      for (auto r = first[1]; r < last[1]; ++r) {
        if (!axes[1].is_of(element[1], r))
          continue;
        window[1] = axes[1].window_of(element[1], r);
        auto row = (int64_t{window[0]} * out.extents[1] + window[1]) * out.extents[2];
        auto k = (d * axes[1].size + r) * axes[2].size;
        for (auto c = first[2]; c < last[2]; ++c) {
          if (!axes[2].is_of(element[2], c))
            continue;
          window[2] = axes[2].window_of(element[2], c);
          body(k + c, plane + (row + window[2]) * step, window);
        }
      }
    }
  }
};

/// Fails for extents that only processors compute with.
inline result<windows> place_windows(const window_axes& axes, int64_t images, int64_t channels_in,
                                     int64_t channels_out, bool channels_first) {
  windows placed{};
  auto inputs = images * channels_in, outputs = images * channels_out;
  auto fits = std::max(channels_in, channels_out) <= INT32_MAX;
  double elements = 1;
  for (size_t i = 0; i < 3; ++i) {
    const auto& from = axes[i];
    // Every position computed along an axis must fit 32 bits.
    fits = fits &&
           std::max({from.in, from.reach(), from.before, from.out * from.stride}) < INT32_MAX / 4;
    auto narrow = [](int64_t number) { return static_cast<int32_t>(number); };
    placed.axes[i] = {narrow(from.in),       narrow(from.size),   narrow(from.stride),
                      narrow(from.dilation), narrow(from.before), narrow(from.after),
                      narrow(from.out)};
    placed.in.extents[i] = narrow(from.in);
    placed.out.extents[i] = narrow(from.out);
    inputs *= from.in;
    outputs *= from.out;
    elements *= static_cast<double>(from.size);
  }
  if (!fits || elements > INT32_MAX)
    return failure(error_kind::unimplemented,
                   "windows that reach beyond 32 bits are not computed on GPUs: put the node on "
                   "/cpu:0");
  auto describe = [&](image_layout& images_layout, int64_t channels, int64_t elements_total) {
    images_layout.channels = static_cast<int32_t>(channels);
    images_layout.channels_first = channels_first;
    images_layout.narrow = elements_total <= UINT32_MAX;
  };
  describe(placed.in, channels_in, inputs);
  describe(placed.out, channels_out, outputs);
  return placed;
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
