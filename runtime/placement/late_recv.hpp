// Decides which tensors are requested late: shortly before their readers would run (white paper
// 5.2, OSDI 5).
#pragma once
#include "troupe/runtime/placement/place.hpp"

#include <map>
#include <tuple>

namespace troupe {

/// Maps a node, its output and the receiving device to the node of that device after which the
/// tensor is requested.
using late_requests = std::map<std::tuple<const node*, int, int>, node*>;

/// For a placed step in topological order. Considers large tensors between tasks (smaller ones do
/// not wait for their receivers anyway). Selects the last node of the receiving device that ends,
/// by the estimated times, early enough for a request to reach the sender and for the tensor to
/// come back; nothing if that is not later than the tensor is ready. This makes no cycle: the
/// selected node precedes all readers of the tensor.
late_requests find_late_requests(const graph& placed, const std::vector<int>& chosen,
                                 const device_list& devices, const place_options& options);

} // namespace troupe
