#include "troupe/ops/random/as_doubles.hpp"
#include "troupe/ops/random/random.cpu.hpp"

namespace troupe::ops {
namespace {

// Logits become sums of the probabilities so far, but for a common factor.
void accumulate(double* row, int64_t classes) {
  auto largest = -std::numeric_limits<double>::infinity();
  for (int64_t c = 0; c < classes; ++c)
    if (std::isfinite(row[c]))
      largest = std::max(largest, row[c]);
  double sum = 0;
  for (int64_t c = 0; c < classes; ++c) {
    sum += std::isfinite(row[c]) ? std::exp(row[c] - largest) : 0;
    row[c] = sum;
  }
}

template <class T>
status run(kernel_context& at) {
  const auto &logits = at.input(0), &count = at.input(1);
  if (logits.rank() != 2 || count.rank() != 0)
    return invalid("logits must be a matrix and num_samples a scalar, got shapes ", logits.dims(),
                   " and ", count.dims());
  auto rows = logits.dims()[0], classes = logits.dims()[1];
  auto samples = int64_t{*count.data<int32_t>()};
  TROUPE_ASSIGN(auto dims, shape::make(std::array{rows, samples}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto table, as_doubles(logits, at.memory()));
  auto* sums = table.template data<double>();
  at.parallel_for(rows, 8 * static_cast<double>(classes), [&](int64_t begin, int64_t end) {
    for (auto row = begin; row < end; ++row)
      accumulate(sums + row * classes, classes);
  });
  for (int64_t row = 0; row < rows; ++row)
    if (classes == 0 || !(sums[(row + 1) * classes - 1] > 0)) {
      if (at.stopped())
        return {};
      return invalid("row ", row, " of logits has no class that is possible");
    }
  auto& stream = at.state<random_stream>();
  auto first = stream.take(static_cast<uint64_t>(blocks_for(out->elements(), 2)));
  auto* to = out->template data<T>();
  at.parallel_for(out->elements(), 30, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto block = stream.numbers()(first + static_cast<uint64_t>(i / 2));
      auto bits = i % 2 == 0 ? joined(block[0], block[1]) : joined(block[2], block[3]);
      std::span row{sums + i / samples * classes, static_cast<size_t>(classes)};
      auto chosen = std::ranges::upper_bound(row, uniform<double>(bits) * row.back());
      if (chosen == row.end()) // rounded up to the sum of all
        chosen = std::ranges::lower_bound(row, row.back());
      to[i] = static_cast<T>(chosen - row.begin());
    }
  });
  return {};
}

} // namespace

extern constexpr kernel_def multinomial_cpu{
    .op = "Multinomial",
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
    .key = "output_dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops
