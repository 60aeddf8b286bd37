// The kernels of TopK and TopKV2 for GPUs.
#pragma once
#include "troupe/ops/array/greatest.hpp"
#include "troupe/ops/array/order_keys.cuda.hpp"
#include "troupe/ops/updates.cuda.hpp"

namespace troupe::ops::gpu {
#ifdef __CUDACC__
inline namespace on_cuda {
#else
inline namespace simulated {
#endif

struct candidate {
  uint64_t key;
  int64_t place;

  /// Greater ones first; of equal ones the first.
  TROUPE_DEVICE bool before(const candidate& other) const {
    return key != other.key ? key > other.key : place < other.place;
  }
};
struct first_candidate {
  TROUPE_DEVICE static candidate step(const candidate& a, const candidate& b) {
    return b.before(a) ? b : a;
  }
};

// The greatest, then the greatest behind that one, and so on.
template <class T>
struct select_greatest_body {
  const T* from;
  int64_t columns, k;
  T* values;
  integer_output places;

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t row, const Group& by) const {
    const T* x = from + row * columns;
    candidate last{UINT64_MAX, -1};
    for (int64_t j = 0; j < k; ++j) {
      candidate best{0, INT64_MAX};
      for (int64_t i = by.rank(); i < columns; i += by.size()) {
        candidate one{key_of(load(x[i])), i};
        if (last.before(one) && one.before(best))
          best = one;
      }
      last = by.template all<first_candidate>(best);
      if (by.rank() == 0) {
        values[row * k + j] = x[last.place];
        places.set(row * k + j, last.place);
      }
    }
  }
};

template <class T>
struct ranked_parts_body {
  const T* from;
  divisor by_columns;
  int64_t* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    constexpr auto bits = short_key<T>::bits;
    auto key = ((uint64_t{1} << bits) - 1) - short_key<T>::of(from[i]);
    to[i] = static_cast<int64_t>(static_cast<uint64_t>(by_columns(i).quotient) << bits | key);
  }
};

template <class T>
struct take_greatest_body {
  const T* from;
  const int64_t* numbers;
  divisor by_k;
  int64_t columns;
  T* values;
  integer_output places;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto [row, j] = by_k(i);
    auto number = numbers[row * columns + j];
    values[i] = from[number];
    places.set(i, number - row * columns);
  }
};

template <class T>
status find_greatest(kernel_context& at, int64_t k) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto dims, greatest_dims(at, k));
  TROUPE_ASSIGN(auto* values, at.allocate(0, dims));
  TROUPE_ASSIGN(auto* places, at.allocate(1, dims));
  if (values->elements() == 0)
    return {};
  auto columns = x.dims()[x.rank() - 1], rows = x.elements() / columns;
  const auto* from = x.data<T>();
  auto* to = values->template data<T>();
  // Many of long rows are sorted, with all rows at once; elements of 64 bits leave no room for the
  // row in the key.
  if constexpr (sizeof(T) < 8) {
    constexpr auto bits = short_key<T>::bits;
    if (k > 16 && k * columns > 1 << 20 && rows < int64_t{1} << (62 - bits)) {
      TROUPE_ASSIGN(auto parts, tensor::make(dtype::i64, x.dims(), at.memory()));
      TROUPE_TRY(for_each(
          at, x.elements(),
          ranked_parts_body<T>{from, {columns, x.elements()}, parts.template data<int64_t>()}));
      TROUPE_ASSIGN(auto sorted, sort_updates(at, std::move(parts), rows << bits));
      return for_each(at, values->elements(),
                      take_greatest_body<T>{from,
                                            sorted.numbers.template data<int64_t>(),
                                            {k, values->elements()},
                                            columns,
                                            to,
                                            integer_output{*places}});
    }
  }
  return for_each_group(at, rows, columns,
                        select_greatest_body<T>{from, columns, k, to, integer_output{*places}});
}

inline constexpr auto sorted_types = types::floating + type_list<int32_t, int64_t>{};

} // namespace on_cuda or simulated
} // namespace troupe::ops::gpu
