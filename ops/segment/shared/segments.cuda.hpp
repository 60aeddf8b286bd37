// GPU kernels that combine rows with the same number in a fixed order, so that results do not vary.
#pragma once
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/kernel/gpu/ordered_scatter.cuda.hpp"
#include "troupe/ops/kernel/gpu/two_phase.cuda.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"
#include "troupe/ops/segment/shared/segment_functions.hpp"
#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// Entries whose segments do not decrease. The entries of segment i are [starts[i], starts[i + 1]),
/// and each has a row.
struct segment_entries {
  tensor starts; // i64
  tensor rows;   // integers
};

// The first entry whose number is not less, by binary search.
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
  TROUPE_ASSIGN(auto starts, room_for_numbers(at, segments + 1));
  TROUPE_TRY(for_each(
      at, segments + 1,
      segment_start_body{integers{numbers}, numbers.elements(), starts.template data<int64_t>()}));
  return starts;
}

struct segment_number_body {
  device_errors wrong;
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

/// For ids in any order: negative ids are ignored, those that are too large are reported.
inline result<segment_entries> sorted_entries(kernel_context& at, const tensor& ids,
                                              const char* name, int64_t segments) {
  TROUPE_ASSIGN(auto parts, room_for_numbers(at, ids.elements()));
  TROUPE_TRY(for_each(at, ids.elements(),
                      segment_number_body{device_errors{at, name}, integers{ids}, segments,
                                          parts.template data<int64_t>()}));
  TROUPE_ASSIGN(auto sorted, sort_updates(at, parts, segments));
  TROUPE_ASSIGN(auto starts, segment_starts(at, sorted.parts, segments));
  return segment_entries{std::move(starts), std::move(sorted.numbers)};
}

inline constexpr auto segments_decrease = "segment_ids must start at 0 or more and not decrease";

// For entries with explicit rows.
struct segment_order_body {
  device_errors wrong_id, wrong_index, wrong_order;
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

/// For ids below `limit` that must not decrease, each with the index of a row.
inline result<segment_entries> indexed_entries(kernel_context& at, const tensor& indices,
                                               const tensor& ids, int64_t rows, int64_t limit,
                                               int64_t segments) {
  TROUPE_TRY(
      for_each(at, ids.elements(),
               segment_order_body{device_errors{at, "segment_ids"}, device_errors{at, "indices"},
                                  device_errors{at, segments_decrease}, integers{indices},
                                  integers{ids}, rows, limit}));
  TROUPE_ASSIGN(auto starts, segment_starts(at, ids, segments));
  return segment_entries{std::move(starts), indices};
}

template <class T, class Fn>
struct segment_sink {
  T* to;
  const int64_t* starts;
  divisor by_length;
  T empty;
  template <class Total>
  TROUPE_DEVICE void operator()(int64_t i, const Total& total) const {
    auto segment = by_length(i).quotient;
    auto count = starts[segment + 1] - starts[segment];
    to[i] = count > 0 ? store<T>(static_cast<compute_type<T>>(Fn::finish(total, count))) : empty;
  }
};

// Entry k has row k.
struct own_rows {
  TROUPE_DEVICE int64_t operator[](int64_t k) const { return k; }
};

struct by_itself {
  TROUPE_DEVICE static int size() { return 1; }
  TROUPE_DEVICE static int rank() { return 0; }
  template <class, class T>
  TROUPE_DEVICE static T all(T own_value) {
    return own_value;
  }
};

// Combines one element of a segment, or a share of its entries.
template <class T, class Fn, class Rows, class Sink>
struct combine_segment_body {
  using total = troupe::ops::detail::total_t<T>;
  const T* from;
  const int64_t* starts;
  Rows rows;
  int64_t max_rows, length, all, shares;
  divisor by_length;
  Sink sink;
  const double* weights = nullptr; // the rows' weights

