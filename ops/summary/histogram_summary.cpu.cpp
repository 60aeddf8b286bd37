#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/summary/shared/summary_proto.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

namespace troupe::ops::histogram_summary_cpu {
namespace {

// Range i is from limit i - 1, inclusive, to limit i, exclusive.
const std::vector<double>& all_limits() {
  static const auto limits = [] {
    std::vector<double> above;
    for (double limit = 1e-12; limit < 1e20; limit *= 1.1)
      above.push_back(limit);
    above.push_back(DBL_MAX);
    std::vector<double> ascending;
    for (auto positive = above.rbegin(); positive != above.rend(); ++positive)
      ascending.push_back(-*positive);
    ascending.push_back(0);
    ascending.insert(ascending.end(), above.begin(), above.end());
    return ascending;
  }();
  return limits;
}

struct statistics {
  double min = DBL_MAX, max = -DBL_MAX, count = 0, sum = 0, sum_squares = 0;
  std::vector<double> counts = std::vector<double>(all_limits().size());

  void add(double value) {
    const auto& limits = all_limits();
    auto range = std::upper_bound(limits.begin(), limits.end() - 1, value) - limits.begin();
    ++counts[static_cast<size_t>(range)];
    min = std::min(min, value);
    max = std::max(max, value);
    ++count;
    sum += value;
    sum_squares += value * value;
  }
};

// Zeros are not written.
void put_unless_zero(std::string& to, int field, double value) {
  if (std::bit_cast<uint64_t>(value) != 0)
    put_double(to, field, value);
}

std::string written(const statistics& from) {
  const auto& limits = all_limits();
  std::string to, ends, counts;
  put_unless_zero(to, 1, from.min);
  put_unless_zero(to, 2, from.max);
  put_unless_zero(to, 3, from.count);
  put_unless_zero(to, 4, from.sum);
  put_unless_zero(to, 5, from.sum_squares);
  for (size_t i = 0; i < limits.size(); ++i) {
    // Adjacent empty ranges are merged; the last one's limit remains.
    if (from.counts[i] == 0 && i + 1 < limits.size() && from.counts[i + 1] == 0)
      continue;
    put_fixed(ends, limits[i]);
    put_fixed(counts, from.counts[i]);
  }
  put_bytes(to, 6, ends);
  put_bytes(to, 7, counts);
  return to;
}

template <class T>
status run(kernel_context& at) {
  const auto& tag = at.input(0);
  if (tag.rank() != 0)
    return invalid("tag must be a scalar, got shape ", tag.dims());
  statistics statistics_of_values;
  for (const auto& element : at.input(1).values<T>()) {
    auto value = static_cast<double>(widen(element));
    if (!std::isfinite(value))
      return invalid("'", *tag.data<std::string>(), "': values must be finite, got ", value);
    statistics_of_values.add(value);
  }
  std::string histogram, summary;
  put_bytes(histogram, summary_field::histogram, written(statistics_of_values));
  put_summary_value(summary, *tag.data<std::string>(), histogram);
  return put_summary_output(at, std::move(summary));
}

} // namespace

extern constexpr kernel_def histogram_summary_cpu{
    .op = "HistogramSummary",
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>},
            {dtype::i8, run<int8_t>},
            {dtype::i16, run<int16_t>},
            {dtype::i32, run<int32_t>},
            {dtype::i64, run<int64_t>},
            {dtype::u8, run<uint8_t>},
            {dtype::u16, run<uint16_t>},
            {dtype::u32, run<uint32_t>},
            {dtype::u64, run<uint64_t>}},
};

} // namespace troupe::ops::histogram_summary_cpu
