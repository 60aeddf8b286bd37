// Largest elements of windows of rows and columns, over neighbouring channels at once: a thread of
// a GPU takes 16 bytes of a pixel.
#pragma once
#include "troupe/ops/conv/shared/windows.cuda.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// What the largest element of nothing but padding is.
template <class T>
TROUPE_DEVICE compute_type<T> least() {
  if constexpr (is_half<T>)
    return -std::numeric_limits<float>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}

/// Channels of a pixel.
template <class T>
inline constexpr int packed_channels = 16 / sizeof(T);

/// Which pack of an image it is, and where.
struct packed_spot {
  uint32_t image;
  int32_t pack, row, column;

  TROUPE_DEVICE packed_spot(const image_layout& of, int32_t packs, int64_t i) {
    auto rest = static_cast<uint32_t>(i);
    auto split = [&](int32_t extent) {
      auto left = rest / static_cast<uint32_t>(extent);
      auto place = static_cast<int32_t>(rest - left * static_cast<uint32_t>(extent));
      rest = left;
      return place;
    };
    pack = split(packs);
    column = split(of.extents[2]);
    row = split(of.extents[1]);
    image = rest;
  }
};

/// Windows whose elements have numbers of 8 bits.
struct packed_windows {
  static constexpr uint8_t none = 255; ///< the number of no element

  windows on;
  int32_t packs; ///< of a pixel

  TROUPE_DEVICE int64_t place(const image_layout& of, const packed_spot& at, int32_t row,
                              int32_t column) const {
    auto pixel = (int64_t{at.image} * of.extents[1] + row) * of.extents[2] + column;
    return pixel * packs + at.pack;
  }
};

/// Whether these can be pooled so: only images with many channels that come last, which lie where
/// tensors usually do.
template <class T>
bool can_pack(const windows& on, std::initializer_list<const void*> tensors) {
  const auto& depth = on.axes[0];
  return !on.in.channels_first && on.in.narrow && on.out.narrow &&
         on.in.channels % packed_channels<T> == 0 && depth.in == 1 && depth.size == 1 &&
         depth.out == 1 && depth.before == 0 &&
         int64_t{on.axes[1].size} * on.axes[2].size < packed_windows::none &&
         std::ranges::all_of(
             tensors, [](const void* at) { return reinterpret_cast<uintptr_t>(at) % 16 == 0; });
}

template <class T>
packed_windows packed(const windows& on) {
  return {on, on.in.channels / packed_channels<T>};
}

/// Finds the largest elements of windows, the first one among equals, and a NaN before all: their
/// values, and their numbers where they are wanted.
template <class T>
struct packed_largest_body {
  static constexpr int count = packed_channels<T>;
  using elements = pack<T, count>;
  using numbers = pack<uint8_t, count>;

  packed_windows by;
  const elements* x;
  elements* values;
  numbers* chosen;

  TROUPE_DEVICE void operator()(int64_t i) const {
    packed_spot window{by.on.out, by.packs, i};
    const auto &rows = by.on.axes[1], &columns = by.on.axes[2];
    compute_type<T> value[count];
    uint8_t k[count];
    for (int j = 0; j < count; ++j) {
      value[j] = least<T>();
      k[j] = packed_windows::none;
    }
    auto first = columns.first_in(window.column), last = columns.last_in(window.column);
    for (auto r = rows.first_in(window.row); r < rows.last_in(window.row); ++r) {
      auto row = window.row * rows.stride - rows.before + r * rows.dilation;
      for (auto c = first; c < last; ++c) {
        auto column = window.column * columns.stride - columns.before + c * columns.dilation;
        auto got = x[by.place(by.on.in, window, row, column)];
        for (int j = 0; j < count; ++j) {
          auto candidate = load(got.items[j]);
          if (k[j] == packed_windows::none || (!(candidate <= value[j]) && value[j] == value[j])) {
            value[j] = candidate;
            k[j] = static_cast<uint8_t>(r * columns.size + c);
          }
        }
      }
    }
    if (values) {
      elements made;
      for (int j = 0; j < count; ++j)
        made.items[j] = store<T>(value[j]);
      values[i] = made;
    }
    if (chosen) {
      numbers made;
      for (int j = 0; j < count; ++j)
        made.items[j] = k[j];
      chosen[i] = made;
    }
  }
};

/// Each element of the input asks the windows that contain it.
template <class T>
struct packed_max_gradient_body {
  static constexpr int count = packed_channels<T>;
  using elements = pack<T, count>;
  using numbers = pack<uint8_t, count>;

  packed_windows by;
  const numbers* chosen;
  const elements* dy;
  elements* dx;

  TROUPE_DEVICE void operator()(int64_t i) const {
    packed_spot here{by.on.in, by.packs, i};
    const auto &rows = by.on.axes[1], &columns = by.on.axes[2];
    compute_type<T> sum[count];
    for (int j = 0; j < count; ++j)
      sum[j] = 0;
    auto first = columns.first_of(here.column), last = columns.last_of(here.column);
    for (auto r = rows.first_of(here.row); r < rows.last_of(here.row); ++r) {
      if (!rows.is_of(here.row, r))
        continue;
      for (auto c = first; c < last; ++c) {
        if (!columns.is_of(here.column, c))
          continue;
        auto window = by.place(by.on.out, here, rows.window_of(here.row, r),
                               columns.window_of(here.column, c));
        auto largest = chosen[window];
        auto gradient = dy[window];
        for (int j = 0; j < count; ++j)
          if (largest.items[j] == r * columns.size + c)
            sum[j] += load(gradient.items[j]);
      }
    }
    elements made;
    for (int j = 0; j < count; ++j)
      made.items[j] = store<T>(sum[j]);
    dx[i] = made;
  }
};

/// `outputs` pixels' channels: of the output.
template <class T>
status launch_packed_max_pool(kernel_context& at, const windows& on, int64_t outputs, const T* x,
                              T* y) {
  using body = packed_largest_body<T>;
  return for_each(at, outputs / body::count,
                  body{packed<T>(on), reinterpret_cast<const typename body::elements*>(x),
                       reinterpret_cast<typename body::elements*>(y), nullptr});
}

template <class T>
status launch_packed_max_gradient(kernel_context& at, const windows& on, const tensor& x,
                                  const tensor& dy, const tensor& dx) {
  using find = packed_largest_body<T>;
  using gather = packed_max_gradient_body<T>;
  using elements = typename find::elements;
  using numbers = typename find::numbers;
  TROUPE_ASSIGN(auto chosen, tensor::make(dtype::u8, dy.dims(), at.memory()));
  auto* largest = reinterpret_cast<numbers*>(chosen.template data<uint8_t>());
  const auto by = packed<T>(on);
  auto of = [](const tensor& what) { return reinterpret_cast<elements*>(what.raw()); };
  TROUPE_TRY(for_each(at, dy.elements() / find::count, find{by, of(x), nullptr, largest}));
  return for_each(at, dx.elements() / find::count, gather{by, largest, of(dy), of(dx)});
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
