// The cost of running a node: measured, or estimated from shapes.
#pragma once
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/insight/node_times.hpp"

namespace troupe {

/// Arithmetic and memory traffic of one run, by the known shapes. Unknown extents count as 1, so
/// that decisions never rely on an overestimate.
struct workload {
  double flops = 0;
  double bytes = 0; ///< read and written
};

/// Returns the work of one run of the node, without the bodies of functions that it runs.
workload workload_of(const node& counted);

/// Returns the bytes of a tensor; unknown extents count as 1.
double bytes_of(dtype type, const partial_shape& dims);

/// Returns the nanoseconds for a run of the node: the measured mean if `measured` has one, else an
/// estimate for one thread of a CPU.
double expected_nanoseconds(const node& counted, const node_times* measured = nullptr);

/// Returns the nanoseconds for a run on a device of that kind: the measured mean if it was measured
/// on this kind, else an estimate in which unknown extents are those of a usual batch.
double expected_nanoseconds(const node& counted, device_kind on, const node_times* measured);

/// Returns the nanoseconds for the work on a GPU, including the launch.
double expected_on_gpu(const workload& work);

/// Returns the nanoseconds for which a copy of this number of bytes occupies a GPU's bus.
double expected_on_bus(double bytes);

/// Returns the nanoseconds to copy this number of bytes out of a GPU's memory, into a GPU's memory,
/// or from one GPU to another.
double expected_bus_copy(bool from_gpu, bool to_gpu, double bytes);

/// Returns the bytes of a tensor, with a usual batch for each unknown extent.
double expected_bytes(dtype type, const partial_shape& dims);

/// Return the nanoseconds to copy a tensor over a GPU's bus, with a usual batch for each unknown
/// extent.
double expected_upload(dtype type, const partial_shape& dims);
double expected_download(dtype type, const partial_shape& dims);

} // namespace troupe
