#include "troupe/runtime/program/pending_inputs.hpp"

#include "troupe/runtime/program/collective.hpp"

#include <set>

namespace troupe {
namespace {

std::set<uint32_t> slots_of_collectives(const program& compiled) {
  std::set<uint32_t> slots;
  for (const auto& wait : compiled.waits())
    if (is_collective(wait.origin->op()))
      for (auto slot : wait.slots)
        if (slot != UINT32_MAX)
          slots.insert(slot);
  return slots;
}

// Iterates until no slot is added, because regions are not in the order in which they run.
void follow_tokens(const program& compiled, std::set<uint32_t>& slots) {
  for (size_t before = 0; before != slots.size();) {
    before = slots.size();
    for (const auto& code : compiled.code())
      if (code.kind == action::token && code.input_count > 0 && slots.contains(code.inputs[0]))
        slots.insert(code.first_output);
  }
}

} // namespace

std::vector<std::vector<uint32_t>> find_pending_inputs(const program& compiled) {
  auto slots = slots_of_collectives(compiled);
  if (slots.empty())
    return {};
  follow_tokens(compiled, slots);
  std::vector<std::vector<uint32_t>> slots_by_region;
  for (const auto& region : compiled.regions()) {
    std::set<uint32_t> used;
    for (const auto& code : compiled.code().subspan(region.first, region.count))
      for (uint16_t i = 0; code.kind != action::token && i < code.input_count; ++i)
        if (!(code.states && code.states[i]) && slots.contains(code.inputs[i]))
          used.insert(code.inputs[i]);
    slots_by_region.emplace_back(used.begin(), used.end());
  }
  return slots_by_region;
}

} // namespace troupe
