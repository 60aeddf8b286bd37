// The kernels of LowerBound and UpperBound.
#pragma once
#include "troupe/ops/array/distinct.hpp"
#include "troupe/ops/array/order_keys.hpp"

#include <algorithm>
#include <limits>

namespace troupe::ops {

template <class T, bool Upper>
status search_rows(kernel_context& at) {
  const auto &sorted = at.input(0), &values = at.input(1);
  if (sorted.rank() != 2 || values.rank() != 2 || sorted.dims()[0] != values.dims()[0])
    return invalid("sorted_inputs and values must be matrices with as many rows, got ",
                   sorted.dims(), " and ", values.dims());
  auto length = sorted.dims()[1], columns = values.dims()[1];
  TROUPE_ASSIGN(auto* out, at.allocate(0, values.dims()));
  if (out->type() == dtype::i32 && length > std::numeric_limits<int32_t>::max())
    return invalid("sorted_inputs has more places than an i32 can name");
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
constexpr upto<typed_kernel, 18> search_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, search_rows<Ts, Upper>}...};
}

} // namespace troupe::ops
