#include "troupe/runtime/program/kernel_states.hpp"

namespace troupe {

result<std::shared_ptr<void>> kernel_states::find_or_make(const node& of,
                                                          const kernel_state_maker& make) {
  auto it = by_name_.find(of.name());
  if (it != by_name_.end() && it->second.op == &of.op() && it->second.attrs == of.attrs())
    return it->second.state;
  TROUPE_ASSIGN(auto made, make());
  by_name_[of.name()] = {&of.op(), of.attrs(), made};
  return made;
}

} // namespace troupe
