// Kernels that reduce some axes of a tensor to one element each.
//
// A functor has `start<T>()`, `step(a, b)`, and optionally `map(x)`, which is applied to each
// element before its step. Floats are summed in blocks whose totals are added in double precision,
// so that long sums stay precise and do not depend on the number of threads.
#pragma once
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/kernel/reducers.hpp"
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/ops/reduction/shared/reduction_plan.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {
namespace detail {

/// Whether the steps select one of the elements: then every order is equally precise.
template <class Fn>
concept compares = requires {
  Fn::compares;
};

inline constexpr int64_t block_length = 512, tile_columns = 256, wide_tile = 2048, block_rows = 64;
inline constexpr int64_t piece = 64 * block_length;

// Several accumulators, so that steps do not wait for each other. Sixteen are unrolled; GCC
// vectorizes steps with comparisons only in a sufficiently long loop.
template <class Fn, class T>
inline __attribute__((always_inline)) compute_type<T> block_of(const T* x, int64_t count) {
  using value = compute_type<T>;
  constexpr int lanes = compares<Fn> && std::is_floating_point_v<value> ? 64 : 16;
  value running[lanes];
  std::fill_n(running, lanes, Fn::template start<value>());
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int lane = 0; lane < lanes; ++lane)
      running[lane] = Fn::step(running[lane], element<Fn, value>(x[i + lane]));
  for (; i < count; ++i)
    running[0] = Fn::step(running[0], element<Fn, value>(x[i]));
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane)
      running[lane] = Fn::step(running[lane], running[lane + half]);
  return running[0];
}

// Adds rows, each `stride` after the previous one; four at a time, because `to` is read and written
// each time.
template <class Fn, class T>
inline __attribute__((always_inline)) void add_rows(const T* x, int64_t stride, int64_t rows,
                                                    compute_type<T>* to, int64_t count) {
  auto value = [](const T& stored) { return element<Fn, compute_type<T>>(stored); };
  for (; rows >= 4; rows -= 4, x += 4 * stride) {
    const T *a = x, *b = a + stride, *c = b + stride, *d = c + stride;
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i)
      to[i] = Fn::step(
          to[i], Fn::step(Fn::step(value(a[i]), value(b[i])), Fn::step(value(c[i]), value(d[i]))));
  }
  for (; rows > 0; --rows, x += stride) {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i)
      to[i] = Fn::step(to[i], value(x[i]));
  }
}

template <class Fn, class T>
TROUPE_SIMD_CLONES compute_type<T> block_hot(const T* x, int64_t count) {
  return block_of<Fn>(x, count);
}
template <class Fn, class T>
TROUPE_SIMD_CLONES void rows_hot(const T* x, int64_t stride, int64_t rows, compute_type<T>* to,
                                 int64_t count) {
  add_rows<Fn>(x, stride, rows, to, count);
}

// Reduces a run of contiguous elements.
template <class Fn, class T>
total_t<T> reduce_run(const T* x, int64_t count) {
  auto total = Fn::template start<total_t<T>>();
  if (count <= 16) { // too short for several accumulators
    for (int64_t i = 0; i < count; ++i)
      total = Fn::step(total, element<Fn, total_t<T>>(x[i]));
    return total;
  }
  constexpr auto block = compares<Fn> ? piece : block_length;
  for (int64_t i = 0; i < count; i += block) {
    auto length = std::min(block, count - i);
    if constexpr (is_hot<T>)
      total = Fn::step(total, total_t<T>(block_hot<Fn>(x + i, length)));
    else
      total = Fn::step(total, total_t<T>(block_of<Fn>(x + i, length)));
  }
  return total;
}

// Reduces the rows at `rows.at(i)` to one row.
template <class Fn, class T, class Finish>
void reduce_columns(kernel_context& at, const T* x, const strided_iterator& rows, T* out,
                    int64_t columns, Finish&& finish) {
  using value = compute_type<T>;
  value block[wide_tile];
  total_t<T> totals[wide_tile];
  std::fill_n(totals, columns, Fn::template start<total_t<T>>());
  for (int64_t i = 0; i < rows.elements(); i += block_rows) {
    if (i % (8 * block_rows) == 7 * block_rows && at.stopped()) // at least every 0.2 ms
      return;
    std::fill_n(block, columns, Fn::template start<value>());
    rows.runs(i, std::min(i + block_rows, rows.elements()),
              [&](int64_t, const strided_iterator::offsets& where, int64_t count) {
                if constexpr (is_hot<T>)
                  rows_hot<Fn>(x + where[0], rows.step(0), count, block, columns);
                else
                  add_rows<Fn>(x + where[0], rows.step(0), count, block, columns);
              });
    for (int64_t k = 0; k < columns; ++k)
      totals[k] = Fn::step(totals[k], total_t<T>(block[k]));
  }
  for (int64_t k = 0; k < columns; ++k)
    out[k] = finish(totals[k]);
}

