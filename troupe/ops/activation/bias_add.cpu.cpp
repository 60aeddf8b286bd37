#include "troupe/ops/activation/shared/bias.hpp"
#include "troupe/ops/kernel/element_types.hpp"

namespace troupe::ops::bias_add_cpu {
namespace {

template <class T>
T plus(const T& a, const T& b) {
  return wrapping([](auto x, auto y) { return static_cast<T>(widen(x) + widen(y)); }, a, b);
}

// The buffers may be the same one.
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
status run(kernel_context& at) {
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
constexpr inplace_vector<typed_kernel, 18> table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def bias_add_cpu{
    .op = "BiasAdd",
    .device = device_kind::cpu,
    .run = table(types::numbers),
    .prepare = prepare_bias,
};

} // namespace troupe::ops::bias_add_cpu
