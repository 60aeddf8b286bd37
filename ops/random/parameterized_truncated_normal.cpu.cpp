#include "troupe/ops/random/rejection.cpu.hpp"

namespace troupe::ops {
namespace {

struct bounded_normal {
  double mean, deviation, least, greatest;
};

// One of the three methods accepts at least every fourth number (Robert, "Simulation of Truncated
// Normal Variables", 1995); after so many, rounding leaves nothing to choose from.
constexpr int most_tries = 200;

// Of mean 0 and deviation 1, in [from, to] with from >= -to.
double within(number_source& numbers, double from, double to) {
  const auto root = std::sqrt(from * from + 4), rate = (from + root) / 2;
  const auto wide =
      from > 0 ? 2 * std::sqrt(std::numbers::e) / (from + root) * std::exp(from * (from - root) / 4)
               : std::sqrt(2 * std::numbers::pi);
  for (int i = 0; i < most_tries; ++i) {
    if (to - from <= wide) {
      auto x = from + (to - from) * numbers.uniform(), top = std::max(from, 0.0);
      if (numbers.uniform() < std::exp((top - x) * (top + x) / 2))
        return x;
    } else if (from > 0) { // the tail falls nearly as an exponential does
      auto x = from - std::log(1 - numbers.uniform()) / rate;
      if (numbers.uniform() < std::exp(-(x - rate) * (x - rate) / 2) && x <= to)
        return x;
    } else if (auto x = numbers.normal(); x >= from && x <= to) {
      return x;
    }
  }
  return std::max(from, 0.0);
}

double draw(number_source& numbers, const bounded_normal& of) {
  auto from = (of.least - of.mean) / of.deviation, to = (of.greatest - of.mean) / of.deviation;
  auto z = from >= -to ? within(numbers, from, to) : -within(numbers, -to, -from);
  return std::clamp(of.mean + of.deviation * z, of.least, of.greatest);
}

// The parameters of each row, or of all.
result<std::vector<bounded_normal>> read_parameters(kernel_context& at, int64_t rows) {
  std::array<tensor, 4> given;
  int64_t count = 1;
  for (size_t i = 0; i < 4; ++i) {
    const auto& in = at.input(static_cast<int>(i) + 1);
    if (in.rank() > 1 || (in.elements() != 1 && in.elements() != rows))
      return invalid("a parameter must be one number, or one for each of ", rows,
                     " rows, got shape ", in.dims());
    TROUPE_ASSIGN(given[i], as_doubles(in, at.memory()));
    count = std::max(count, in.elements());
  }
  std::vector<bounded_normal> all;
  for (int64_t row = 0; row < count; ++row) {
    auto value = [&](size_t i) {
      return given[i].data<double>()[given[i].elements() == 1 ? 0 : row];
    };
    bounded_normal of{value(0), value(1), value(2), value(3)};
    if (!(of.deviation > 0 && std::isfinite(of.deviation) && std::isfinite(of.mean) &&
          of.least < of.greatest && of.least < HUGE_VAL && of.greatest > -HUGE_VAL))
      return invalid("cannot draw with mean ", of.mean, " and deviation ", of.deviation,
                     " between ", of.least, " and ", of.greatest);
    all.push_back(of);
  }
  return all;
}

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto dims, drawn_shape(at));
  if (dims.rank() == 0)
    return invalid("shape must have an axis for rows, got none");
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto parameters, read_parameters(at, dims[0]));
  auto& stream = at.state<random_stream>();
  auto first = stream.take(static_cast<uint64_t>(dims.elements()));
  auto each = parameters.size() == 1 ? dims.elements() : dims.elements() / dims[0];
  auto* to = out->template data<T>();
  at.parallel_for(dims.elements(), 100, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      number_source numbers{stream.numbers(), first + static_cast<uint64_t>(i)};
      to[i] = nearest<T>(draw(numbers, parameters[static_cast<size_t>(i / each)]));
    }
  });
  return {};
}

} // namespace

extern constexpr kernel_def parameterized_truncated_normal_cpu{
    .op = "ParameterizedTruncatedNormal",
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .key = "dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops
