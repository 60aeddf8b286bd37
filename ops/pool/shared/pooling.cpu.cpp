#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/pool/shared/max_pool_lanes.cpu.hpp"
#include "troupe/ops/pool/shared/pool_rows.cpu.hpp"

#include <atomic>
#include <limits>

namespace troupe::ops {
namespace {

template <class T>
bool exceeds(T a, T b) {
  return widen(a) > widen(b) || is_nan(widen(a));
}

template <class T>
void keep_larger(const T* x, T* best, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i)
    best[i] = exceeds(x[i], best[i]) ? x[i] : best[i];
}

/// Where an element of the row is larger than the best so far, it becomes the best, and `chosen`
/// its number. A NaN counts as the largest, and stays.
template <class T>
inline __attribute__((always_inline)) void choose_larger(const T* x, int32_t number, T* best,
                                                         int32_t* chosen, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    bool larger = exceeds(x[i], best[i]), number_so_far = !is_nan(widen(best[i]));
    auto better = larger & number_so_far;
    best[i] = better ? x[i] : best[i];
    chosen[i] = better ? number : chosen[i];
  }
}
template <class T>
TROUPE_SIMD_CLONES void choose_larger_hot(const T* x, int32_t number, T* best, int32_t* chosen,
                                          int64_t count) {
  choose_larger(x, number, best, chosen, count);
}

/// Adds the elements of a row whose number was chosen.
template <class T, class Sum>
void add_chosen(const T* x, const int32_t* chosen, int32_t number, Sum* sums, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i)
    sums[i] = chosen[i] == number ? wrapping(std::plus<>{}, sums[i], Sum(widen(x[i]))) : sums[i];
}

template <class T>
T lowest() {
  if constexpr (is_half<T>)
    return T{-std::numeric_limits<float>::infinity()};
  else
    return std::numeric_limits<T>::lowest();
}

/// Calls the body with a std::type_identity of the type, if it is in the list.
template <class Body, class... Ts>
void with_type(dtype type, type_list<Ts...>, Body&& body) {
  (void)((type == dtype_of<Ts> && (body(std::type_identity<Ts>{}), true)) || ...);
}

template <class T>
void find_largest(kernel_context& at, const pooling& geometry, const T* x, int32_t* chosen) {
  at.parallel_for(
      geometry.images * geometry.outputs(), 2 * geometry.cost(), [&](int64_t begin, int64_t end) {
        std::vector<T> best(static_cast<size_t>(geometry.channels));
        for (auto i = begin; i < end; ++i) {
          auto* to = chosen + i * geometry.channels;
          auto first = true;
          for_each_element(geometry.axes, place_of(i, geometry.axes, &window_axis::out),
                           [&](int64_t k, int64_t pixel) {
                             const auto* row = x + pixel * geometry.channels;
                             auto number = static_cast<int32_t>(k);
                             if (std::exchange(first, false)) {
                               std::copy_n(row, geometry.channels, best.data());
                               std::fill_n(to, geometry.channels, number);
                             } else if constexpr (is_hot<T>) {
                               choose_larger_hot(row, number, best.data(), to, geometry.channels);
                             } else {
                               choose_larger(row, number, best.data(), to, geometry.channels);
                             }
                           });
          if (first) // only padding
            std::fill_n(to, geometry.channels, -1);
        }
      });
}

/// The input pixel of element k of an output's window.
int64_t pixel_of(const window_axes& axes, const pixel_place& out, int64_t k) {
  int64_t element[3];
  for (size_t i = 3; i-- > 0; k /= axes[i].size)
    element[i] = k % axes[i].size;
  auto pixel = out.image;
  for (size_t i = 0; i < 3; ++i)
    pixel = pixel * axes[i].in + out.at[i] * axes[i].stride - axes[i].before +
            element[i] * axes[i].dilation;
  return pixel;
}

/// Calls `body(i, j)`: element i of the output has its maximum at element j of the input; j is -1
/// where there is none.
template <class Body>
void for_each_largest(kernel_context& at, const pooling& geometry, const tensor& largest,
                      const Body& body) {
  if (largest.elements() == 0)
    return;
  const auto* chosen = largest.data<int32_t>();
  at.parallel_for(geometry.images * geometry.outputs(), 3 * static_cast<double>(geometry.channels),
                  [&](int64_t begin, int64_t end) {
                    for (auto i = begin; i < end; ++i) {
                      auto where = place_of(i, geometry.axes, &window_axis::out);
                      for (auto j = i * geometry.channels; j < (i + 1) * geometry.channels; ++j)
                        body(j, chosen[j] < 0 ? -1
                                              : pixel_of(geometry.axes, where, chosen[j]) *
                                                        geometry.channels +
                                                    j % geometry.channels);
                    }
                  });
}

