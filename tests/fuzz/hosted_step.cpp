// Steps hosted for clients: accepted steps can be planned, with any graph. The checksum is
// corrected first, because it would stop all other input.
#include "troupe/actors/session/hosted_step.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "troupe/runtime/cluster/plan.hpp"
#include "troupe/serialization/wire/frame.hpp"

#include <cstring>
#include <vector>

namespace troupe::fuzz::hosted_step {

FUZZ_TARGET(hosted_step) {
  auto graph_bytes = tensor::make(dtype::u8, shape{static_cast<int64_t>(size)});
  fuzz::require(graph_bytes.ok());
  auto* bytes = static_cast<std::byte*>(graph_bytes->raw());
  if (size > 0)
    std::memcpy(bytes, data, size);
  if (size >= 32) {
    auto checksum = checksum_of(std::span<const std::byte>{bytes + 32, size - 32});
    std::memcpy(bytes + 16, &checksum, 8);
  }
  auto step = from_wire({.graph = *graph_bytes, .feeds = size > 40 ? data[40] % 4u : 0u}, all_ops(),
                        step_clock::now() + std::chrono::seconds{1});
  if (!step)
    return 0;
  fuzz::require(step->interface.feeds.size() < 4);
  plan_options planning{.devices = {{"worker", 0, "cpu", 0}, {"ps", 0, "cpu", 0}}};
  auto plan = make_plan(*step->graph_copy, planning, nullptr);
  if (plan)
    for (const auto& task : plan->tasks)
      for (auto index : task.feeds)
        fuzz::require(index < step->interface.feeds.size());
  return 0;
}

} // namespace troupe::fuzz::hosted_step
