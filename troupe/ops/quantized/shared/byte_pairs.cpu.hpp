// Arithmetic on bytes that stand for ranges, by what each of the 256 bytes stands for.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/ops/quantized/shared/quantized_range.hpp"

#include <array>

namespace troupe::ops {

/// What a byte, as unsigned, becomes.
using byte_table = std::array<int32_t, 256>;

/// `meaning(whole)` for each whole number of the range's type.
template <class Meaning>
byte_table tabulate(const quantized_range& of, Meaning meaning) {
  byte_table made{};
  for (auto whole = of.lowest; whole <= of.highest; ++whole)
    made[static_cast<uint8_t>(whole)] = static_cast<int32_t>(meaning(whole));
  return made;
}

/// Output 0 = op(table_a[a], table_b[b]) of inputs 0 and 1, broadcast to the shape; wraps around.
template <class Op>
status combine_bytes(kernel_context& at, const shape& dims, const byte_table& table_a,
                     const byte_table& table_b, Op op) {
  const auto &a = at.input(0), &b = at.input(1);
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto plan = strided_iterator::broadcast(dims, a.dims(), b.dims());
  const auto *from_a = static_cast<const uint8_t*>(a.raw()),
             *from_b = static_cast<const uint8_t*>(b.raw());
  auto* to = out->data<int32_t>();
  at.parallel_for(out->elements(), 1, [&](int64_t begin, int64_t end) {
    plan.runs(begin, end,
              [&](int64_t first, const strided_iterator::offsets& where, int64_t count) {
                const auto *x = from_a + where[0], *y = from_b + where[1];
                for (int64_t i = 0; i < count; ++i)
                  to[first + i] =
                      wrapping(op, table_a[x[i * plan.step(0)]], table_b[y[i * plan.step(1)]]);
              });
  });
  return {};
}

} // namespace troupe::ops