// Copies the elements at those positions.
void gather_largest(kernel_context& at, const pooling& geometry, const tensor& largest,
                    const tensor& from, const tensor& to) {
  with_word(from.type(), [&]<class Word>(std::type_identity<Word>) {
    if constexpr (!std::is_same_v<Word, std::string>) {
      const auto* x = static_cast<const Word*>(from.raw());
      auto* y = static_cast<Word*>(to.raw());
      for_each_largest(at, geometry, largest,
                       [&](int64_t i, int64_t j) { y[i] = j < 0 ? Word{} : x[j]; });
    }
  });
}

template <class T>
void max_pool_rows(kernel_context& at, const pooling& geometry, const T* x, T* y) {
  auto planes = geometry.axes[0].out, rows = geometry.axes[1].out, columns = geometry.axes[2].out;
  auto image = geometry.inputs() * geometry.channels, width = columns * geometry.channels;
  at.parallel_for(geometry.images * planes * rows, geometry.cost() * static_cast<double>(columns),
                  [&](int64_t begin, int64_t end) {
                    for (auto i = begin; i < end; ++i)
                      max_pool_row(geometry.axes, i / rows % planes, i % rows, geometry.channels,
                                   x + i / rows / planes * image, y + i * width);
                  });
}

// Windows may overlap: threads divide the images, or strips of their channels.
template <class T>
void max_pool_gradient_of_images(kernel_context& at, const pooling& geometry, const T* x,
                                 const T* dy, T* dx) {
  constexpr int64_t line = 64 / sizeof(T);
  auto strip_count =
      (at.device().threads() + geometry.images - 1) / geometry.images; // strips per image
  auto lines = (geometry.channels + line - 1) / line;
  auto strip = std::max<int64_t>(1, lines / strip_count) * line;
  auto strips = (geometry.channels + strip - 1) / strip;
  auto inputs = geometry.inputs() * geometry.channels,
       outputs = geometry.outputs() * geometry.channels;
  at.parallel_for(
      geometry.images * strips,
      geometry.cost() * static_cast<double>(geometry.outputs() * 2 / strips),
      [&](int64_t begin, int64_t end) {
        for (auto i = begin; i < end; ++i) {
          auto first = i % strips * strip, last = std::min(first + strip, geometry.channels);
          auto* to = dx + i / strips * inputs;
          if (strips == 1)
            std::fill_n(to, inputs, T{});
          else
            for (auto* pixel = to; pixel < to + inputs; pixel += geometry.channels)
              std::fill(pixel + first, pixel + last, T{});
          max_pool_gradient_of_image(geometry.axes, geometry.channels, first, last,
                                     x + i / strips * inputs, dy + i / strips * outputs, to);
        }
      });
}

} // namespace

result<tensor> find_largest(kernel_context& at, const pooling& geometry, const tensor& input) {
  TROUPE_ASSIGN(auto largest, tensor::make(dtype::i32, geometry.output, at.memory()));
  if (largest.elements() > 0)
    with_type(input.type(), types::real_numbers, [&]<class T>(std::type_identity<T>) {
      find_largest(at, geometry, static_cast<const T*>(input.data<T>()),
                   largest.template data<int32_t>());
    });
  return largest;
}

result<given_places> take_places(kernel_context& at, const tensor& argmax) {
  TROUPE_ASSIGN(auto geometry, make_pooling(at, at.input(0).dims()));
  TROUPE_TRY(expect_dims(argmax, geometry.output, "argmax"));
  TROUPE_ASSIGN(auto places, tensor::make(dtype::i64, argmax.dims(), at.memory()));
  auto image = geometry.inputs() * geometry.channels,
       windows = geometry.outputs() * geometry.channels;
  auto include_batch = at.state<pool_state>().include_batch;
  std::atomic<bool> outside = false;
  with_type(argmax.type(), type_list<int32_t, int64_t>{}, [&]<class T>(std::type_identity<T>) {
    const auto* from = argmax.data<T>();
    auto* to = places.template data<int64_t>();
    at.parallel_for(argmax.elements(), 1, [&](int64_t begin, int64_t end) {
      for (auto i = begin; i < end; ++i) {
        auto first = i / windows * image;
        auto place = include_batch ? int64_t{from[i]} - first : int64_t{from[i]};
        if (place < 0 || place >= image)
          outside = true;
        else
          to[i] = first + place;
      }
    });
  });
  if (outside)
    return invalid("argmax must have places within the image of each window, of ", image,
                   " elements");
  return given_places{std::move(geometry), std::move(places)};
}

status max_pool_second_gradient(kernel_context& at) {
  TROUPE_ASSIGN(auto geometry, make_pooling(at, at.input(0).dims()));
  TROUPE_TRY(expect_dims(at.input(1), geometry.output, "orig_output"));
  TROUPE_TRY(expect_dims(at.input(2), geometry.input, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.output));
  TROUPE_ASSIGN(auto largest, find_largest(at, geometry, at.input(0)));
  gather_largest(at, geometry, largest, at.input(2), *out);
  return {};
}

