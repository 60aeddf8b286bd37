#include "troupe/ops/quantized/shared/int8_product.cpu.hpp"

#include <algorithm>
#include <oneapi/dnnl/dnnl.h>

namespace troupe::ops {
namespace {

using dnnl::memory;
using types = memory::data_type;

/// Part of c.
struct block {
  int64_t row, rows, column, columns;
};

// Without instructions for it, two neighbouring products are added to 16 bits, which saturate
// unless one operand has 7 bits only.
bool adds_up_to_32_bits() {
  static const auto exact = [] {
    auto has = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
    auto includes = [&](unsigned isa) { return (has & isa) == isa; };
    return includes(dnnl_cpu_isa_avx512_core_vnni) || includes(dnnl_cpu_isa_avx2_vnni);
  }();
  return exact;
}

const uint8_t* first_of_a(const int8_product& of, const block& part) {
  return of.a + (of.transpose_a ? part.row : part.row * of.k);
}
const int8_t* first_of_b(const int8_product& of, const block& part) {
  return of.b + (of.transpose_b ? part.column * of.k : part.column);
}
int32_t* first_of_c(const int8_product& of, const block& part) {
  return of.c + part.row * of.n + part.column;
}

// oneDNN keeps primitives: describing one again takes a microsecond.
status multiply_by_primitive(kernel_context& at, dnnl::stream& on, const int8_product& of,
                             const block& part) {
  auto strides = [](bool transposed, int64_t rows, int64_t columns) {
    return transposed ? memory::dims{1, rows} : memory::dims{columns, 1};
  };
  memory::desc a{{part.rows, of.k}, types::u8, strides(of.transpose_a, of.m, of.k)};
  memory::desc b{{of.k, part.columns}, types::s8, strides(of.transpose_b, of.k, of.n)};
  memory::desc c{{part.rows, part.columns}, types::s32, {of.n, 1}};
  auto attr = onednn::with_own_scratchpad();
  if (of.zero_a != 0) // each costs sums of the other operand
    onednn::take_zero_point(attr, DNNL_ARG_SRC);
  if (of.zero_b != 0)
    onednn::take_zero_point(attr, DNNL_ARG_WEIGHTS);
  auto described = onednn::describe<dnnl::matmul>(attr, a, b, c);
  auto scratch = described.scratchpad_desc();
  TROUPE_ASSIGN(auto scratchpad, onednn::buffer_of(at, scratch.get_size()));
  memory::desc scalar{{1}, types::s32, memory::dims{1}};
  const int32_t zero_a = of.zero_a, zero_b = of.zero_b;
  dnnl::matmul{described}.execute(
      on, {{DNNL_ARG_SRC, onednn::over(a, first_of_a(of, part))},
           {DNNL_ARG_WEIGHTS, onednn::over(b, first_of_b(of, part))},
           {DNNL_ARG_DST, onednn::over(c, first_of_c(of, part))},
           {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, onednn::over(scalar, &zero_a)},
           {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_WEIGHTS, onednn::over(scalar, &zero_b)},
           {DNNL_ARG_SCRATCHPAD, onednn::over(scratch, scratchpad.raw())}});
  return {};
}

// The product of the upper seven bits of a, twice, and that of the lowest one.
status multiply_in_halves(kernel_context& at, const int8_product& of, const block& part) {
  auto stride = of.transpose_a ? of.m : of.k;
  auto lines = of.transpose_a ? of.k : part.rows, length = of.transpose_a ? part.rows : of.k;
  TROUPE_ASSIGN(auto buffer, onednn::buffer_of(at, static_cast<size_t>(lines * length)));
  auto* bits = static_cast<uint8_t*>(buffer.raw());
  auto* c = first_of_c(of, part);
  auto multiply = [&](auto bits_of, uint8_t zero_a, float scale_c) {
    const auto* from = first_of_a(of, part);
    for (int64_t i = 0; i < lines; ++i)
      std::transform(from + i * stride, from + i * stride + length, bits + i * length, bits_of);
    const int32_t no_offset = 0;
    dnnl::error::wrap_c_api(
        dnnl_gemm_u8s8s32(of.transpose_a ? 'T' : 'N', of.transpose_b ? 'T' : 'N', 'F', part.rows,
                          part.columns, of.k, 1.0f, bits, length, zero_a, first_of_b(of, part),
                          of.transpose_b ? of.k : of.n, of.zero_b, scale_c, c, of.n, &no_offset),
        "could not multiply bytes");
  };
  multiply([](uint8_t x) { return static_cast<uint8_t>(x >> 1); }, 0, 0);
  for (int64_t i = 0; i < part.rows; ++i) {
    auto* row = c + i * of.n;
    std::transform(row, row + part.columns, row,
                   [](int32_t x) { return static_cast<int32_t>(2 * static_cast<uint32_t>(x)); });
  }
  multiply([](uint8_t x) { return static_cast<uint8_t>(x & 1); }, of.zero_a, 1);
  return {};
}

status multiply(kernel_context& at, dnnl::stream& on, const int8_product& of, const block& part) {
  return adds_up_to_32_bits() ? multiply_by_primitive(at, on, of, part)
                              : multiply_in_halves(at, of, part);
}

} // namespace

status multiply_bytes(kernel_context& at, dnnl::stream& on, const int8_product& of) {
  return multiply(at, on, of, {0, of.m, 0, of.n});
}

status multiply_bytes(kernel_context& at, const int8_product& of) {
  if (of.m == 0 || of.n == 0)
    return {};
  if (of.k == 0) {
    std::fill_n(of.c, of.m * of.n, 0);
    return {};
  }
  // A job packs its operands, so it is large; but it cannot be stopped, and threads want some each.
  constexpr double least = 1e8, most = 2e9;
  auto threads = at.device().threads();
  auto jobs = threads > 1 ? 2.0 * threads : 1.0;
  auto area = std::clamp(of.multiplications() / jobs, least, most) / static_cast<double>(of.k);
  auto lines = [&](int64_t across, int64_t few) {
    return std::max(few, static_cast<int64_t>(area / static_cast<double>(across)));
  };
  auto columns = std::min(of.n, lines(std::min<int64_t>(of.m, 1024), 256));
  auto rows = std::min(of.m, lines(columns, 64));
  auto down = (of.m + rows - 1) / rows, across = (of.n + columns - 1) / columns;
  auto cost = of.multiplications() / static_cast<double>(down * across);
  return onednn::for_each_job(at, down * across, nanoseconds_per_byte_product * cost,
                              [&](dnnl::stream& on, int64_t i) {
                                auto row = i / across * rows, column = i % across * columns;
                                return multiply(at, on, of,
                                                {row, std::min(rows, of.m - row), column,
                                                 std::min(columns, of.n - column)});
                              });
}

} // namespace troupe::ops
