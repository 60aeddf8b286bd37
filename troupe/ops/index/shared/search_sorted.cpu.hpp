// The kernels of LowerBound and UpperBound.
#pragma once
#include "troupe/ops/index/shared/order_keys.hpp"
#include "troupe/ops/index/shared/search_sorted.hpp"
#include "troupe/ops/sets/shared/unique_shapes.hpp"

#include <algorithm>

namespace troupe::ops {

template <class T, bool Upper>
status search_rows(kernel_context& at) {
  const auto &sorted = at.input(0), &values = at.input(1);
  TROUPE_TRY(check_bounds(at));
  auto length = sorted.dims()[1], columns = values.dims()[1];
  TROUPE_ASSIGN(auto* out, at.allocate(0, values.dims()));
  const T *from = sorted.data<T>(), *wanted = values.data<T>();
  auto less = [](const T& a, const T& b) { return widen(a) < widen(b); };
  at.parallel_for(values.elements(), 30, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const T* row = from + i / columns * length;
      const T* found = Upper ? std::upper_bound(row, row + length, wanted[i], less)
                             : std::lower_bound(row, row + length, wanted[i], less);
      set_integer(*out, i, found - row);
    }
  });
  return {};
}

template <bool Upper, class... Ts>
constexpr inplace_vector<typed_kernel, 18> search_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, search_rows<Ts, Upper>}...};
}

} // namespace troupe::ops