status max_pool_with_places(kernel_context& at) {
  const auto& input = at.input(0);
  TROUPE_ASSIGN(auto geometry, make_pooling(at, input.dims()));
  TROUPE_TRY(expect_places(at, input));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.output));
  TROUPE_ASSIGN(auto* places, at.allocate(1, geometry.output));
  TROUPE_ASSIGN(auto largest, find_largest(at, geometry, input));
  gather_largest(at, geometry, largest, input, *out);
  auto image = geometry.inputs() * geometry.channels,
       windows = geometry.outputs() * geometry.channels;
  auto include_batch = at.state<pool_state>().include_batch;
  with_type(places->type(), type_list<int32_t, int64_t>{}, [&]<class T>(std::type_identity<T>) {
    auto* to = places->template data<T>();
    for_each_largest(at, geometry, largest, [&](int64_t i, int64_t j) {
      to[i] = static_cast<T>(include_batch ? j : j - i / windows * image);
    });
  });
  return {};
}

template <class T>
status max_pool(kernel_context& at) {
  const auto& input = at.input(0);
  TROUPE_ASSIGN(auto geometry, make_pooling(at, input.dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.output));
  const auto* x = input.data<T>();
  auto* y = out->template data<T>();
  if (out->elements() == 0)
    return {};
  if constexpr (is_hot<T>) {
    max_pool_rows(at, geometry, x, y);
    return {};
  }
  at.parallel_for(geometry.images * geometry.outputs(), geometry.cost(),
                  [&](int64_t begin, int64_t end) {
                    for (auto i = begin; i < end; ++i) {
                      auto* best = y + i * geometry.channels;
                      auto first = true;
                      for_each_element(geometry.axes, place_of(i, geometry.axes, &window_axis::out),
                                       [&](int64_t, int64_t pixel) {
                                         const auto* row = x + pixel * geometry.channels;
                                         if (std::exchange(first, false))
                                           std::copy_n(row, geometry.channels, best);
                                         else
                                           keep_larger(row, best, geometry.channels);
                                       });
                      if (first) // only padding
                        std::fill_n(best, geometry.channels, lowest<T>());
                    }
                  });
  return {};
}

template <class T>
status max_pool_gradient(kernel_context& at) {
  TROUPE_ASSIGN(auto geometry, make_pooling(at, at.input(0).dims()));
  TROUPE_TRY(expect_dims(at.input(1), geometry.output, "orig_output"));
  TROUPE_TRY(expect_dims(at.input(2), geometry.output, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.input));
  if (out->elements() == 0)
    return {};
  const auto* dy = at.input(2).data<T>();
  if constexpr (is_hot<T>) {
    if (at.input(0).type() == dtype_of<T>) { // MaxPool3DGrad takes a gradient of another type
      max_pool_gradient_of_images(at, geometry, at.input(0).data<T>(), dy, out->template data<T>());
      return {};
    }
  }
  TROUPE_ASSIGN(auto largest, find_largest(at, geometry, at.input(0)));
  const auto* chosen = largest.template data<int32_t>();
  fill_rows(at, out->template data<T>(), geometry.images * geometry.inputs(), geometry.channels,
            geometry.cost(), [&](int64_t i, compute_type<T>* sums) {
              for_each_window(geometry.axes, place_of(i, geometry.axes, &window_axis::in),
                              [&](int64_t k, int64_t window) {
                                const auto* window_numbers = chosen + window * geometry.channels;
                                const auto* from = dy + window * geometry.channels;
                                auto number = static_cast<int32_t>(k);
                                add_chosen(from, window_numbers, number, sums, geometry.channels);
                              });
            });
  return {};
}

template status max_pool<float16>(kernel_context&);
template status max_pool_gradient<float16>(kernel_context&);
template status max_pool<bfloat16>(kernel_context&);
template status max_pool_gradient<bfloat16>(kernel_context&);
template status max_pool<float>(kernel_context&);
template status max_pool_gradient<float>(kernel_context&);
template status max_pool<double>(kernel_context&);
template status max_pool_gradient<double>(kernel_context&);
template status max_pool<int8_t>(kernel_context&);
template status max_pool_gradient<int8_t>(kernel_context&);
template status max_pool<int16_t>(kernel_context&);
template status max_pool_gradient<int16_t>(kernel_context&);
template status max_pool<int32_t>(kernel_context&);
template status max_pool_gradient<int32_t>(kernel_context&);
template status max_pool<int64_t>(kernel_context&);
template status max_pool_gradient<int64_t>(kernel_context&);
template status max_pool<uint8_t>(kernel_context&);
template status max_pool_gradient<uint8_t>(kernel_context&);
template status max_pool<uint16_t>(kernel_context&);
template status max_pool_gradient<uint16_t>(kernel_context&);
template status max_pool<uint32_t>(kernel_context&);
template status max_pool_gradient<uint32_t>(kernel_context&);
template status max_pool<uint64_t>(kernel_context&);
template status max_pool_gradient<uint64_t>(kernel_context&);

} // namespace troupe::ops
