#include "troupe/actors/hosting/hosted_accounts.hpp"

#include <algorithm>

namespace troupe {

status hosted_account::limit_error(uint64_t count, const char* kind,
                                   const std::string& task) const {
  return failure(error_kind::resource_exhausted, name, " has ", count, " ", kind, " on ", task,
                 ", which is the limit");
}

status hosted_account::check_bytes(uint64_t more, const std::string& task) const {
  if (bytes + more <= limits.bytes)
    return {};
  return failure(error_kind::resource_exhausted, name, " may have ", limits.bytes,
                 " bytes of graphs and feeds on ", task, ", has ", bytes, ", and sends ", more,
                 " more");
}

std::shared_ptr<hosted_account> hosted_accounts::of(const connection_ptr& owner,
                                                    const hosting_limits& limits,
                                                    uint64_t& next_number) {
  std::erase_if(accounts_, [](const auto& entry) { return entry.second.expired(); });
  const auto* listed = owner->account.get();
  auto& entry =
      accounts_[listed ? static_cast<const void*>(listed) : static_cast<const void*>(owner.get())];
  auto account = entry.lock();
  if (account)
    return account;
  account = std::make_shared<hosted_account>();
  account->name = listed ? concat("client '", listed->name, '\'') : owner->peer;
  account->number = next_number++;
  account->limits = limits;
  auto lower_to = [](size_t& limit, size_t most) {
    if (most > 0)
      limit = std::min(limit, most);
  };
  if (listed) {
    lower_to(account->limits.sessions_per_client, listed->rights.sessions);
    lower_to(account->limits.programs, listed->rights.programs);
    lower_to(account->limits.steps, listed->rights.steps);
  }
  entry = account;
  return account;
}

} // namespace troupe
