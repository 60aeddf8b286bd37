#include "troupe/runtime/cost.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Of one core of a present-day server: what estimates assume until somebody measures.
constexpr double nanoseconds_per_flop = 0.02; // in compiled loops and library kernels
constexpr double nanoseconds_per_byte = 0.1;
constexpr double nanoseconds_per_call = 30;

double elements(const partial_shape& dims) {
  double count = 1;
  if (dims.has_rank())
    for (int i = 0; i < dims.rank(); ++i)
      count *= static_cast<double>(dims[i] == unknown_extent ? 1 : dims[i]);
  return count;
}

double bytes(dtype type, const partial_shape& dims) {
  return elements(dims) * static_cast<double>(std::max<size_t>(size_of(type), 1));
}

} // namespace

workload workload_of(const node& of) {
  workload work;
  double most = 0;
  for (const auto& input : of.inputs()) {
    if (input.node->output_is_ref(input.index))
      continue;
    work.bytes += bytes(input.type(), input.dims());
    most = std::max(most, elements(input.dims()));
  }
  for (int i = 0; i < of.outputs(); ++i) {
    if (of.output_is_ref(i))
      continue;
    work.bytes += bytes(of.output_type(i), of.output_shape(i));
    most = std::max(most, elements(of.output_shape(i)));
  }
  work.flops = of.op().flops ? of.op().flops(of) : most;
  return work;
}

double expected_nanoseconds(const node& of, const node_times* measured) {
  if (measured)
    if (auto known = measured->find(of.name()))
      return known->mean_ns;
  auto work = workload_of(of);
  return nanoseconds_per_call +
         std::max(work.flops * nanoseconds_per_flop, work.bytes * nanoseconds_per_byte);
}

} // namespace troupe