// Wide tiles are the fastest to read. They are used where there are enough for all threads.
inline int64_t width_of_tiles(const kernel_context& at, int64_t columns, int64_t elements) {
  auto enough = elements / wide_tile >= 2 * at.device().threads();
  return std::min(columns, enough ? wide_tile : tile_columns);
}

// Reduces many contiguous elements to one output element, divided among threads. The pieces, and
// therefore the result, do not depend on the number of threads.
template <class Fn, class T>
total_t<T> reduce_in_pieces(kernel_context& at, const T* x, int64_t count) {
  auto pieces = (count + piece - 1) / piece;
  if (pieces <= 1)
    return reduce_run<Fn>(x, count);
  std::vector<total_t<T>> totals(static_cast<size_t>(pieces));
  at.parallel_for(pieces, 0.15 * piece, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      totals[static_cast<size_t>(i)] =
          reduce_run<Fn>(x + i * piece, std::min(piece, count - i * piece));
  });
  auto total = Fn::template start<total_t<T>>();
  for (const auto& piece_total : totals)
    total = Fn::step(total, piece_total);
  return total;
}

} // namespace detail

/// Reduces input 0 over the axes in input 1; the state is the attribute `keep_dims`.
template <class T, class Fn>
status reduce(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto plan, plan_reduction(at, at.state<bool>()));
  const auto &reduced = plan.reduced, &kept = plan.kept;
  const auto reduced_count = plan.items;
  TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
  auto finish = [reduced_count](const auto& total) {
    return static_cast<T>(Fn::finish(total, reduced_count));
  };
  const auto* from = x.data<T>();
  auto* to = out->template data<T>();
  if (x.elements() == 0) {
    std::fill_n(to, out->elements(), finish(Fn::template start<detail::total_t<T>>()));
    return {};
  }
  auto cost = 0.15 * static_cast<double>(reduced_count);
  constexpr auto split_threshold = 32 * detail::piece; // longer runs are divided among threads
  if (plan.last_is_reduced && reduced.rank() == 1 &&
      (out->elements() == 1 || reduced_count >= split_threshold)) {
    for (int64_t i = 0; i < out->elements() && !(i > 0 && at.stopped()); ++i)
      to[i] = finish(detail::reduce_in_pieces<Fn>(at, from + kept.at(i)[0], reduced_count));
  } else if (plan.last_is_reduced) {
    auto length = reduced.extent(reduced.rank() - 1);
    const auto start = Fn::template start<detail::total_t<T>>();
    at.parallel_for(out->elements(), cost, [&](int64_t begin, int64_t end) {
      kept.runs(begin, end,
                [&](int64_t first, const strided_iterator::offsets& where, int64_t count) {
                  for (int64_t i = 0; i < count; ++i) {
                    auto* base = from + where[0] + i * kept.step(0);
                    auto total = start;
                    auto add = [&](int64_t, const strided_iterator::offsets& run, int64_t) {
                      total = Fn::step(total, detail::reduce_run<Fn>(base + run[0], length));
                    };
                    // In batches of whole runs, so that the stop signal is checked in between.
                    auto batch = std::max<int64_t>(1, detail::piece / length) * length;
                    for (int64_t done = 0; done < reduced_count && !(done > 0 && at.stopped());
                         done += batch)
                      reduced.runs(done, std::min(done + batch, reduced_count), add);
                    to[first + i] = finish(total);
                  }
                });
    });
  } else {
    // The last kept axis is processed in tiles of contiguous elements.
    auto columns = kept.rank() > 0 ? kept.extent(kept.rank() - 1) : 1;
    auto width = detail::width_of_tiles(at, columns, out->elements());
    auto tiles = (columns + width - 1) / width;
    auto rows = out->elements() / columns;
    at.parallel_for(rows * tiles, cost * static_cast<double>(width),
                    [&](int64_t begin, int64_t end) {
                      for (auto i = begin; i < end; ++i) {
                        auto first = i / tiles * columns + i % tiles * width;
                        auto length = std::min(width, (i / tiles + 1) * columns - first);
                        detail::reduce_columns<Fn>(at, from + kept.at(first)[0], reduced,
                                                   to + first, length, finish);
                      }
                    });
  }
  return {};
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> reduce_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, [](kernel_context& at) { return reduce<Ts, Fn>(at); }}...};
}

} // namespace troupe::ops
