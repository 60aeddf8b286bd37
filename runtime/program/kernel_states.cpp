#include "troupe/runtime/program/kernel_states.hpp"

#include "troupe/runtime/graph/kernel.hpp"

namespace troupe {

result<std::shared_ptr<void>> kernel_states::find_or_make(const node& of,
                                                          const kernel_state_maker& make,
                                                          const kernel_position* position) {
  std::lock_guard guard{mutex_};
  auto it = by_name_.find(of.name());
  if (it != by_name_.end() && it->second.op == &of.op() && it->second.attrs == of.attrs())
    return it->second.state;
  TROUPE_ASSIGN(auto made, make());
  if (auto from = awaited_.find(of.name()); from != awaited_.end()) {
    if (position)
      TROUPE_TRY(position->set(made.get(), from->second));
    awaited_.erase(from);
  }
  by_name_[of.name()] = {&of.op(), of.attrs(), made, position};
  return made;
}

void kernel_states::add_positions(kernel_positions& to) const {
  std::lock_guard guard{mutex_};
  for (const auto& [name, one] : by_name_)
    if (one.position)
      to[name] = one.position->text(one.state.get());
  to.insert(awaited_.begin(), awaited_.end());
}

status kernel_states::go_on(const kernel_positions& from) {
  await(from);
  std::lock_guard guard{mutex_};
  for (const auto& [name, text] : from)
    if (auto it = by_name_.find(name); it != by_name_.end() && it->second.position)
      TROUPE_TRY(it->second.position->set(it->second.state.get(), text).within(name));
  return {};
}

void kernel_states::await(const kernel_positions& from) {
  std::lock_guard guard{mutex_};
  for (const auto& [name, text] : from)
    if (!by_name_.contains(name))
      awaited_[name] = text;
}

} // namespace troupe
