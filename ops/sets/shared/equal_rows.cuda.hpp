// Finds equal rows, for GPU kernels: shared by the Unique ops and ListDiff. Rows are sorted stably,
// so that equal rows are adjacent and in their original order.
#pragma once
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"

#include <bit>

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// A kernel per element type, instantiated for the type of its comparisons: floats compare as
/// numbers, so that NaN differs from everything and -0 equals 0; other types compare by their bits.
template <template <class> class Kernel>
constexpr inplace_vector<typed_kernel, 18> compared_kernels() {
  inplace_vector<typed_kernel, 18> kernels;
  auto add = [&]<class... Ts>(type_list<Ts...>) {
    (kernels.push_back({dtype_of<Ts>, Kernel<Ts>::run}), ...);
  };
  auto add_bits = [&]<class... Ts>(type_list<Ts...>) {
    (kernels.push_back({dtype_of<Ts>, Kernel<std::make_unsigned_t<Ts>>::run}), ...);
  };
  add(types::floating);
  add_bits(types::integers);
  kernels.push_back({dtype::boolean, Kernel<uint8_t>::run});
  return kernels;
}

/// Keys that are equal for equal elements; their order has no meaning.
template <class T>
struct equality_key {
  static constexpr int bits = 8 * static_cast<int>(sizeof(T));
  using own =
      std::conditional_t<sizeof(T) == 8, uint64_t,
                         std::conditional_t<sizeof(T) == 4, uint32_t,
                                            std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
  using word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

  TROUPE_DEVICE static word of(const T& value) {
    auto key = std::bit_cast<own>(value);
    if constexpr (!std::is_integral_v<T>)
      return key == own{1} << (bits - 1) ? 0 : key; // -0 is 0
    else
      return key;
  }
  TROUPE_DEVICE static bool equal(const T& a, const T& b) { return load(a) == load(b); }
};

// The keys of one column, in the current order.
template <class T>
struct column_key_body {
  const T* from;
  int64_t length, column;
  const int64_t* order; // null: the original order
  typename equality_key<T>::word* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    to[i] = equality_key<T>::of(from[(order ? order[i] : i) * length + column]);
  }
};

struct compose_order_body {
  const int64_t* before; // null: the original order
  integers places;
  int64_t* to;
  TROUPE_DEVICE void operator()(int64_t i) const { to[i] = before ? before[places[i]] : places[i]; }
};

template <class T>
struct run_begin_body {
  const T* from;
  int64_t length;
  const int64_t* order;
  uint8_t* begins;
  TROUPE_DEVICE void operator()(int64_t i) const {
    bool equal = i > 0;
    for (int64_t k = 0; equal && k < length; ++k)
      equal = equality_key<T>::equal(from[order[i] * length + k], from[order[i - 1] * length + k]);
    begins[i] = !equal;
  }
};

struct first_of_run_body {
  const int64_t* order;
  const int64_t* runs;
  int64_t* firsts;
  TROUPE_DEVICE void operator()(int64_t i) const {
    if (runs[i] != runs[i + 1])
      firsts[runs[i]] = order[i];
  }
};

/// The runs of equal rows in the order of `order`, for kernels.
struct row_runs {
  const int64_t *order, *runs, *firsts;
  TROUPE_DEVICE bool begins(int64_t i) const { return runs[i] != runs[i + 1]; }
  /// The first of the rows that are equal to the row at this position.
  TROUPE_DEVICE int64_t first_at(int64_t i) const { return firsts[runs[i + 1] - 1]; }
};

struct equal_rows {
  tensor order;  ///< i64: the rows, sorted
  tensor runs;   ///< i64: the number of runs that start before each position; last, the total
  tensor firsts; ///< i64: the first row of each run
  row_runs seen() const {
    return {order.data<int64_t>(), runs.data<int64_t>(), firsts.data<int64_t>()};
  }
};

inline result<tensor> room_for(kernel_context& at, int64_t count, dtype type = dtype::i64) {
  return tensor::make(type, shape{count}, at.memory());
}

/// Finds equal rows among `count` rows of `length` contiguous elements. Needs a sort per column.
template <class T>
result<equal_rows> find_equal_rows(kernel_context& at, const tensor& source, int64_t count,
                                   int64_t length) {
  using key = equality_key<T>;
  const auto* from = static_cast<const T*>(source.raw());
  equal_rows rows_found;
  TROUPE_ASSIGN(auto keys, room_for(at, count, dtype_of<typename key::word>));
  auto* words = static_cast<typename key::word*>(keys.raw());
  auto order = [&] {
    return rows_found.order.empty() ? nullptr : rows_found.order.data<int64_t>();
  };
  // The last column first: the later sorts are stable.
  for (auto column = std::max<int64_t>(length, 1); column-- > 0;) {
    if (length > 0)
      TROUPE_TRY(for_each(at, count, column_key_body<T>{from, length, column, order(), words}));
    else
      fill_zeros(at, keys);
    TROUPE_ASSIGN(auto sorted, sort_rows(at, keys, key::bits));
    TROUPE_ASSIGN(auto next, room_for(at, count));
    TROUPE_TRY(for_each(
        at, count,
        compose_order_body{order(), integers{sorted.places}, next.template data<int64_t>()}));
    rows_found.order = std::move(next);
  }
  TROUPE_ASSIGN(auto begins, room_for(at, count, dtype::u8));
  TROUPE_TRY(for_each(at, count,
                      run_begin_body<T>{from, length, order(), begins.template data<uint8_t>()}));
  TROUPE_ASSIGN(rows_found.runs, partial_sums(at, begins));
  TROUPE_ASSIGN(rows_found.firsts, room_for(at, count));
  TROUPE_TRY(for_each(at, count,
                      first_of_run_body{order(), rows_found.runs.data<int64_t>(),
                                        rows_found.firsts.data<int64_t>()}));
  return rows_found;
}

/// Copies numbers to an output of i32 or i64.
struct copy_integers_body {
  const int64_t* from;
  integer_output to;
  TROUPE_DEVICE void operator()(int64_t i) const { to.set(i, from[i]); }
};

/// Writes these `count` numbers to output i.
inline status put_integers(kernel_context& at, int i, const int64_t* from, int64_t count) {
  TROUPE_ASSIGN(auto* out, at.allocate(i, shape{count}));
  if (out->type() == dtype::i32 && count > int64_t{std::numeric_limits<int32_t>::max()})
    return invalid("more places than an i32 can name");
  return for_each(at, count, copy_integers_body{from, integer_output{*out}});
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
