#include "troupe/actors/membership/member_log.hpp"

namespace troupe {
namespace {

void log_change(event_log& log, const cluster_member* before, const cluster_member* now,
                const list_epoch& epoch) {
  constexpr std::string_view unknown = "unknown";
  const auto& member = now ? *now : *before;
  auto is_expected = now && (now->state == presence::here || now->state == presence::left);
  log.write(is_expected ? log_level::info : log_level::warning, "member_changed",
            {{"member", to_string(member.task)},
             {"presence", std::string{now ? to_string(now->state) : unknown}},
             {"before", std::string{before ? to_string(before->state) : unknown}},
             {"incarnation", std::to_string(member.incarnation)},
             {"address", member.address},
             {"change", static_cast<int64_t>(epoch.change)}});
}

} // namespace

void log_members(event_log& log, const member_list& before, const member_list& now) {
  if (!log)
    return;
  auto is_first_list = before.epoch() == list_epoch{};
  if (before.epoch().term != now.epoch().term)
    log.write(log_level::info, "epoch_began",
              {{"coordinator", to_string(now.coordinator())},
               {"term", std::to_string(now.epoch().term)},
               {"members", static_cast<int64_t>(now.members().size())}});
  if (is_first_list)
    return;
  for (const auto& [task, member] : now.members())
    if (const auto* was = before.find(task);
        !was || was->state != member.state || was->incarnation != member.incarnation)
      log_change(log, was, &member, now.epoch());
  for (const auto& [task, was] : before.members()) // a new coordinator may not know a member
    if (!now.find(task))
      log_change(log, &was, nullptr, now.epoch());
}

} // namespace troupe
