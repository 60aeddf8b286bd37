#include "troupe/devices/cpu/exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace troupe {
namespace {

constexpr int64_t chunk = 1024; // elements, whose sums stay in the first cache

// Whole numbers wrap around, as those of kernels do.
template <class T>
using sum_type =
    std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                       std::type_identity<std::conditional_t<(sizeof(T) < 4), float, T>>>;
template <class T>
using accumulator = typename sum_type<T>::type;

template <class T>
void fold(accumulator<T>* into, const T* from, int64_t count, reduction by) {
  using wide = accumulator<T>;
  auto each = [&](auto join) {
    for (int64_t i = 0; i < count; ++i)
      into[i] = join(into[i], static_cast<wide>(from[i]));
  };
  // Signed numbers compare as such.
  using ordered = std::conditional_t<std::is_integral_v<T>, T, wide>;
  switch (by) {
    case reduction::sum: each([](wide a, wide b) { return a + b; }); break;
    case reduction::product: each([](wide a, wide b) { return a * b; }); break;
    case reduction::min:
      each(
          [](wide a, wide b) { return static_cast<ordered>(b) < static_cast<ordered>(a) ? b : a; });
      break;
    case reduction::max:
      each(
          [](wide a, wide b) { return static_cast<ordered>(a) < static_cast<ordered>(b) ? b : a; });
      break;
  }
}

template <class T>
void combine_typed(T* to, std::span<const void* const> from, int64_t begin, int64_t end,
                   reduction by, int64_t divide_by) {
  using wide = accumulator<T>;
  std::array<wide, chunk> sums;
  const auto average = divide_by != 1;
  for (; begin < end; begin += chunk) {
    auto count = std::min(chunk, end - begin);
    const auto* first = static_cast<const T*>(from[0]) + begin;
    for (int64_t i = 0; i < count; ++i)
      sums[static_cast<size_t>(i)] = static_cast<wide>(first[i]);
    for (const auto* other : from.subspan(1))
      fold(sums.data(), static_cast<const T*>(other) + begin, count, by);
    for (int64_t i = 0; i < count; ++i) {
      auto value = sums[static_cast<size_t>(i)];
      if constexpr (std::is_integral_v<T>)
        to[begin + i] =
            average ? static_cast<T>(value) / static_cast<T>(divide_by) : static_cast<T>(value);
      else
        to[begin + i] = static_cast<T>(average ? value / static_cast<wide>(divide_by) : value);
    }
  }
}

double nanoseconds_of(const collective_call& what, size_t members) {
  return 0.05 * static_cast<double>(members * size_of(what.type));
}

} // namespace

void combine(void* to, std::span<const void* const> from, int64_t begin, int64_t end, dtype type,
             reduction by, bool average) {
  combine_and_divide(to, from, begin, end, type, by,
                     average ? static_cast<int64_t>(from.size()) : 1);
}

void combine_and_divide(void* to, std::span<const void* const> from, int64_t begin, int64_t end,
                        dtype type, reduction by, int64_t divide_by) {
  if (from.size() == 1 && divide_by == 1) {
    auto bytes = size_of(type);
    std::memcpy(static_cast<char*>(to) + static_cast<size_t>(begin) * bytes,
                static_cast<const char*>(from[0]) + static_cast<size_t>(begin) * bytes,
                static_cast<size_t>(end - begin) * bytes);
    return;
  }
  switch (type) {
    case dtype::f16:
      return combine_typed(static_cast<float16*>(to), from, begin, end, by, divide_by);
    case dtype::bf16:
      return combine_typed(static_cast<bfloat16*>(to), from, begin, end, by, divide_by);
    case dtype::f32: return combine_typed(static_cast<float*>(to), from, begin, end, by, divide_by);
    case dtype::f64:
      return combine_typed(static_cast<double*>(to), from, begin, end, by, divide_by);
    case dtype::i32:
      return combine_typed(static_cast<int32_t*>(to), from, begin, end, by, divide_by);
    case dtype::i64:
      return combine_typed(static_cast<int64_t*>(to), from, begin, end, by, divide_by);
    default: return; // no op allows another type
  }
}

status exchange_on_processors(const collective_call& what, std::span<collective_part> all,
                              stop_signal* stop) {
  auto dims = what.output_dims(all.size());
  auto& first = *all.front().on;
  if (what.kind == collective_kind::broadcast) {
    auto value = all[what.root].input;
    for (auto& one : all)
      one.output = value;
    return {};
  }
  auto elements = what.dims.elements();
  auto cost = nanoseconds_of(what, all.size());
  std::vector<const void*> from;
  for (const auto& one : all)
    from.push_back(one.input.raw());
  if (what.kind == collective_kind::reduce_scatter) {
    auto bytes = static_cast<size_t>(dims.elements()) * size_of(what.type);
    for (auto& one : all) {
      TROUPE_ASSIGN(one.output, tensor::make(what.type, dims, one.on->memory()));
      if (bytes > 0)
        first.parallel_for(
            dims.elements(), cost,
            [&](int64_t begin, int64_t end) {
              combine(one.output.raw(), from, begin, end, what.type, what.by, what.average);
            },
            stop);
      for (auto& place : from)
        place = static_cast<const char*>(place) + bytes;
    }
    return {};
  }
  TROUPE_ASSIGN(auto made, tensor::make(what.type, dims, first.memory()));
  if (elements > 0 && what.kind == collective_kind::all_reduce)
    first.parallel_for(
        elements, cost,
        [&](int64_t begin, int64_t end) {
          combine(made.raw(), from, begin, end, what.type, what.by, what.average);
        },
        stop);
  if (elements > 0 && what.kind == collective_kind::all_gather)
    for (size_t i = 0; i < all.size(); ++i)
      std::memcpy(static_cast<char*>(made.raw()) + i * all[i].input.bytes(), from[i],
                  all[i].input.bytes());
  for (auto& one : all)
    one.output = made;
  return {};
}

} // namespace troupe
