// Collective operations of several devices: each function adds one node on the device of each edge,
// and returns their outputs in the same order (docs/training/replicas.md).
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

#include <string>
#include <vector>

namespace troupe {

enum class reduce_by : uint8_t { sum, mean, product, min, max };

// Each edge must belong to a node that was put on a device (graph_builder::on), and each on a
// different device. All edges have one type: f16, bf16, f32, f64, i32 or i64. The devices are of
// one kind, and of one task or several (docs/decisions/060). A step that needs one of the results
// computes all of them, and fails if one of the tasks is gone. All devices get the same bits.
// Throws troupe::error.

/// Reduces tensors of equal shape, and returns the result on each device. On processors the same
/// inputs give the same bits, because they are added in the order of their devices: within each
/// task first, then in the order of the tasks. The gradient of a sum or a mean is the sum or the
/// mean of the gradients of all results.
TROUPE_API std::vector<edge>
all_reduce(const std::vector<edge>& xs, reduce_by by = reduce_by::sum,
           std::source_location where = std::source_location::current());

/// Reduces edges on any devices; the results are on these devices.
TROUPE_API std::vector<edge>
all_reduce(const std::vector<edge>& xs, const std::vector<std::string>& devices,
           reduce_by by = reduce_by::sum,
           std::source_location where = std::source_location::current());

/// Concatenates the tensors along their first axis, in the order of their devices' names, and
/// returns the result on each device.
TROUPE_API std::vector<edge>
all_gather(const std::vector<edge>& xs,
           std::source_location where = std::source_location::current());

/// Reduces like all_reduce(), but each device gets only its part of the first axis, which is cut
/// into as many equal parts as there are devices, in the order of their names.
TROUPE_API std::vector<edge>
reduce_scatter(const std::vector<edge>& xs, reduce_by by = reduce_by::sum,
               std::source_location where = std::source_location::current());

/// Copies the tensor to each of the devices. The first of them sends it. Booleans are allowed. Has
/// no gradient.
TROUPE_API std::vector<edge>
broadcast(edge x, const std::vector<std::string>& devices,
          std::source_location where = std::source_location::current());

} // namespace troupe
