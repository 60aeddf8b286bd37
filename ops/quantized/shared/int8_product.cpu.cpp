#include "troupe/ops/quantized/shared/int8_product.cpu.hpp"

#include <algorithm>
#include <oneapi/dnnl/dnnl.h>

namespace troupe::ops {
namespace {

using dnnl::memory;
using types = memory::data_type;

/// A block of c.
struct block {
  int64_t row, rows, column, columns;
};

// Without special instructions, two adjacent products are added in 16 bits, which saturates unless
// one operand has only 7 bits.
bool adds_up_to_32_bits() {
  static const auto exact = [] {
    auto has = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
    auto includes = [&](unsigned isa) { return (has & isa) == isa; };
    return includes(dnnl_cpu_isa_avx512_core_vnni) || includes(dnnl_cpu_isa_avx2_vnni);
  }();
  return exact;
}

const uint8_t* first_of_a(const int8_product& product, const block& part) {
  return product.a + (product.transpose_a ? part.row : part.row * product.k);
}
const int8_t* first_of_b(const int8_product& product, const block& part) {
  return product.b + (product.transpose_b ? part.column * product.k : part.column);
}
int32_t* first_of_c(const int8_product& product, const block& part) {
  return product.c + part.row * product.n + part.column;
}

// oneDNN caches primitives: describing one again takes a microsecond.
status multiply_by_primitive(kernel_context& at, dnnl::stream& stream, const int8_product& product,
                             const block& part) {
  auto strides = [](bool transposed, int64_t rows, int64_t columns) {
    return transposed ? memory::dims{1, rows} : memory::dims{columns, 1};
  };
  memory::desc a{
      {part.rows, product.k}, types::u8, strides(product.transpose_a, product.m, product.k)};
  memory::desc b{
      {product.k, part.columns}, types::s8, strides(product.transpose_b, product.k, product.n)};
  memory::desc c{{part.rows, part.columns}, types::s32, {product.n, 1}};
  auto attr = onednn::with_own_scratchpad();
  if (product.zero_a != 0) // a zero point requires sums of the other operand
    onednn::take_zero_point(attr, DNNL_ARG_SRC);
  if (product.zero_b != 0)
    onednn::take_zero_point(attr, DNNL_ARG_WEIGHTS);
  auto described = onednn::describe<dnnl::matmul>(attr, a, b, c);
  auto scratch = described.scratchpad_desc();
  TROUPE_ASSIGN(auto scratchpad, onednn::buffer_of(at, scratch.get_size()));
  memory::desc scalar{{1}, types::s32, memory::dims{1}};
  const int32_t zero_a = product.zero_a, zero_b = product.zero_b;
  dnnl::matmul{described}.execute(
      stream, {{DNNL_ARG_SRC, onednn::over(a, first_of_a(product, part))},
               {DNNL_ARG_WEIGHTS, onednn::over(b, first_of_b(product, part))},
               {DNNL_ARG_DST, onednn::over(c, first_of_c(product, part))},
               {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, onednn::over(scalar, &zero_a)},
               {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_WEIGHTS, onednn::over(scalar, &zero_b)},
               {DNNL_ARG_SCRATCHPAD, onednn::over(scratch, scratchpad.raw())}});
  return {};
}

// Twice the product of the upper seven bits of a, plus the product of the lowest bit.
status multiply_in_halves(kernel_context& at, const int8_product& product, const block& part) {
  auto stride = product.transpose_a ? product.m : product.k;
  auto lines = product.transpose_a ? product.k : part.rows,
       length = product.transpose_a ? part.rows : product.k;
  TROUPE_ASSIGN(auto buffer, onednn::buffer_of(at, static_cast<size_t>(lines * length)));
  auto* bits = static_cast<uint8_t*>(buffer.raw());
  auto* c = first_of_c(product, part);
  auto multiply = [&](auto bits_of, uint8_t zero_a, float scale_c) {
    const auto* from = first_of_a(product, part);
    for (int64_t i = 0; i < lines; ++i)
      std::transform(from + i * stride, from + i * stride + length, bits + i * length, bits_of);
    const int32_t no_offset = 0;
    dnnl::error::wrap_c_api(
        dnnl_gemm_u8s8s32(product.transpose_a ? 'T' : 'N', product.transpose_b ? 'T' : 'N', 'F',
                          part.rows, part.columns, product.k, 1.0f, bits, length, zero_a,
                          first_of_b(product, part), product.transpose_b ? product.k : product.n,
                          product.zero_b, scale_c, c, product.n, &no_offset),
        "could not multiply bytes");
  };
  multiply([](uint8_t x) { return static_cast<uint8_t>(x >> 1); }, 0, 0);
  for (int64_t i = 0; i < part.rows; ++i) {
    auto* row = c + i * product.n;
    std::transform(row, row + part.columns, row,
                   [](int32_t x) { return static_cast<int32_t>(2 * static_cast<uint32_t>(x)); });
  }
  multiply([](uint8_t x) { return static_cast<uint8_t>(x & 1); }, product.zero_a, 1);
  return {};
}

status multiply(kernel_context& at, dnnl::stream& stream, const int8_product& product,
                const block& part) {
  return adds_up_to_32_bits() ? multiply_by_primitive(at, stream, product, part)
                              : multiply_in_halves(at, product, part);
}

} // namespace

status multiply_bytes(kernel_context& at, dnnl::stream& stream, const int8_product& product) {
  return multiply(at, stream, product, {0, product.m, 0, product.n});
}

status multiply_bytes(kernel_context& at, const int8_product& product) {
  if (product.m == 0 || product.n == 0)
    return {};
  if (product.k == 0) {
    std::fill_n(product.c, product.m * product.n, 0);
    return {};
  }
  // A job packs its operands, so it should be large; but it cannot be stopped, and every thread
  // should get some.
  constexpr double min_job = 1e8, max_job = 2e9;
  auto threads = at.device().threads();
  auto jobs = threads > 1 ? 2.0 * threads : 1.0;
  auto area = std::clamp(product.multiplications() / jobs, min_job, max_job) /
              static_cast<double>(product.k);
  auto lines = [&](int64_t across, int64_t min_lines) {
    return std::max(min_lines, static_cast<int64_t>(area / static_cast<double>(across)));
  };
  auto columns = std::min(product.n, lines(std::min<int64_t>(product.m, 1024), 256));
  auto rows = std::min(product.m, lines(columns, 64));
  auto down = (product.m + rows - 1) / rows, across = (product.n + columns - 1) / columns;
  auto cost = product.multiplications() / static_cast<double>(down * across);
  return onednn::for_each_job(at, down * across, nanoseconds_per_byte_product * cost,
                              [&](dnnl::stream& on, int64_t i) {
                                auto row = i / across * rows, column = i % across * columns;
                                return multiply(at, on, product,
                                                {row, std::min(rows, product.m - row), column,
                                                 std::min(columns, product.n - column)});
                              });
}

} // namespace troupe::ops
