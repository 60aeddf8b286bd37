// The kernels of TopK and TopKV2 for GPUs.
#pragma once
#include "troupe/ops/index/shared/order_keys.cuda.hpp"
#include "troupe/ops/index/shared/top_k.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct candidate {
  uint64_t key;
  int64_t place;

  /// Greater elements first; of equal elements the first.
  TROUPE_DEVICE bool before(const candidate& other) const {
    return key != other.key ? key > other.key : place < other.place;
  }
};
struct first_candidate {
  TROUPE_DEVICE static candidate step(const candidate& a, const candidate& b) {
    return b.before(a) ? b : a;
  }
};

// Finds the greatest element, then the greatest after it, and so on.
template <class T>
struct select_greatest_body {
  const T* from;
  int64_t columns, k;
  T* values;
  integer_output places;

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t row, const Group& group) const {
    const T* x = from + row * columns;
    candidate last{UINT64_MAX, -1};
    for (int64_t j = 0; j < k; ++j) {
      candidate best{0, INT64_MAX};
      for (int64_t i = group.rank(); i < columns; i += group.size()) {
        candidate contender{key_of(load(x[i])), i};
        if (last.before(contender) && contender.before(best))
          best = contender;
      }
      last = group.template all<first_candidate>(best);
      if (group.rank() == 0) {
        values[row * k + j] = x[last.place];
        places.set(row * k + j, last.place);
      }
    }
  }
};

template <class T>
struct take_greatest_body {
  const T* from;
  integers order;
  divisor by_k;
  int64_t columns;
  T* values;
  integer_output places;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto [row, j] = by_k(i);
    auto place = order[row * columns + j];
    values[i] = from[row * columns + place];
    places.set(i, place);
  }
};

// A small k is found by repeated search: one launch, and about a microsecond per 1000 elements read
// in a row. A larger k of long rows is found by sorting.
template <class T>
bool better_sorted(int64_t k, int64_t columns) {
  return k > 8 && k * columns > 1 << 16 && can_sort_rows_of<T>(columns);
}

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
  if (!better_sorted<T>(k, columns))
    return for_each_group(at, rows, columns,
                          select_greatest_body<T>{from, columns, k, to, integer_output{*places}});
  TROUPE_ASSIGN(auto keys, short_keys<T>(at, x, true));
  TROUPE_ASSIGN(auto sorted, sort_rows(at, keys, short_key<T>::bits));
  return for_each(at, values->elements(),
                  take_greatest_body<T>{from,
                                        integers{sorted.places},
                                        {k, values->elements()},
                                        columns,
                                        to,
                                        integer_output{*places}});
}

inline constexpr auto sorted_types = types::floating + type_list<int32_t, int64_t>{};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
