// Updates of the parts of a tensor that indices select, for GPU kernels. Several updates of one
// part take effect in their order, as on processors, so that results do not vary. For that purpose
// the updates are sorted by part.
#pragma once
#include "troupe/ops/kernel/copy_if_overlapping.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"
#include "troupe/ops/kernel/rows.hpp"

#include <bit>

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// The part and the number of each of `count` updates; the updates of one part are adjacent and in
/// order. Updates whose part is `limit` are dropped.
struct sorted_updates {
  tensor parts, numbers; // i64
  int64_t count = 0, limit = 0;
};

inline result<tensor> room_for_numbers(kernel_context& at, int64_t count) {
  return tensor::make(dtype::i64, shape{count}, at.memory());
}

/// Sorts updates 0, 1, ... whose parts are in [0, limit].
inline result<sorted_updates> sort_updates(kernel_context& at, const tensor& parts, int64_t limit) {
  auto bits = std::max(static_cast<int>(std::bit_width(static_cast<uint64_t>(limit))), 1);
  TROUPE_ASSIGN(auto sorted, sort_rows(at, parts, bits));
  return sorted_updates{std::move(sorted.keys), std::move(sorted.places), parts.elements(), limit};
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

/// Sorts `count` updates of the blocks of a tensor that rows of indices select. Indices out of
/// range are reported, unless they are to be ignored.
inline result<sorted_updates> sort_updates(kernel_context& at, const tensor& indices, int64_t count,
                                           int depth, const shape& dims, bool ignores) {
  int64_t limit = 1;
  for (int axis = 0; axis < depth; ++axis)
    limit *= dims[axis];
  TROUPE_ASSIGN(auto parts, room_for_numbers(at, count));
  TROUPE_TRY(for_each(at, count,
                      block_number_body{{at, indices, depth, dims, ignores},
                                        limit,
                                        parts.template data<int64_t>()}));
  return sort_updates(at, parts, limit);
}

/// The sorted updates in a form that kernels can read.
struct update_runs {
  explicit update_runs(const sorted_updates& sorted)
      : parts(sorted.parts.data<int64_t>()), numbers(sorted.numbers.data<int64_t>()),
        count(sorted.count), limit(sorted.limit) {}

  /// Whether position i begins a run of updates of one part.
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
  bool single; // one value is used for all elements
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
  auto update_elements = updates.count * length;
  return for_each(
      at, update_elements,
      change_parts_body<T, Fn>{
          update_runs{updates}, {length, update_elements}, length, to, from, single, fn});
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
    if (updates.ends(place)) // the last update of a part wins
      to[updates.parts[place] * length + column] =
          from[single ? 0 : updates.numbers[place] * length + column];
  }
};

/// Copies each update over its part; the last of several remains.
inline status put_parts(kernel_context& at, const sorted_updates& updates, int64_t length,
                        const tensor& to, const tensor& from) {
  auto single = from.rank() == 0;
  auto bytes = static_cast<int64_t>(size_of(to.type())) * (single ? 1 : length);
  return with_row_unit(bytes, {to.raw(), from.raw()}, [&](auto unit, int64_t units) {
    using T = typename decltype(unit)::type;
    auto per_update = single ? length : units;
    return for_each(at, updates.count * per_update,
                    put_parts_body<T>{update_runs{updates},
                                      {per_update, updates.count * per_update},
                                      per_update,
                                      static_cast<T*>(to.raw()),
                                      static_cast<const T*>(from.raw()),
                                      single});
  });
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
