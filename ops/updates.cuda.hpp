// Updates of parts of a tensor that indices name, for kernels of GPUs: several for one part take
// effect in their order, as on processors, so that results do not vary.
//
// For that the updates are sorted by their parts. Few are each compared with all others; many go
// through a radix sort of passes over four bits each.
#pragma once
#include "troupe/ops/indices.cuda.hpp"
#include "troupe/ops/rows.hpp"

#include <bit>

namespace troupe::ops::gpu {
#ifdef __CUDACC__
inline namespace on_cuda {
#else
inline namespace simulated {
#endif

/// For each of `count` updates, those for one part side by side and in order: its part, and which
/// update it is. Those whose part is `limit` are for nobody.
struct sorted_updates {
  tensor parts, numbers; // i64
  int64_t count = 0, limit = 0;
};

namespace sorting {

struct plus {
  template <class T>
  TROUPE_DEVICE static T step(T a, T b) {
    return a + b;
  }
};

// An update goes behind all that have a smaller part, or the same and came earlier.
struct rank_body {
  const int64_t* parts;
  int64_t *sorted, *numbers;
  int64_t count;

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t i, const Group& by) const {
    auto mine = parts[i];
    int64_t before = 0;
    for (int64_t k = by.rank(); k < count; k += by.size())
      before += parts[k] < mine || (parts[k] == mine && k < i);
    before = by.template all<plus>(before);
    if (by.rank() == 0) {
      sorted[before] = mine;
      numbers[before] = i;
    }
  }
};

inline constexpr int digit_bits = 4, digits = 1 << digit_bits;

// Each thread has some neighbours to itself, and counts which digits they have.
struct count_body {
  const int64_t* parts;
  int64_t* counts; // [digit][thread]
  int64_t count, threads;
  int shift;

  TROUPE_DEVICE int64_t begin_of(int64_t thread) const {
    auto each = (count + threads - 1) / threads;
    return thread * each < count ? thread * each : count;
  }
  TROUPE_DEVICE int digit(int64_t part) const {
    return static_cast<int>(part >> shift) & (digits - 1);
  }
  TROUPE_DEVICE void operator()(int64_t thread) const {
    int64_t found[digits] = {};
    for (auto i = begin_of(thread), end = begin_of(thread + 1); i < end; ++i)
      ++found[digit(parts[i])];
    for (int d = 0; d < digits; ++d)
      counts[d * threads + thread] = found[d];
  }
};

inline constexpr int64_t scan_width = 64;

struct sum_body {
  const int64_t* from;
  int64_t* sums; // of each `scan_width`
  int64_t count;
  template <class Group>
  TROUPE_DEVICE void operator()(int64_t piece, const Group& by) const {
    int64_t sum = 0;
    auto end = (piece + 1) * scan_width < count ? (piece + 1) * scan_width : count;
    for (auto i = piece * scan_width + by.rank(); i < end; i += by.size())
      sum += from[i];
    sum = by.template all<plus>(sum);
    if (by.rank() == 0)
      sums[piece] = sum;
  }
};

// Each count becomes the sum of those before it.
struct scan_body {
  int64_t* at;
  const int64_t* sums;
  int64_t count;
  template <class Group>
  TROUPE_DEVICE void operator()(int64_t piece, const Group& by) const {
    int64_t before = 0;
    for (int64_t i = by.rank(); i < piece; i += by.size())
      before += sums[i];
    before = by.template all<plus>(before);
    if (by.rank() != 0)
      return;
    auto end = (piece + 1) * scan_width < count ? (piece + 1) * scan_width : count;
    for (auto i = piece * scan_width; i < end; ++i) {
      auto own = at[i];
      at[i] = before;
      before += own;
    }
  }
};

struct deal_body {
  count_body by;
  const int64_t *parts, *numbers; // no numbers: as they come
  int64_t *to_parts, *to_numbers;
  TROUPE_DEVICE void operator()(int64_t thread) const {
    int64_t next[digits];
    for (int d = 0; d < digits; ++d)
      next[d] = by.counts[d * by.threads + thread];
    for (auto i = by.begin_of(thread), end = by.begin_of(thread + 1); i < end; ++i) {
      auto to = next[by.digit(parts[i])]++;
      to_parts[to] = parts[i];
      to_numbers[to] = numbers ? numbers[i] : i;
    }
  }
};

inline result<tensor> room(kernel_context& at, int64_t count) {
  return tensor::make(dtype::i64, shape{count}, at.memory());
}

} // namespace sorting

/// Sorts updates 0, 1, ... whose parts are in [0, limit].
inline result<sorted_updates> sort_updates(kernel_context& at, tensor parts, int64_t limit) {
  using namespace sorting;
  auto count = parts.elements();
  TROUPE_ASSIGN(auto sorted, room(at, count));
  TROUPE_ASSIGN(auto numbers, room(at, count));
  constexpr int64_t few = 8192;
  if (count <= few) {
    TROUPE_TRY(for_each_group(at, count, count,
                              rank_body{parts.data<int64_t>(), sorted.template data<int64_t>(),
                                        numbers.template data<int64_t>(), count}));
    return sorted_updates{std::move(sorted), std::move(numbers), count, limit};
  }
  auto threads = std::min<int64_t>(count / 16, 1 << 14);
  auto pieces = (digits * threads + scan_width - 1) / scan_width;
  TROUPE_ASSIGN(auto counts, room(at, digits * threads));
  TROUPE_ASSIGN(auto sums, room(at, pieces));
  TROUPE_ASSIGN(auto other_numbers, room(at, count));
  auto* places = counts.template data<int64_t>();
  auto* piece_sums = sums.template data<int64_t>();
  for (int shift = 0; shift < static_cast<int>(std::bit_width(static_cast<uint64_t>(limit)));
       shift += digit_bits) {
    auto* from = parts.data<int64_t>();
    count_body counting{from, places, count, threads, shift};
    TROUPE_TRY(for_each(at, threads, counting));
    TROUPE_TRY(
        for_each_group(at, pieces, scan_width, sum_body{places, piece_sums, digits * threads}));
    TROUPE_TRY(for_each_group(at, pieces, pieces, scan_body{places, piece_sums, digits * threads}));
    TROUPE_TRY(
        for_each(at, threads,
                 deal_body{counting, from, shift ? other_numbers.template data<int64_t>() : nullptr,
                           sorted.template data<int64_t>(), numbers.template data<int64_t>()}));
    std::swap(parts, sorted);
    std::swap(numbers, other_numbers);
  }
  return sorted_updates{std::move(parts), std::move(other_numbers), count, limit};
}

struct block_number_body {
  block_numbers numbers;
  int64_t limit;
  int64_t* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto block = numbers[i];
    to[i] = block < 0 ? limit : block;
  }
};

/// Sorts `count` updates of the blocks of a tensor that rows of indices name: indices that are not
/// there are complained of, unless they are to be ignored.
inline result<sorted_updates> sort_updates(kernel_context& at, const tensor& indices, int64_t count,
                                           int depth, const shape& dims, bool ignores) {
  int64_t limit = 1;
  for (int axis = 0; axis < depth; ++axis)
    limit *= dims[axis];
  TROUPE_ASSIGN(auto parts, sorting::room(at, count));
  TROUPE_TRY(for_each(at, count,
                      block_number_body{{at, indices, depth, dims, ignores},
                                        limit,
                                        parts.template data<int64_t>()}));
  return sort_updates(at, std::move(parts), limit);
}

/// What kernels see of them.
struct update_runs {
  explicit update_runs(const sorted_updates& of)
      : parts(of.parts.data<int64_t>()), numbers(of.numbers.data<int64_t>()), count(of.count),
        limit(of.limit) {}

