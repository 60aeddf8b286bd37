#include "troupe/runtime/placement/link_costs.hpp"

namespace troupe {

link_costs link_costs::from(const std::vector<link_time>& measured, link_cost usual) {
  link_costs made{usual};
  for (const auto& one : measured) {
    auto from = device_name::parse(one.from), to = device_name::parse(one.to);
    if (from && to)
      made.set(from->on_task(), to->on_task(),
               {one.small > 0 ? one.latency_ns : usual.latency_ns,
                one.large > 0 ? one.ns_per_byte : usual.ns_per_byte});
  }
  return made;
}

} // namespace troupe
