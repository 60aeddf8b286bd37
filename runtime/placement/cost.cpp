#include "troupe/runtime/placement/cost.hpp"

#include "troupe/runtime/device/device_name.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Assumed speeds, used until times are measured.
struct speed {
  double nanoseconds_per_flop; // in compiled loops and library kernels
  double nanoseconds_per_byte, nanoseconds_per_call;
};
constexpr speed cpu_speed{0.02, 0.1, 30};    // one core of a present-day server
constexpr speed gpu_speed{5e-5, 5e-4, 3000}; // one of a present-day server, in f32, with launches

double elements(const partial_shape& dims) {
  double count = 1;
  if (dims.has_rank())
    for (int i = 0; i < dims.rank(); ++i)
      count *= static_cast<double>(dims[i] == unknown_extent ? 1 : dims[i]);
  return count;
}

// The assumed extent of an unknown axis, which is usually that of a batch.
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

// The factor from work with unknown extents of 1 to work with the usual extent.
double guess_factor(const node& counted) {
  double factor = 1;
  for (const auto& input : counted.inputs())
    factor = std::max(factor, guess_factor(input.dims()));
  for (int i = 0; i < counted.outputs(); ++i)
    factor = std::max(factor, guess_factor(counted.output_shape(i)));
  return factor;
}

// The cost of a node that runs functions which branch or loop, in nanoseconds.
constexpr double usual_call = 100'000;

// Includes the wait for a copy, and for the launches behind it.
constexpr double upload_latency = 15'000, download_latency = 30'000,
                 nanoseconds_per_bus_byte = 0.05;

double estimate(const workload& work, const speed& on) {
  return on.nanoseconds_per_call +
         std::max(work.flops * on.nanoseconds_per_flop, work.bytes * on.nanoseconds_per_byte);
}

} // namespace

double bytes_of(dtype type, const partial_shape& dims) {
  return elements(dims) * static_cast<double>(std::max<size_t>(size_of(type), 1));
}

workload workload_of(const node& counted) {
  workload work;
  double max_elements = 0;
  for (const auto& input : counted.inputs()) {
    if (input.node->output_is_ref(input.index))
      continue;
    work.bytes += bytes_of(input.type(), input.dims());
    max_elements = std::max(max_elements, elements(input.dims()));
  }
  for (int i = 0; i < counted.outputs(); ++i) {
    if (counted.output_is_ref(i))
      continue;
    work.bytes += bytes_of(counted.output_type(i), counted.output_shape(i));
    max_elements = std::max(max_elements, elements(counted.output_shape(i)));
  }
  work.flops = counted.op().flops ? counted.op().flops(counted) : max_elements;
  return work;
}

double expected_nanoseconds(const node& counted, const node_times* measured) {
  if (measured)
    if (auto known = measured->find(counted.name()))
      return known->mean_ns;
  if (counted.op().calls != call_kind::never)
    return usual_call;
  return estimate(workload_of(counted), cpu_speed);
}

double expected_nanoseconds(const node& counted, device_kind on, const node_times* measured) {
  if (measured)
    if (auto known = measured->find(counted.name()))
      if (auto device = device_name::parse(known->device); device && device->kind == to_string(on))
        return known->mean_ns;
  auto work = workload_of(counted);
  work.flops *= guess_factor(counted);
  work.bytes *= guess_factor(counted);
  return estimate(work, on == device_kind::gpu ? gpu_speed : cpu_speed);
}

double expected_on_gpu(const workload& work) { return estimate(work, gpu_speed); }

double expected_on_bus(double bytes) { return bytes * nanoseconds_per_bus_byte; }

double expected_bus_copy(bool from_gpu, bool to_gpu, double bytes) {
  return (from_gpu ? download_latency + expected_on_bus(bytes) : 0) +
         (to_gpu ? upload_latency + expected_on_bus(bytes) : 0);
}

double expected_bytes(dtype type, const partial_shape& dims) {
  return bytes_of(type, dims) * guess_factor(dims);
}

double expected_upload(dtype type, const partial_shape& dims) {
  return expected_bus_copy(false, true, expected_bytes(type, dims));
}

double expected_download(dtype type, const partial_shape& dims) {
  return expected_bus_copy(true, false, expected_bytes(type, dims));
}

} // namespace troupe