  /// Whether place i begins a run of updates for one part.
  TROUPE_DEVICE bool begins(int64_t i) const {
    return parts[i] < limit && (i == 0 || parts[i - 1] != parts[i]);
  }
  TROUPE_DEVICE bool ends(int64_t i) const {
    return parts[i] < limit && (i + 1 == count || parts[i + 1] != parts[i]);
  }

  const int64_t *parts, *numbers;
  int64_t count, limit;
};

template <class T, class Fn>
struct change_parts_body {
  update_runs updates;
  divisor by_length;
  int64_t length;
  T* to;
  const T* from;
  bool single; // one value for all elements
  Fn fn;

  TROUPE_DEVICE void operator()(int64_t i) const {
    auto [first, column] = by_length(i);
    if (!updates.begins(first))
      return;
    auto part = updates.parts[first];
    auto value = to[part * length + column];
    for (auto k = first; k < updates.count && updates.parts[k] == part; ++k)
      value =
          store<T>(fn(load(value), load(from[single ? 0 : updates.numbers[k] * length + column])));
    to[part * length + column] = value;
  }
};

/// part = fn(part, update) for each element, in the order of the updates.
template <class T, class Fn>
status change_parts(kernel_context& at, const sorted_updates& updates, int64_t length, T* to,
                    const T* from, bool single, Fn fn) {
  auto all = updates.count * length;
  return for_each(
      at, all,
      change_parts_body<T, Fn>{update_runs{updates}, {length, all}, length, to, from, single, fn});
}

template <class T>
struct put_parts_body {
  update_runs updates;
  divisor by_length;
  int64_t length;
  T* to;
  const T* from;
  bool single;

  TROUPE_DEVICE void operator()(int64_t i) const {
    auto [place, column] = by_length(i);
    if (updates.ends(place)) // the last of several stays
      to[updates.parts[place] * length + column] =
          from[single ? 0 : updates.numbers[place] * length + column];
  }
};

/// Copies each update over its part; the last of several stays.
inline status put_parts(kernel_context& at, const sorted_updates& updates, int64_t length,
                        const tensor& to, const tensor& from) {
  auto single = from.rank() == 0;
  auto bytes = static_cast<int64_t>(size_of(to.type())) * (single ? 1 : length);
  return with_row_unit(bytes, {to.raw(), from.raw()}, [&](auto unit, int64_t units) {
    using T = typename decltype(unit)::type;
    auto each = single ? length : units;
    return for_each(at, updates.count * each,
                    put_parts_body<T>{update_runs{updates},
                                      {each, updates.count * each},
                                      each,
                                      static_cast<T*>(to.raw()),
                                      static_cast<const T*>(from.raw()),
                                      single});
  });
}

} // namespace on_cuda or simulated
} // namespace troupe::ops::gpu
