#include "troupe/ops/random/shared/distributions.cpu.hpp"
#include "troupe/ops/random/shared/rejection.cpu.hpp"

namespace troupe::ops::random_normal_cpu {
namespace {

// The parameters per row, or for all rows.
result<std::vector<bounded_normal>> read_parameters(kernel_context& at) {
  std::array<tensor, 4> given;
  int64_t count = 1;
  for (size_t i = 0; i < 4; ++i) {
    const auto& in = at.input(static_cast<int>(i) + 1);
    TROUPE_ASSIGN(given[i], as_doubles(in, at.memory()));
    count = std::max(count, in.elements());
  }
  std::vector<bounded_normal> normals;
  for (int64_t row = 0; row < count; ++row) {
    auto value = [&](size_t i) {
      return given[i].data<double>()[given[i].elements() == 1 ? 0 : row];
    };
    bounded_normal normal{value(0), value(1), value(2), value(3)};
    if (!normal.valid())
      return invalid("cannot draw with mean ", normal.mean, " and deviation ", normal.deviation,
                     " between ", normal.least, " and ", normal.greatest);
    normals.push_back(normal);
  }
  return normals;
}

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto dims, drawn_rows(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto parameters, read_parameters(at));
  auto& stream = at.state<random_stream>();
  auto first = stream.take(static_cast<uint64_t>(dims.elements()));
  auto per_row = parameters.size() == 1 ? dims.elements() : dims.elements() / dims[0];
  auto* to = out->template data<T>();
  at.parallel_for(dims.elements(), 100, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      number_source numbers{stream.numbers(), first + static_cast<uint64_t>(i)};
      to[i] = static_cast<T>(
          nearest<T>(drawn_between(numbers, parameters[static_cast<size_t>(i / per_row)])));
    }
  });
  return {};
}

} // namespace

extern constexpr kernel_def random_standard_normal_cpu{
    .op = "RandomStandardNormal",
    .run = drawn_kernels<normal_draw>(types::floating),
    .key = "dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def truncated_normal_cpu{
    .op = "TruncatedNormal",
    .run = drawn_kernels<truncated_normal_draw>(types::floating),
    .key = "dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def parameterized_truncated_normal_cpu{
    .op = "ParameterizedTruncatedNormal",
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .key = "dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def stateless_random_normal_cpu{
    .op = "StatelessRandomNormal",
    .run = stateless_kernels<normal_draw>(types::floating),
    .key = "dtype",
};

extern constexpr kernel_def stateless_truncated_normal_cpu{
    .op = "StatelessTruncatedNormal",
    .run = stateless_kernels<truncated_normal_draw>(types::floating),
    .key = "dtype",
};

} // namespace troupe::ops::random_normal_cpu
