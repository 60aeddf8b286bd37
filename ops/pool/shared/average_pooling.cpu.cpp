#include "troupe/ops/pool/shared/pool_rows.cpu.hpp"

namespace troupe::ops {
namespace {

template <class T>
inline __attribute__((always_inline)) void add_scaled(const T* x, compute_type<T> factor,
                                                      compute_type<T>* sums, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i)
    sums[i] += factor * static_cast<compute_type<T>>(widen(x[i]));
}
template <class T>
TROUPE_SIMD_CLONES void add_scaled_hot(const T* x, T factor, T* sums, int64_t count) {
  add_scaled(x, factor, sums, count);
}
template <class T>
void add_scaled_any(const T* x, compute_type<T> factor, compute_type<T>* sums, int64_t count) {
  if constexpr (is_hot<T>)
    add_scaled_hot(x, factor, sums, count);
  else
    add_scaled(x, factor, sums, count);
}

} // namespace

template <class T>
status average_pool(kernel_context& at) {
  TROUPE_ASSIGN(auto geometry, make_pooling(at, at.input(0).dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.output));
  if (out->elements() == 0)
    return {};
  const auto* x = at.input(0).data<T>();
  using number = compute_type<T>;
  fill_rows(at, out->template data<T>(), geometry.images * geometry.outputs(), geometry.channels,
            geometry.cost(), [&](int64_t i, number* sums) {
              auto where = place_of(i, geometry.axes, &window_axis::out);
              for_each_element(geometry.axes, where, [&](int64_t, int64_t pixel) {
                add_scaled_any(x + pixel * geometry.channels, number{1}, sums, geometry.channels);
              });
              auto share = number{1} / static_cast<number>(elements_in(geometry.axes, where));
              for (int64_t c = 0; c < geometry.channels; ++c)
                sums[c] *= share;
            });
  return {};
}

template <class T>
status average_pool_gradient(kernel_context& at) {
  TROUPE_ASSIGN(auto geometry, make_pooling_of_sizes(at, at.input(0)));
  TROUPE_TRY(expect_dims(at.input(1), geometry.output, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.input));
  if (out->elements() == 0)
    return {};
  const auto* dy = at.input(1).data<T>();
  using number = compute_type<T>;
  fill_rows(at, out->template data<T>(), geometry.images * geometry.inputs(), geometry.channels,
            geometry.cost(), [&](int64_t i, number* sums) {
              for_each_window(
                  geometry.axes, place_of(i, geometry.axes, &window_axis::in),
                  [&](int64_t, int64_t window) {
                    auto where = place_of(window, geometry.axes, &window_axis::out);
                    auto share = number{1} / static_cast<number>(elements_in(geometry.axes, where));
                    add_scaled_any(dy + window * geometry.channels, share, sums, geometry.channels);
                  });
            });
  return {};
}

template status average_pool<float16>(kernel_context&);
template status average_pool_gradient<float16>(kernel_context&);
template status average_pool<bfloat16>(kernel_context&);
template status average_pool_gradient<bfloat16>(kernel_context&);
template status average_pool<float>(kernel_context&);
template status average_pool_gradient<float>(kernel_context&);
template status average_pool<double>(kernel_context&);
template status average_pool_gradient<double>(kernel_context&);

} // namespace troupe::ops
