// Decides which tensors are sent for late: shortly before what reads them would run (white paper
// 5.2, OSDI 5).
#pragma once
#include "troupe/runtime/placement/place.hpp"

#include <map>
#include <tuple>

namespace troupe {

/// By node, output, and the device that it goes to: the node of that device behind which it is sent
/// for.
using late_sends = std::map<std::tuple<const node*, int, int>, node*>;

/// Of a step whose nodes are ordered by dependence and placed. Looks at what goes from one task to
/// another and is large (a smaller one does not wait for its receiver anyway), and takes the last
/// node of the receiving device that ends, by the estimated times, early enough for an order to go
/// to the sender and for the tensor to come back. Nothing where that is not later than the tensor
/// is there. No cycle comes of it: that node stands before all that the tensor goes to.
late_sends find_late_sends(const graph& of, const std::vector<int>& chosen,
                           const device_list& devices, const placing& how);

} // namespace troupe
