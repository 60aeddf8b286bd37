#include "troupe/devices/cpu/int8_gemm.hpp"

#include "troupe/devices/cpu/one_openmp_thread.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <oneapi/dnnl/dnnl.h>
#include <vector>

namespace troupe {
namespace {

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

/// A block of a product, with a where it lies or in a copy.
struct block_product {
  const int8_product& of;
  const block& part;

  status run(const uint8_t* a, int64_t a_stride, uint8_t zero_a, bool add) const {
    one_openmp_thread guard;
    const auto* b = of.b + (of.transpose_b ? part.column * of.k : part.column);
    const int32_t no_offset = 0;
    auto outcome = dnnl_gemm_u8s8s32(of.transpose_a ? 'T' : 'N', of.transpose_b ? 'T' : 'N', 'F',
                                     part.rows, part.columns, of.k, 1.0f, a, a_stride, zero_a, b,
                                     of.transpose_b ? of.k : of.n, of.zero_b, add ? 1.0f : 0.0f,
                                     c(), of.n, &no_offset);
    if (outcome == dnnl_success)
      return {};
    if (outcome == dnnl_out_of_memory)
      throw std::bad_alloc{};
    return failure(error_kind::internal, "oneDNN's gemm_u8s8s32 failed with status ",
                   static_cast<int>(outcome));
  }

  status run() const {
    auto stride = of.transpose_a ? of.m : of.k;
    const auto* a = of.a + (of.transpose_a ? part.row : part.row * of.k);
    if (adds_up_to_32_bits())
      return run(a, stride, of.zero_a, false);
    // The upper seven bits of a, then the lowest one.
    auto lines = of.transpose_a ? of.k : part.rows, length = of.transpose_a ? part.rows : of.k;
    std::vector<uint8_t> bits(static_cast<size_t>(lines * length));
    auto copy = [&](auto bits_of) {
      for (int64_t i = 0; i < lines; ++i)
        std::transform(a + i * stride, a + i * stride + length, bits.data() + i * length, bits_of);
    };
    copy([](uint8_t x) { return static_cast<uint8_t>(x >> 1); });
    TROUPE_TRY(run(bits.data(), length, 0, false));
    for (int64_t i = 0; i < part.rows; ++i) {
      auto* row = c() + i * of.n;
      std::transform(row, row + part.columns, row,
                     [](int32_t x) { return static_cast<int32_t>(2 * static_cast<uint32_t>(x)); });
    }
    copy([](uint8_t x) { return static_cast<uint8_t>(x & 1); });
    return run(bits.data(), length, of.zero_a, true);
  }

private:
  int32_t* c() const { return of.c + part.row * of.n + part.column; }
};

status multiply(const int8_product& of, const block& part) try {
  return block_product{of, part}.run();
} catch (const std::bad_alloc&) {
  return failure(error_kind::resource_exhausted, "no memory for a product of ", of.m, 'x', of.k,
                 " and ", of.k, 'x', of.n);
}

/// Says whether the result was given without multiplying.
bool trivial(const int8_product& of) {
  if (of.k == 0)
    std::fill_n(of.c, of.m * of.n, 0);
  return of.m == 0 || of.n == 0 || of.k == 0;
}

// A block takes some milliseconds; its operands are packed anew, which few rows are not worth.
constexpr double multiplications_in_block = 1e9;
constexpr int64_t strip = 64, widest = 4096;

} // namespace

status int8_gemm(const int8_product& of) {
  return trivial(of) ? status{} : multiply(of, {0, of.m, 0, of.n});
}

status int8_gemm(device& on, const int8_product& of, stop_signal* stop) {
  if (trivial(of))
    return {};
  auto by_rows = of.m >= of.n;
  auto along = by_rows ? of.m : of.n, across = by_rows ? of.n : of.m;
  auto width = std::min(across, widest);
  auto each = static_cast<double>(width) * static_cast<double>(of.k); // for one row or column
  auto length = std::max(strip, static_cast<int64_t>(multiplications_in_block / each));
  constexpr double nanoseconds_per_multiplication = 0.003;
  auto cost = nanoseconds_per_multiplication * static_cast<double>(across) *
              static_cast<double>(of.k) * static_cast<double>(strip);
  std::mutex mutex;
  status outcome;
  auto multiply_strips = [&](int64_t begin, int64_t end) {
    end = std::min(end * strip, along);
    for (auto i = begin * strip; i < end; i += length)
      for (int64_t j = 0; j < across; j += width) {
        if (stop && stop->due())
          return;
        auto lines = std::min(length, end - i), others = std::min(width, across - j);
        auto done = multiply(of, by_rows ? block{i, lines, j, others} : block{j, others, i, lines});
        if (done.ok())
          continue;
        std::lock_guard guard{mutex};
        outcome = std::move(done);
        return;
      }
  };
  on.parallel_for((along + strip - 1) / strip, cost, multiply_strips, stop);
  return outcome;
}

} // namespace troupe
