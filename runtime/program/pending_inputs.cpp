#include "troupe/runtime/program/pending_inputs.hpp"

#include "troupe/runtime/program/collective.hpp"

#include <set>

namespace troupe {
namespace {

std::set<uint32_t> brought_by_waits(const program& of) {
  std::set<uint32_t> slots;
  for (const auto& wait : of.waits())
    if (is_collective(wait.origin->op()))
      for (auto slot : wait.slots)
        if (slot != UINT32_MAX)
          slots.insert(slot);
  return slots;
}

// Regions need not be in the order in which they run.
void follow_tokens(const program& of, std::set<uint32_t>& slots) {
  for (size_t before = 0; before != slots.size();) {
    before = slots.size();
    for (const auto& code : of.code())
      if (code.what == action::token && code.input_count > 0 && slots.contains(code.inputs[0]))
        slots.insert(code.first_output);
  }
}

} // namespace

std::vector<std::vector<uint32_t>> find_pending_inputs(const program& of) {
  auto slots = brought_by_waits(of);
  if (slots.empty())
    return {};
  follow_tokens(of, slots);
  std::vector<std::vector<uint32_t>> made;
  for (const auto& region : of.regions()) {
    std::set<uint32_t> used;
    for (const auto& code : of.code().subspan(region.first, region.count))
      for (uint16_t i = 0; code.what != action::token && i < code.input_count; ++i)
        if (!(code.states && code.states[i]) && slots.contains(code.inputs[i]))
          used.insert(code.inputs[i]);
    made.emplace_back(used.begin(), used.end());
  }
  return made;
}

} // namespace troupe
