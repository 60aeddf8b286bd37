#include "troupe/runtime/placement/cost.hpp"

#include "troupe/runtime/device/device_name.hpp"

#include <algorithm>

namespace troupe {
namespace {

// What estimates assume until somebody measures.
struct speed {
  double nanoseconds_per_flop; // in compiled loops and library kernels
  double nanoseconds_per_byte, nanoseconds_per_call;
};
constexpr speed of_processor{0.02, 0.1, 30}; // one core of a present-day server
constexpr speed of_gpu{5e-5, 5e-4, 3000};    // a present-day server's, in f32, with its launch

double elements(const partial_shape& dims) {
  double count = 1;
  if (dims.has_rank())
    for (int i = 0; i < dims.rank(); ++i)
      count *= static_cast<double>(dims[i] == unknown_extent ? 1 : dims[i]);
  return count;
}

// Where one has to act although an extent is not known, it is that of a batch.
constexpr double usual_extent = 256;

double guess_factor(const partial_shape& dims) {
  if (!dims.has_rank())
    return usual_extent * usual_extent;
  double factor = 1;
  for (int i = 0; i < dims.rank(); ++i)
    if (dims[i] == unknown_extent)
      factor *= usual_extent;
  return factor;
}

// By how much a node's work is more than what unknown extents of 1 make of it.
double guess_factor(const node& of) {
  double factor = 1;
  for (const auto& input : of.inputs())
    factor = std::max(factor, guess_factor(input.dims()));
  for (int i = 0; i < of.outputs(); ++i)
    factor = std::max(factor, guess_factor(of.output_shape(i)));
  return factor;
}

// A function that branches or loops, in nanoseconds.
constexpr double usual_call = 100'000;

// The wait for a copy, and for what is launched behind it.
constexpr double upload_latency = 15'000, download_latency = 30'000,
                 nanoseconds_per_bus_byte = 0.05;

double estimate(const workload& work, const speed& at) {
  return at.nanoseconds_per_call +
         std::max(work.flops * at.nanoseconds_per_flop, work.bytes * at.nanoseconds_per_byte);
}

} // namespace

double bytes_of(dtype type, const partial_shape& dims) {
  return elements(dims) * static_cast<double>(std::max<size_t>(size_of(type), 1));
}

workload workload_of(const node& of) {
  workload work;
  double most = 0;
  for (const auto& input : of.inputs()) {
    if (input.node->output_is_ref(input.index))
      continue;
    work.bytes += bytes_of(input.type(), input.dims());
    most = std::max(most, elements(input.dims()));
  }
  for (int i = 0; i < of.outputs(); ++i) {
    if (of.output_is_ref(i))
      continue;
    work.bytes += bytes_of(of.output_type(i), of.output_shape(i));
    most = std::max(most, elements(of.output_shape(i)));
  }
  work.flops = of.op().flops ? of.op().flops(of) : most;
  return work;
}

double expected_nanoseconds(const node& of, const node_times* measured) {
  if (measured)
    if (auto known = measured->find(of.name()))
      return known->mean_ns;
  if (of.op().calls != calling::never)
    return usual_call;
  return estimate(workload_of(of), of_processor);
}

double expected_nanoseconds(const node& of, device_kind on, const node_times* measured) {
  if (measured)
    if (auto known = measured->find(of.name()))
      if (auto where = device_name::parse(known->device); where && where->kind == to_string(on))
        return known->mean_ns;
  auto work = workload_of(of);
  work.flops *= guess_factor(of);
  work.bytes *= guess_factor(of);
  return estimate(work, on == device_kind::gpu ? of_gpu : of_processor);
}

double expected_on_gpu(const workload& of) { return estimate(of, of_gpu); }

double expected_on_bus(double bytes) { return bytes * nanoseconds_per_bus_byte; }

double expected_over_bus(bool out, bool in, double bytes) {
  return (out ? download_latency + expected_on_bus(bytes) : 0) +
         (in ? upload_latency + expected_on_bus(bytes) : 0);
}

double expected_bytes(dtype type, const partial_shape& dims) {
  return bytes_of(type, dims) * guess_factor(dims);
}

double expected_upload(dtype type, const partial_shape& dims) {
  return expected_over_bus(false, true, expected_bytes(type, dims));
}

double expected_download(dtype type, const partial_shape& dims) {
  return expected_over_bus(true, false, expected_bytes(type, dims));
}

} // namespace troupe
