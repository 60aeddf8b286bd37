#include "troupe/ops/random/shared/as_doubles.hpp"
#include "troupe/ops/random/shared/classes.hpp"
#include "troupe/ops/random/shared/random.cpu.hpp"

#include <limits>

namespace troupe::ops::multinomial_cpu {
namespace {

// Turns logits into cumulative probabilities, up to a common factor.
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
  const auto& logits = at.input(0);
  TROUPE_ASSIGN(auto dims, multinomial_dims(at));
  auto rows = dims[0], samples = dims[1], classes = logits.dims()[1];
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
      auto chosen = drawn_class(stream.numbers(), first, i, sums + i / samples * classes, classes);
      to[i] = static_cast<T>(chosen);
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
    .state_format = &stream_position,
};

} // namespace troupe::ops::multinomial_cpu
