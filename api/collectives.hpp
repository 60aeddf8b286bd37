// What several devices compute together: each function adds one node on the device of each edge,
// and returns what they give, in the same order (docs/training.md).
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

#include <string>
#include <vector>

namespace troupe {

enum class reduce_by : uint8_t { sum, mean, product, min, max };

// The edges are of nodes that were put on a device (graph_builder::on), each on another one, and
// have one type: f16, bf16, f32, f64, i32 or i64. The devices are of one kind, and of one task or
// several (docs/decisions/060). A step that needs one of the results computes all of them, and
// fails where a task of them is gone. All devices get the same bits. Throws troupe::error.

/// The sum, or another reduction, of tensors of equal shape, on each device. Same inputs give the
/// same bits on processors, as they are added up in the order of their devices: within each task,
/// and then in the order of the tasks. The gradient of a
/// sum or a mean is the sum or the mean of the gradients of all results.
TROUPE_API std::vector<edge>
all_reduce(const std::vector<edge>& xs, reduce_by by = reduce_by::sum,
           std::source_location where = std::source_location::current());

/// The same of edges that need not be on these devices: results are.
TROUPE_API std::vector<edge>
all_reduce(const std::vector<edge>& xs, const std::vector<std::string>& devices,
           reduce_by by = reduce_by::sum,
           std::source_location where = std::source_location::current());

/// The tensors one behind the other along their first axis, in the order of their devices' names,
/// on each device.
TROUPE_API std::vector<edge>
all_gather(const std::vector<edge>& xs,
           std::source_location where = std::source_location::current());

/// As all_reduce(), but each device gets only its part of the first axis, which is cut into as many
/// equal parts as there are devices, in the order of their names.
TROUPE_API std::vector<edge>
reduce_scatter(const std::vector<edge>& xs, reduce_by by = reduce_by::sum,
               std::source_location where = std::source_location::current());

/// The tensor on each of the devices, of which the first sends it. May also be a boolean one. Has
/// no gradient.
TROUPE_API std::vector<edge>
broadcast(edge x, const std::vector<std::string>& devices,
          std::source_location where = std::source_location::current());

} // namespace troupe
