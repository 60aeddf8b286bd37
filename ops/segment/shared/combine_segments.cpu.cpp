#include "troupe/ops/reduction/shared/arithmetic.cpu.hpp"
#include "troupe/ops/segment/shared/segment_functions.hpp"
#include "troupe/ops/segment/shared/segment_rows.hpp"

namespace troupe::ops {
namespace {

using detail::element, detail::tile_columns, detail::total_t;

// Combines the rows of one segment, up to tile_columns of their elements.
template <class Fn, class T>
void combine_rows(kernel_context& at, const segment_rows& segments, int64_t segment, const T* from,
                  T* to, int64_t columns) {
  auto begin = segments.starts[static_cast<size_t>(segment)];
  auto end = segments.starts[static_cast<size_t>(segment) + 1];
  if (begin == end) {
    std::fill_n(to, columns, empty_segment<Fn, T>());
    return;
  }
  total_t<T> totals[tile_columns];
  std::fill_n(totals, columns, Fn::template start<total_t<T>>());
  for (auto entry = begin; entry < end; ++entry) {
    if (entry % 4096 == 4095 && at.stopped())
      return;
    auto i = static_cast<size_t>(entry);
    const auto* row = from + (segments.rows.empty() ? entry : segments.rows[i]) * segments.length;
    if (segments.weights.empty()) {
#pragma GCC ivdep
      for (int64_t k = 0; k < columns; ++k)
        totals[k] = Fn::step(totals[k], element<Fn, total_t<T>>(row[k]));
    } else if constexpr (std::is_floating_point_v<total_t<T>>) {
#pragma GCC ivdep
      for (int64_t k = 0; k < columns; ++k)
        totals[k] = Fn::step(totals[k], segments.weights[i] * element<Fn, total_t<T>>(row[k]));
    }
  }
  for (int64_t k = 0; k < columns; ++k)
    to[k] = static_cast<T>(Fn::finish(totals[k], end - begin));
}

template <class T, class Fn>
status combine_as(kernel_context& at, const segment_rows& segments) {
  if (segments.segments == 0)
    return {};
  const auto* from = at.input(0).data<T>();
  auto* to = segments.out->data<T>();
  auto tiles = (segments.length + tile_columns - 1) / tile_columns;
  auto rows_each = 1 + segments.starts.back() / segments.segments;
  auto cost = 10 + 0.3 * static_cast<double>(rows_each) *
                       static_cast<double>(std::min(segments.length, tile_columns));
  at.parallel_for(segments.segments * tiles, cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto column = i % tiles * tile_columns;
      combine_rows<Fn>(at, segments, i / tiles, from + column,
                       to + i / tiles * segments.length + column,
                       std::min(tile_columns, segments.length - column));
    }
  });
  return {};
}

template <class Fn, class... Ts>
status combine_any(type_list<Ts...>, kernel_context& at, const segment_rows& segments) {
  status outcome;
  auto is_known_type = ((segments.out->type() == dtype_of<Ts> &&
                         (outcome = combine_as<Ts, Fn>(at, segments), true)) ||
                        ...);
  return is_known_type ? outcome
                       : invalid("cannot combine elements of type ", segments.out->type());
}

} // namespace

status combine(kernel_context& at, const segment_rows& rows, combination method) {
  switch (method) {
    case combination::sum: return combine_any<addition>(types::numbers, at, rows);
    case combination::mean: return combine_any<average>(types::numbers, at, rows);
    case combination::product: return combine_any<multiplication>(types::numbers, at, rows);
    case combination::sum_over_root: return combine_any<over_root>(types::floating, at, rows);
    case combination::largest_or_zero:
      return combine_any<or_zero<largest>>(types::real_numbers, at, rows);
    case combination::smallest_or_zero:
      return combine_any<or_zero<smallest>>(types::real_numbers, at, rows);
    case combination::largest:
      return combine_any<or_extreme<largest>>(types::real_numbers, at, rows);
    case combination::smallest: break;
  }
  return combine_any<or_extreme<smallest>>(types::real_numbers, at, rows);
}

} // namespace troupe::ops
