// Max pooling of rows and columns over adjacent channels at a time: a GPU thread handles 16 bytes
// of a pixel.
#pragma once
#include "troupe/ops/conv/shared/windows.cuda.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// The maximum of a window that has only padding.
template <class T>
TROUPE_DEVICE compute_type<T> padding_maximum() {
  if constexpr (is_half<T>)
    return -std::numeric_limits<float>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}

/// Some channels of a pixel.
template <class T>
inline constexpr int packed_channels = 16 / sizeof(T);

/// The position of a pack in its image.
struct packed_spot {
  uint32_t image;
  int32_t pack, row, column;

  TROUPE_DEVICE packed_spot(const image_layout& layout, int32_t packs, int64_t i) {
    auto remaining = static_cast<uint32_t>(i);
    auto split = [&](int32_t extent) {
      auto quotient = remaining / static_cast<uint32_t>(extent);
      auto place = static_cast<int32_t>(remaining - quotient * static_cast<uint32_t>(extent));
      remaining = quotient;
      return place;
    };
    pack = split(packs);
    column = split(layout.extents[2]);
    row = split(layout.extents[1]);
    image = remaining;
  }
};

/// Windows whose element numbers fit 8 bits.
struct packed_windows {
  static constexpr uint8_t none = 255; ///< stands for no element

  windows on;
  int32_t packs; ///< packs per pixel

  TROUPE_DEVICE int64_t place(const image_layout& layout, const packed_spot& at, int32_t row,
                              int32_t column) const {
    auto pixel = (int64_t{at.image} * layout.extents[1] + row) * layout.extents[2] + column;
    return pixel * packs + at.pack;
  }
};

/// Whether packs are usable: only for images with many channels that come last, aligned as tensors
/// usually are.
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

/// Finds the maxima of windows, the first among equal elements, and a NaN before all others: their
/// values, and their numbers if requested.
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
      value[j] = padding_maximum<T>();
      k[j] = packed_windows::none;
    }
    auto first = columns.first_in(window.column), last = columns.last_in(window.column);
    for (auto r = rows.first_in(window.row); r < rows.last_in(window.row); ++r) {
      auto row = window.row * rows.stride - rows.before + r * rows.dilation;
      for (auto c = first; c < last; ++c) {
        auto column = window.column * columns.stride - columns.before + c * columns.dilation;
        auto candidates = x[by.place(by.on.in, window, row, column)];
        for (int j = 0; j < count; ++j) {
          auto candidate = load(candidates.items[j]);
          if (k[j] == packed_windows::none || (!(candidate <= value[j]) && value[j] == value[j])) {
            value[j] = candidate;
            k[j] = static_cast<uint8_t>(r * columns.size + c);
          }
        }
      }
    }
    if (values) {
      elements largest_values;
      for (int j = 0; j < count; ++j)
        largest_values.items[j] = store<T>(value[j]);
      values[i] = largest_values;
    }
    if (chosen) {
      numbers largest_numbers;
      for (int j = 0; j < count; ++j)
        largest_numbers.items[j] = k[j];
      chosen[i] = largest_numbers;
    }
  }
};

/// Each element of the input gathers from the windows that contain it.
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
    packed_spot position{by.on.in, by.packs, i};
    const auto &rows = by.on.axes[1], &columns = by.on.axes[2];
    compute_type<T> sum[count];
    for (int j = 0; j < count; ++j)
      sum[j] = 0;
    auto first = columns.first_of(position.column), last = columns.last_of(position.column);
    for (auto r = rows.first_of(position.row); r < rows.last_of(position.row); ++r) {
      if (!rows.is_of(position.row, r))
        continue;
      for (auto c = first; c < last; ++c) {
        if (!columns.is_of(position.column, c))
          continue;
        auto window = by.place(by.on.out, position, rows.window_of(position.row, r),
                               columns.window_of(position.column, c));
        auto largest = chosen[window];
        auto gradient = dy[window];
        for (int j = 0; j < count; ++j)
          if (largest.items[j] == r * columns.size + c)
            sum[j] += load(gradient.items[j]);
      }
    }
    elements sums_of_packs;
    for (int j = 0; j < count; ++j)
      sums_of_packs.items[j] = store<T>(sum[j]);
    dx[i] = sums_of_packs;
  }
};

/// `outputs` is the number of packs of the output.
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
  const auto packed_layout = packed<T>(on);
  auto packs_of = [](const tensor& operand) { return reinterpret_cast<elements*>(operand.raw()); };
  TROUPE_TRY(for_each(at, dy.elements() / find::count,
                      find{packed_layout, packs_of(x), nullptr, largest}));
  return for_each(at, dx.elements() / find::count,
                  gather{packed_layout, largest, packs_of(dy), packs_of(dx)});
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