  TROUPE_DEVICE total value(int64_t row, int64_t column) const {
    auto x = static_cast<total>(load(from[row * length + column]));
    if constexpr (std::is_floating_point_v<total>)
      return weights ? static_cast<total>(weights[row]) * x : x;
    else
      return x;
  }

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t i, const Group& group) const {
    auto share = shares > 1 ? i / all : 0;
    auto [segment, column] = by_length(i - share * all);
    auto begin = starts[segment], end = starts[segment + 1];
    auto per_share = (end - begin + shares - 1) / shares;
    begin += share * per_share;
    end = begin + per_share < end ? begin + per_share : end;
    auto combined = Fn::template start<total>();
    for (auto k = begin + group.rank(); k < end; k += group.size())
      if (auto row = rows[k]; row >= 0 && row < max_rows)
        combined = Fn::step(combined, value(row, column));
    combined = group.template all<Fn>(combined);
    if (group.rank() == 0)
      sink(i, combined);
  }
  TROUPE_DEVICE void operator()(int64_t i) const { (*this)(i, by_itself{}); }
};

template <class Fn, class Total, class Sink>
struct combine_shares_body {
  partials<Total> from;
  int64_t shares;
  Sink sink;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto combined = Fn::template start<Total>();
    for (int64_t share = 0; share < shares; ++share)
      combined = Fn::step(combined, from(i, share));
    sink(i, combined);
  }
};

/// Computes row i of `to` from the rows of `from` of segment i's entries, each times its weight
/// where there are weights. There are `count` entries; `rows[k]` is the row of entry k.
template <class T, class Fn, class Rows>
status combine_rows(kernel_context& at, const int64_t* starts, Rows rows, int64_t count,
                    const T* from, T* to, int64_t max_rows, int64_t segments, int64_t length,
                    const double* weights = nullptr) {
  using total = troupe::ops::detail::total_t<T>;
  auto elements = segments * length;
  if (elements == 0)
    return {};
  auto average = count / segments;
  divisor by_length{length, elements};
  segment_sink<T, Fn> sink{to, starts, by_length, empty_segment<Fn, T>()};
  constexpr int64_t wide = 32, busy = 1 << 16, least = 64;
  auto shares = std::min({busy / elements, average / least, int64_t{256}});
  // For long rows, adjacent threads handle adjacent elements; for short rows, several threads
  // divide the entries of a segment.
  if (length < wide || shares < 2)
    return for_each_group(
        at, elements, length < wide ? average : 1,
        combine_segment_body<T, Fn, Rows, segment_sink<T, Fn>>{
            from, starts, rows, max_rows, length, elements, 1, by_length, sink, weights});
  TROUPE_ASSIGN(
      auto share_totals,
      tensor::make(dtype::u8, shape{elements * shares * int64_t{sizeof(total)}}, at.memory()));
  auto* part = static_cast<total*>(share_totals.raw());
  TROUPE_TRY(for_each(
      at, elements * shares,
      combine_segment_body<T, Fn, Rows, keep_partial<total>>{
          from, starts, rows, max_rows, length, elements, shares, by_length, {part}, weights}));
  return for_each(
      at, elements,
      combine_shares_body<Fn, total, segment_sink<T, Fn>>{{part, elements}, shares, sink});
}

template <class T, class Fn>
status combine_entries(kernel_context& at, const segment_entries& entries, const T* from, T* to,
                       int64_t max_rows, int64_t segments, int64_t length,
                       const double* weights = nullptr) {
  return combine_rows<T, Fn>(at, entries.starts.data<int64_t>(), integers{entries.rows},
                             entries.rows.elements(), from, to, max_rows, segments, length,
                             weights);
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
  TROUPE_ASSIGN(auto entries, indexed_entries(at, at.input(1), at.input(2), rows, output.segments,
                                              output.segments));
  return combine_entries<T, Fn>(at, entries, data.data<T>(), output.out->template data<T>(), rows,
                                output.segments, output.length);
}

// -- where the last id tells how many segments there are ------------------------------------------

struct last_id_body {
  device_errors wrong;
  integers ids;
  int64_t count;
  int64_t* segments;
  TROUPE_DEVICE void operator()(int64_t) const {
    auto last = count > 0 ? ids[count - 1] : -1;
    if (last >= max_segments)
      wrong.add(last, max_segments);
    *segments = last < 0 || last >= max_segments ? 0 : last + 1;
  }
};

/// The first half, for the ids in input `Ids`.
template <int Ids>
status count_segments(kernel_context& at) {
  const auto& ids = at.input(Ids);
  TROUPE_ASSIGN(auto* segments, make_counts(at, 1));
  TROUPE_TRY(make_kept(at, shape{0}));
  return for_each(
      at, 1,
      last_id_body{device_errors{at, "segment_ids"}, integers{ids}, ids.elements(), segments});
}

struct sorted_ids_body {
  device_errors wrong;
  integers ids;
  TROUPE_DEVICE void operator()(int64_t i) const {
    if (ids[i] < (i > 0 ? ids[i - 1] : 0))
      wrong.add();
  }
};

