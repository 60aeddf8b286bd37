// What running a node costs: estimated from shapes, until it has been measured.
#pragma once
#include "troupe/runtime/graph.hpp"
#include "troupe/runtime/node_times.hpp"

namespace troupe {

/// Arithmetic and memory traffic of one run, as far as the shapes are known: unknown extents count
/// as 1, so that nobody acts on a guess that is too high.
struct workload {
  double flops = 0;
  double bytes = 0; ///< read and written
};

workload workload_of(const node& of);

/// Nanoseconds that a run of the node takes: its measured mean where `measured` has one, else an
/// estimate for one thread of a CPU.
double expected_nanoseconds(const node& of, const node_times* measured = nullptr);

} // namespace troupe
