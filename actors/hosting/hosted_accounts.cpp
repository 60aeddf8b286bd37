#include "troupe/actors/hosting/hosted_accounts.hpp"

#include <algorithm>

namespace troupe {

status hosted_account::too_many(uint64_t has, const char* what, const char* may,
                                const std::string& task) const {
  return failure(error_kind::resource_exhausted, name, " has ", has, " ", what, " on ", task,
                 ", as many as it may ", may);
}

status hosted_account::may_hold(uint64_t more, const std::string& task) const {
  if (bytes + more <= limits.bytes)
    return {};
  return failure(error_kind::resource_exhausted, name, " may have ", limits.bytes,
                 " bytes of graphs and feeds on ", task, ", has ", bytes, ", and sends ", more,
                 " more");
}

std::shared_ptr<hosted_account> hosted_accounts::of(const connection_ptr& owner,
                                                    const hosting_limits& limits,
                                                    uint64_t& next_number) {
  std::erase_if(known_, [](const auto& one) { return one.second.expired(); });
  const auto* listed = owner->account.get();
  auto& place =
      known_[listed ? static_cast<const void*>(listed) : static_cast<const void*>(owner.get())];
  auto found = place.lock();
  if (found)
    return found;
  found = std::make_shared<hosted_account>();
  found->name = listed ? concat("client '", listed->name, '\'') : owner->peer;
  found->number = next_number++;
  found->limits = limits;
  auto at_most = [](size_t& limit, size_t most) {
    if (most > 0)
      limit = std::min(limit, most);
  };
  if (listed) {
    at_most(found->limits.sessions_each, listed->rights.sessions);
    at_most(found->limits.programs, listed->rights.programs);
    at_most(found->limits.steps, listed->rights.steps);
  }
  place = found;
  return found;
}

} // namespace troupe
