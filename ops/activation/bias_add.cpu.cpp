#include "troupe/ops/activation/shared/bias.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace troupe::ops::bias_add_cpu {
namespace {

template <class T>
T plus(const T& a, const T& b) {
  return wrapping([](auto x, auto y) { return static_cast<T>(widen(x) + widen(y)); }, a, b);
}

// The output may share the buffer of the value.
template <class T>
inline __attribute__((always_inline)) void add_rows(const T* x, const T* bias, T* y, int64_t count,
                                                    int64_t columns) {
  for (int64_t row = 0; row < count; ++row, x += columns, y += columns) {
#pragma GCC ivdep
    for (int64_t c = 0; c < columns; ++c)
      y[c] = plus(x[c], bias[c]);
  }
}

template <class T>
TROUPE_SIMD_CLONES void add_rows_hot(const T* x, const T* bias, T* y, int64_t count,
                                     int64_t columns) {
  add_rows(x, bias, y, count, columns);
}

template <class T>
void add_planes(const T* x, const T* bias, T* y, const channel_view& view, int64_t begin,
                int64_t end) {
  for (auto plane = begin; plane < end; ++plane) {
    auto offset = bias[plane % view.channels];
    for (auto i = plane * view.inner; i < (plane + 1) * view.inner; ++i)
      y[i] = plus(x[i], offset);
  }
}

template <class T>
status run_bias_add(kernel_context& at) {
  const auto &value = at.input(0), &bias = at.input(1);
  TROUPE_ASSIGN(auto view, view_biased(at, value.dims(), bias.dims()));
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, value.dims()));
  const auto *x = value.data<T>(), *b = bias.data<T>();
  auto* y = out->template data<T>();
  auto columns = view.channels;
  if (view.inner == 1)
    at.parallel_for(view.outer, 0.3 * static_cast<double>(columns),
                    [&](int64_t begin, int64_t end) {
                      const auto* from = x + begin * columns;
                      auto* to = y + begin * columns;
                      if constexpr (is_hot<T>)
                        add_rows_hot(from, b, to, end - begin, columns);
                      else
                        add_rows(from, b, to, end - begin, columns);
                    });
  else
    at.parallel_for(view.outer * columns, 0.3 * static_cast<double>(view.inner),
                    [&](int64_t begin, int64_t end) { add_planes(x, b, y, view, begin, end); });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> bias_add_table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_bias_add<Ts>}...};
}

// Sums in the type that keeps small addends; whole numbers wrap around instead of overflowing.
template <class T>
using sum_type = std::conditional_t<std::is_integral_v<T>, uint64_t, compute_type<T>>;

template <class T>
constexpr int64_t channels_per_line = std::max<int64_t>(16, 64 / sizeof(T));

template <class T>
constexpr int64_t longest_part = 16 * channels_per_line<T>;

// Adds up channels [begin, end), row by row, so that memory is read nearly in its order.
template <class T>
void sum_channels(kernel_context& at, const T* x, const channel_view& view, int64_t begin,
                  int64_t end, T* y) {
  std::array<sum_type<T>, longest_part<T>> partial_sums{};
  auto sums = std::span{partial_sums}.first(static_cast<size_t>(end - begin));
  auto look_each =
      std::max<int64_t>(1, 500'000 / ((end - begin) * std::max<int64_t>(1, view.inner)));
  for (int64_t row = 0; row < view.outer; ++row) {
    if (row % look_each == look_each - 1 && at.stopped())
      return;
    const auto* from = x + (row * view.channels + begin) * view.inner;
    if (view.inner == 1) {
      for (size_t c = 0; c < sums.size(); ++c)
        sums[c] += static_cast<sum_type<T>>(from[c]);
    } else {
      for (auto& sum : sums)
        for (int64_t i = 0; i < view.inner; ++i)
          sum += static_cast<sum_type<T>>(*from++);
    }
  }
  std::ranges::transform(sums, y + begin, [](auto sum) { return static_cast<T>(sum); });
}

template <class T>
status run_bias_add_grad(kernel_context& at) {
  const auto& value = at.input(0);
  TROUPE_ASSIGN(auto view, view_channels(value.dims(), at.state<bool>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{view.channels}));
  const auto* x = value.data<T>();
  auto* y = out->template data<T>();
  // A strip is a cache line wide, so that threads do not share cache lines.
  constexpr auto strip = channels_per_line<T>;
  auto cost = 0.6 * static_cast<double>(view.outer) * static_cast<double>(view.inner) *
              static_cast<double>(std::min(strip, view.channels));
  at.device().parallel_for( // looks at the stop signal itself, and may go along whole rows
      (view.channels + strip - 1) / strip, cost, [&](int64_t begin, int64_t end) {
        end = std::min(end * strip, view.channels);
        for (begin *= strip; begin < end; begin += longest_part<T>)
          sum_channels(at, x, view, begin, std::min(begin + longest_part<T>, end), y);
      });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> bias_add_grad_table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_bias_add_grad<Ts>}...};
}

} // namespace

extern constexpr kernel_def bias_add_cpu{
    .op = "BiasAdd",
    .device = device_kind::cpu,
    .run = bias_add_table(types::numbers),
    .prepare = prepare_bias,
};

extern constexpr kernel_def bias_add_grad_cpu{
    .op = "BiasAddGrad",
    .device = device_kind::cpu,
    .run = bias_add_grad_table(types::numbers),
    .prepare = prepare_bias,
};

} // namespace troupe::ops::bias_add_cpu
