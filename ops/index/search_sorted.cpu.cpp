#include "troupe/ops/index/shared/search_sorted.hpp"
#include "troupe/ops/index/shared/bucketize.hpp"
#include "troupe/ops/index/shared/order_keys.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/sets/shared/unique_shapes.hpp"

#include <algorithm>

namespace troupe::ops::search_sorted_cpu {
namespace {

template <class T, bool Upper>
status search_rows(kernel_context& at) {
  const auto &sorted = at.input(0), &values = at.input(1);
  TROUPE_TRY(check_bounds(at));
  auto length = sorted.dims()[1], columns = values.dims()[1];
  TROUPE_ASSIGN(auto* out, at.allocate(0, values.dims()));
  const T *from = sorted.data<T>(), *sought = values.data<T>();
  auto less = [](const T& a, const T& b) { return widen(a) < widen(b); };
  at.parallel_for(values.elements(), 30, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const T* row = from + i / columns * length;
      const T* position = Upper ? std::upper_bound(row, row + length, sought[i], less)
                                : std::lower_bound(row, row + length, sought[i], less);
      set_integer(*out, i, position - row);
    }
  });
  return {};
}

template <bool Upper, class... Ts>
constexpr inplace_vector<typed_kernel, 18> search_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, search_rows<Ts, Upper>}...};
}

template <class T>
status run(kernel_context& at) {
  const auto& in = at.input(0);
  TROUPE_ASSIGN(auto* out, at.allocate(0, in.dims()));
  const auto& sorted = at.state<bucket_boundaries>();
  const auto* x = in.data<T>();
  auto* to = out->template data<int32_t>();
  at.parallel_for(in.elements(), 10, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      to[i] = static_cast<int32_t>(std::ranges::upper_bound(sorted, x[i]) - sorted.begin());
  });
  return {};
}

} // namespace

extern constexpr kernel_def lower_bound_cpu{
    .op = "LowerBound",
    .run = search_kernels<false>(types::real_numbers),
};

extern constexpr kernel_def upper_bound_cpu{
    .op = "UpperBound",
    .run = search_kernels<true>(types::real_numbers),
};

extern constexpr kernel_def bucketize_cpu{
    .op = "Bucketize",
    .run = {{dtype::i32, run<int32_t>},
            {dtype::i64, run<int64_t>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .prepare = prepare_buckets,
};

} // namespace troupe::ops::search_sorted_cpu
