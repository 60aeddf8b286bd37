// Kernels on processors of distributions with parameters, drawn by rejection.
#pragma once
#include "troupe/ops/random/shared/as_doubles.hpp"
#include "troupe/ops/random/shared/parameters.hpp"
#include "troupe/ops/random/shared/random.cpu.hpp"
#include "troupe/ops/random/shared/rejection.hpp"

namespace troupe::ops {

/// Fills output 0: for each index of the shape that input 0 lists, one number per parameter in
/// input 1, drawn by `draw(numbers, parameter)`.
template <class T, class Draw>
status draw_for_each(kernel_context& at, double nanoseconds, Draw draw) {
  TROUPE_ASSIGN(auto dims, drawn_for_each(at));
  TROUPE_ASSIGN(auto parameters, as_doubles(at.input(1), at.memory()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto& stream = at.state<random_stream>();
  auto first = stream.take(static_cast<uint64_t>(dims.elements()));
  auto* to = out->template data<T>();
  const auto* parameter = parameters.template data<double>();
  auto parameter_count = parameters.elements();
  at.parallel_for(dims.elements(), nanoseconds, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      number_source numbers{stream.numbers(), first + static_cast<uint64_t>(i)};
      to[i] = static_cast<T>(nearest<T>(draw(numbers, parameter[i % parameter_count])));
    }
  });
  return {};
}

} // namespace troupe::ops
