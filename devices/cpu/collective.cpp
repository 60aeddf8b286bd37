#include "troupe/devices/cpu/collective.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace troupe {
namespace {

constexpr int64_t chunk = 1024; // elements, whose sums stay in the L1 cache

// Integers wrap around, as in kernels.
template <class T>
using sum_type =
    std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                       std::type_identity<std::conditional_t<(sizeof(T) < 4), float, T>>>;
template <class T>
using accumulator = typename sum_type<T>::type;

template <class T>
void fold(accumulator<T>* sums, const T* source, int64_t count, reduction operation) {
  using wide = accumulator<T>;
  auto for_each = [&](auto combine_two) {
    for (int64_t i = 0; i < count; ++i)
      sums[i] = combine_two(sums[i], static_cast<wide>(source[i]));
  };
  // Signed integers compare as signed.
  using ordered = std::conditional_t<std::is_integral_v<T>, T, wide>;
  switch (operation) {
    case reduction::sum: for_each([](wide a, wide b) { return a + b; }); break;
    case reduction::product: for_each([](wide a, wide b) { return a * b; }); break;
    case reduction::min:
      for_each(
          [](wide a, wide b) { return static_cast<ordered>(b) < static_cast<ordered>(a) ? b : a; });
      break;
    case reduction::max:
      for_each(
          [](wide a, wide b) { return static_cast<ordered>(a) < static_cast<ordered>(b) ? b : a; });
      break;
  }
}

template <class T>
void combine_typed(T* target, std::span<const void* const> sources, int64_t begin, int64_t end,
                   reduction operation, int64_t divide_by) {
  using wide = accumulator<T>;
  std::array<wide, chunk> sums;
  const auto average = divide_by != 1;
  for (; begin < end; begin += chunk) {
    auto count = std::min(chunk, end - begin);
    const auto* first = static_cast<const T*>(sources[0]) + begin;
    for (int64_t i = 0; i < count; ++i)
      sums[static_cast<size_t>(i)] = static_cast<wide>(first[i]);
    for (const auto* other : sources.subspan(1))
      fold(sums.data(), static_cast<const T*>(other) + begin, count, operation);
    for (int64_t i = 0; i < count; ++i) {
      auto value = sums[static_cast<size_t>(i)];
      if constexpr (std::is_integral_v<T>)
        target[begin + i] =
            average ? static_cast<T>(value) / static_cast<T>(divide_by) : static_cast<T>(value);
      else
        target[begin + i] = static_cast<T>(average ? value / static_cast<wide>(divide_by) : value);
    }
  }
}

double nanoseconds_of(const collective_call& call, size_t members) {
  return 0.05 * static_cast<double>(members * size_of(call.type));
}

} // namespace

void combine(void* target, std::span<const void* const> sources, int64_t begin, int64_t end,
             dtype type, reduction operation, bool average) {
  combine_and_divide(target, sources, begin, end, type, operation,
                     average ? static_cast<int64_t>(sources.size()) : 1);
}

void combine_and_divide(void* target, std::span<const void* const> sources, int64_t begin,
                        int64_t end, dtype type, reduction operation, int64_t divide_by) {
  if (sources.size() == 1 && divide_by == 1) {
    auto bytes = size_of(type);
    std::memcpy(static_cast<char*>(target) + static_cast<size_t>(begin) * bytes,
                static_cast<const char*>(sources[0]) + static_cast<size_t>(begin) * bytes,
                static_cast<size_t>(end - begin) * bytes);
    return;
  }
  switch (type) {
    case dtype::f16:
      return combine_typed(static_cast<float16*>(target), sources, begin, end, operation,
                           divide_by);
    case dtype::bf16:
      return combine_typed(static_cast<bfloat16*>(target), sources, begin, end, operation,
                           divide_by);
    case dtype::f32:
      return combine_typed(static_cast<float*>(target), sources, begin, end, operation, divide_by);
    case dtype::f64:
      return combine_typed(static_cast<double*>(target), sources, begin, end, operation, divide_by);
    case dtype::i32:
      return combine_typed(static_cast<int32_t*>(target), sources, begin, end, operation,
                           divide_by);
    case dtype::i64:
      return combine_typed(static_cast<int64_t*>(target), sources, begin, end, operation,
                           divide_by);
    default: return; // the ops allow no other type
  }
}

status run_collective_on_cpu(const collective_call& call, std::span<collective_part> parts,
                             stop_signal* stop) {
  auto dims = call.output_dims(parts.size());
  auto& first = *parts.front().target;
  if (call.kind == collective_kind::broadcast) {
    auto value = parts[call.root].input;
    for (auto& part : parts)
      part.output = value;
    return {};
  }
  auto elements = call.dims.elements();
  auto cost = nanoseconds_of(call, parts.size());
  std::vector<const void*> sources;
  for (const auto& part : parts)
    sources.push_back(part.input.raw());
  if (call.kind == collective_kind::reduce_scatter) {
    auto bytes = static_cast<size_t>(dims.elements()) * size_of(call.type);
    for (auto& part : parts) {
      TROUPE_ASSIGN(part.output, tensor::make(call.type, dims, part.target->memory()));
      if (bytes > 0)
        first.parallel_for(
            dims.elements(), cost,
            [&](int64_t begin, int64_t end) {
              combine(part.output.raw(), sources, begin, end, call.type, call.operation,
                      call.average);
            },
            stop);
      for (auto& source : sources)
        source = static_cast<const char*>(source) + bytes;
    }
    return {};
  }
  TROUPE_ASSIGN(auto output, tensor::make(call.type, dims, first.memory()));
  if (elements > 0 && call.kind == collective_kind::all_reduce)
    first.parallel_for(
        elements, cost,
        [&](int64_t begin, int64_t end) {
          combine(output.raw(), sources, begin, end, call.type, call.operation, call.average);
        },
        stop);
  if (elements > 0 && call.kind == collective_kind::all_gather)
    for (size_t i = 0; i < parts.size(); ++i)
      std::memcpy(static_cast<char*>(output.raw()) + i * parts[i].input.bytes(), sources[i],
                  parts[i].input.bytes());
  for (auto& part : parts)
    part.output = output;
  return {};
}

} // namespace troupe
