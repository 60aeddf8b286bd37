// Kernels of GPUs that combine rows with the same number, in their order: results do not vary.
#pragma once
#include "troupe/ops/math/elementwise.cuda.hpp"
#include "troupe/ops/math/segment_functions.hpp"
#include "troupe/ops/math/segment_rows.hpp"
#include "troupe/ops/updates.cuda.hpp"

namespace troupe::ops::gpu {
#ifdef __CUDACC__
inline namespace on_cuda {
#else
inline namespace simulated {
#endif

/// Entries whose segments do not decrease. Those of segment i are [starts[i], starts[i + 1]), and
/// each names a row.
struct segment_entries {
  tensor starts; // i64
  tensor rows;   // whole numbers
};

// The first entry whose number is not less, by halving what is left.
struct segment_start_body {
  integers numbers;
  int64_t count;
  int64_t* starts;
  TROUPE_DEVICE void operator()(int64_t segment) const {
    int64_t low = 0, high = count;
    while (low < high) {
      auto middle = low + (high - low) / 2;
      if (numbers[middle] < segment)
        low = middle + 1;
      else
        high = middle;
    }
    starts[segment] = low;
  }
};

inline result<tensor> segment_starts(kernel_context& at, const tensor& numbers, int64_t segments) {
  TROUPE_ASSIGN(auto starts, sorting::room(at, segments + 1));
  TROUPE_TRY(for_each(
      at, segments + 1,
      segment_start_body{integers{numbers}, numbers.elements(), starts.template data<int64_t>()}));
  return starts;
}

struct segment_number_body {
  complaints wrong;
  integers ids;
  int64_t limit;
  int64_t* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto id = ids[i];
    if (id >= limit)
      wrong.add(id, limit);
    to[i] = id < 0 || id >= limit ? limit : id;
  }
};

/// Of ids in any order: negative ones are left out, those that are too large complained of.
inline result<segment_entries> sorted_entries(kernel_context& at, const tensor& ids,
                                              const char* name, int64_t segments) {
  TROUPE_ASSIGN(auto parts, sorting::room(at, ids.elements()));
  TROUPE_TRY(for_each(at, ids.elements(),
                      segment_number_body{complaints{at, name}, integers{ids}, segments,
                                          parts.template data<int64_t>()}));
  TROUPE_ASSIGN(auto sorted, sort_updates(at, std::move(parts), segments));
  TROUPE_ASSIGN(auto starts, segment_starts(at, sorted.parts, segments));
  return segment_entries{std::move(starts), std::move(sorted.numbers)};
}

struct segment_order_body {
  complaints wrong_id, wrong_index, wrong_order;
  integers indices, ids;
  int64_t rows, segments;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto index = indices[i], id = ids[i];
    if (index < 0 || index >= rows)
      wrong_index.add(index, rows);
    if (id < 0 || (i > 0 && id < ids[i - 1]))
      wrong_order.add();
    else if (id >= segments)
      wrong_id.add(id, segments);
  }
};

/// Of ids that must not decrease, each with the index of a row.
inline result<segment_entries> indexed_entries(kernel_context& at, const tensor& indices,
                                               const tensor& ids, int64_t rows, int64_t segments) {
  TROUPE_TRY(for_each(
      at, ids.elements(),
      segment_order_body{complaints{at, "segment_ids"}, complaints{at, "indices"},
                         complaints{at, "segment_ids must start at 0 or more and not decrease"},
                         integers{indices}, integers{ids}, rows, segments}));
  TROUPE_ASSIGN(auto starts, segment_starts(at, ids, segments));
  return segment_entries{std::move(starts), indices};
}

template <class T, class Fn>
struct combine_segment_body {
  using total = troupe::ops::detail::total_t<T>;
  const T* from;
  T* to;
  const int64_t* starts;
  integers rows;
  int64_t most_rows, length;
  divisor by_length;
  T empty;

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t i, const Group& by) const {
    auto [segment, column] = by_length(i);
    auto begin = starts[segment], end = starts[segment + 1];
    auto combined = Fn::template start<total>();
    for (auto k = begin + by.rank(); k < end; k += by.size())
      if (auto row = rows[k]; row >= 0 && row < most_rows)
        combined = Fn::step(combined, static_cast<total>(load(from[row * length + column])));
    combined = by.template all<Fn>(combined);
    if (by.rank() == 0)
      to[i] = begin >= end
                  ? empty
                  : store<T>(static_cast<compute_type<T>>(Fn::finish(combined, end - begin)));
  }
};

/// Row i of `to` from the rows of `from` that the entries of segment i name.
template <class T, class Fn>
status combine_entries(kernel_context& at, const segment_entries& entries, const T* from, T* to,
                       int64_t most_rows, int64_t segments, int64_t length) {
  auto all = segments * length;
  // Long rows keep neighbouring threads beside each other; of short ones several threads take the
  // entries of a segment.
  auto each = length >= 32 || segments == 0 ? 1 : entries.rows.elements() / segments;
  return for_each_group(at, all, each,
                        combine_segment_body<T, Fn>{from, to, entries.starts.data<int64_t>(),
                                                    integers{entries.rows}, most_rows, length,
                                                    divisor{length, all}, empty_segment<Fn, T>()});
}

template <class T, class Fn>
status combine_unsorted(kernel_context& at) {
  TROUPE_ASSIGN(auto output, unsorted_output(at));
  const auto &data = at.input(0), &ids = at.input(1);
  TROUPE_ASSIGN(auto entries, sorted_entries(at, ids, "segment_ids", output.segments));
  return combine_entries<T, Fn>(at, entries, data.data<T>(), output.out->template data<T>(),
                                ids.elements(), output.segments, output.length);
}

template <class T, class Fn>
status combine_sparse(kernel_context& at) {
  TROUPE_ASSIGN(auto output, sparse_output(at));
  const auto& data = at.input(0);
  auto rows = data.dims()[0];
  TROUPE_ASSIGN(auto entries, indexed_entries(at, at.input(1), at.input(2), rows, output.segments));
  return combine_entries<T, Fn>(at, entries, data.data<T>(), output.out->template data<T>(), rows,
                                output.segments, output.length);
}

template <class Fn, class... Ts>
constexpr upto<typed_kernel, 18> unsorted_segment_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, combine_unsorted<Ts, Fn>}...};
}
template <class Fn, class... Ts>
constexpr upto<typed_kernel, 18> sparse_segment_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, combine_sparse<Ts, Fn>}...};
}

} // namespace on_cuda or simulated
} // namespace troupe::ops::gpu
