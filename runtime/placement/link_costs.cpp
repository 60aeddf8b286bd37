#include "troupe/runtime/placement/link_costs.hpp"

namespace troupe {

link_costs link_costs::from(const std::vector<link_time>& measured, link_cost usual) {
  link_costs costs{usual};
  for (const auto& link : measured) {
    auto from = device_name::parse(link.from), to = device_name::parse(link.to);
    if (from && to)
      costs.set(from->name_of_task(), to->name_of_task(),
                {link.small_count > 0 ? link.latency_ns : usual.latency_ns,
                 link.large_count > 0 ? link.ns_per_byte : usual.ns_per_byte});
  }
  return costs;
}

} // namespace troupe
