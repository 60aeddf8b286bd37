// What running a node costs: estimated from shapes, until it has been measured.
#pragma once
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/insight/node_times.hpp"

namespace troupe {

/// Arithmetic and memory traffic of one run, as far as the shapes are known: unknown extents count
/// as 1, so that nobody acts on a guess that is too high.
struct workload {
  double flops = 0;
  double bytes = 0; ///< read and written
};

workload workload_of(const node& of);

/// Bytes of a tensor; unknown extents count as 1.
double bytes_of(dtype type, const partial_shape& dims);

/// Nanoseconds that a run of the node takes: its measured mean where `measured` has one, else an
/// estimate for one thread of a CPU.
double expected_nanoseconds(const node& of, const node_times* measured = nullptr);

/// Nanoseconds that the node takes a device of that kind: its measured mean where it was measured
/// on such a one, else an estimate, in which unknown extents are many.
double expected_nanoseconds(const node& of, device_kind on, const node_times* measured);

/// Nanoseconds that work takes a GPU, with its launch.
double expected_on_gpu(const workload& of);

/// Nanoseconds for which a copy of so many bytes keeps a GPU's bus busy.
double expected_on_bus(double bytes);

/// Nanoseconds until so many bytes have come out of a GPU's memory, gone into another's, or both.
double expected_over_bus(bool out, bool in, double bytes);

/// Bytes of a tensor, where one has to act: unknown extents are many.
double expected_bytes(dtype type, const partial_shape& dims);

/// Nanoseconds until a tensor is on the other side of a GPU's bus; unknown extents are many.
double expected_upload(dtype type, const partial_shape& dims);
double expected_download(dtype type, const partial_shape& dims);

} // namespace troupe
