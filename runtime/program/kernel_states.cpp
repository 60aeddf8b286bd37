#include "troupe/runtime/program/kernel_states.hpp"

#include "troupe/runtime/graph/kernel.hpp"

namespace troupe {

result<std::shared_ptr<void>> kernel_states::find_or_make(const node& owner,
                                                          const kernel_state_maker& make,
                                                          const kernel_state_format* position) {
  std::lock_guard guard{mutex_};
  auto known = by_name_.find(owner.name());
  if (known != by_name_.end() && known->second.op == &owner.op() &&
      known->second.attrs == owner.attrs())
    return known->second.state;
  TROUPE_ASSIGN(auto state, make());
  if (auto saved = awaited_.find(owner.name()); saved != awaited_.end()) {
    if (position)
      TROUPE_TRY(position->set(state.get(), saved->second));
    awaited_.erase(saved);
  }
  by_name_[owner.name()] = {&owner.op(), owner.attrs(), state, position};
  return state;
}

void kernel_states::add_positions(kernel_positions& to) const {
  std::lock_guard guard{mutex_};
  for (const auto& [name, entry] : by_name_)
    if (entry.position)
      to[name] = entry.position->text(entry.state.get());
  to.insert(awaited_.begin(), awaited_.end());
}

status kernel_states::restore_positions(const kernel_positions& positions) {
  set_initial_positions(positions);
  std::lock_guard guard{mutex_};
  for (const auto& [name, text] : positions)
    if (auto known = by_name_.find(name); known != by_name_.end() && known->second.position)
      TROUPE_TRY(known->second.position->set(known->second.state.get(), text).with_context(name));
  return {};
}

void kernel_states::set_initial_positions(const kernel_positions& positions) {
  std::lock_guard guard{mutex_};
  for (const auto& [name, text] : positions)
    if (!by_name_.contains(name))
      awaited_[name] = text;
}

} // namespace troupe