/// Second halves.
template <class T, class Fn>
status combine_sorted(kernel_context& at) {
  TROUPE_ASSIGN(auto counted, counted_before(at, 1, max_segments, 0));
  TROUPE_ASSIGN(auto output, sorted_output(at, counted.counts[0]));
  const auto &data = at.input(0), &ids = at.input(1);
  auto rows = ids.elements();
  TROUPE_TRY(
      for_each(at, rows, sorted_ids_body{device_errors{at, segments_decrease}, integers{ids}}));
  TROUPE_ASSIGN(auto starts, segment_starts(at, ids, output.segments));
  return combine_rows<T, Fn>(at, starts.template data<int64_t>(), own_rows{}, rows, data.data<T>(),
                             output.out->template data<T>(), rows, output.segments, output.length);
}

template <class T, class Fn>
status combine_chosen(kernel_context& at) {
  TROUPE_ASSIGN(auto counted, counted_before(at, 1, max_segments, 0));
  TROUPE_ASSIGN(auto output, sparse_output(at, counted.counts[0]));
  const auto& data = at.input(0);
  auto rows = data.dims()[0];
  TROUPE_ASSIGN(auto entries,
                indexed_entries(at, at.input(1), at.input(2), rows, INT64_MAX, output.segments));
  return combine_entries<T, Fn>(at, entries, data.data<T>(), output.out->template data<T>(), rows,
                                output.segments, output.length);
}

// -- gradients -----------------------------------------------------------------------------------

struct count_segments_body {
  device_errors wrong;
  integers ids;
  int64_t limit;
  int64_t* counts;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto id = ids[i];
    if (id < 0 || id >= limit)
      wrong.add(id, limit);
    else
      atomic_add(counts + id, int64_t{1});
  }
};

template <class Weight>
struct weigh_segments_body {
  const int64_t* counts;
  double* weights;
  TROUPE_DEVICE void operator()(int64_t i) const {
    weights[i] = Weight::of(static_cast<double>(counts[i]));
  }
};

// Entries sorted by their destination row, with their source rows.
struct come_from_body {
  device_errors wrong;
  integers indices, ids, order;
  int64_t limit;
  int64_t* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto entry = order[i];
    to[i] = ids[entry];
    if (indices[entry] < 0)
      wrong.add(indices[entry], limit);
  }
};

/// For (grad, indices, segment_ids, output_dim0): entry j adds row segment_ids[j] to row indices[j]
/// of the output, times the weight for the number of entries of its segment.
template <class T, class Weight>
status combine_gradients(kernel_context& at) {
  TROUPE_ASSIGN(auto output, sparse_gradient_output(at));
  const auto &gradient = at.input(0), &indices = at.input(1), &ids = at.input(2);
  auto rows = gradient.dims()[0], entries = ids.elements();
  TROUPE_ASSIGN(auto sorted, sorted_entries(at, indices, "indices", output.segments));
  TROUPE_ASSIGN(auto sources, room_for_numbers(at, entries));
  TROUPE_TRY(for_each(at, entries,
                      come_from_body{device_errors{at, "indices"}, integers{indices}, integers{ids},
                                     integers{sorted.rows}, output.segments,
                                     sources.template data<int64_t>()}));
  TROUPE_ASSIGN(auto counts, room_for_numbers(at, rows));
  fill_zeros(at, counts);
  TROUPE_TRY(for_each(at, entries,
                      count_segments_body{device_errors{at, "segment_ids"}, integers{ids}, rows,
                                          counts.template data<int64_t>()}));
  TROUPE_ASSIGN(auto weights, tensor::make(dtype::f64, shape{rows}, at.memory()));
  TROUPE_TRY(for_each(at, rows,
                      weigh_segments_body<Weight>{counts.template data<int64_t>(),
                                                  weights.template data<double>()}));
  return combine_entries<T, addition>(at, {sorted.starts, sources}, gradient.data<T>(),
                                      output.out->template data<T>(), rows, output.segments,
                                      output.length, weights.template data<double>());
}

template <class Weight, class... Ts>
constexpr inplace_vector<typed_kernel, 18> segment_gradient_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, combine_gradients<Ts, Weight>}...};
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> unsorted_segment_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, combine_unsorted<Ts, Fn>}...};
}
template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> sparse_segment_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, combine_sparse<Ts, Fn>}...};
}
template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> sorted_segment_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, in_halves<count_segments<1>, combine_sorted<Ts, Fn>>}...};
}
template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> chosen_segment_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, in_halves<count_segments<2>, combine_chosen<Ts, Fn>>}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
