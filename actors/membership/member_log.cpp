#include "troupe/actors/membership/member_log.hpp"

namespace troupe {
namespace {

void log_change(event_log& to, const cluster_member* before, const cluster_member* now,
                const list_epoch& epoch) {
  constexpr std::string_view unknown = "unknown";
  const auto& which = now ? *now : *before;
  auto well = now && (now->state == presence::here || now->state == presence::left);
  to.write(well ? log_level::info : log_level::warning, "member_changed",
           {{"member", to_string(which.task)},
            {"presence", std::string{now ? to_string(now->state) : unknown}},
            {"before", std::string{before ? to_string(before->state) : unknown}},
            {"incarnation", std::to_string(which.incarnation)},
            {"address", which.address},
            {"change", static_cast<int64_t>(epoch.change)}});
}

} // namespace

void log_members(event_log& to, const member_list& before, const member_list& now) {
  if (!to)
    return;
  auto first = before.epoch() == list_epoch{};
  if (before.epoch().term != now.epoch().term)
    to.write(log_level::info, "epoch_began",
             {{"coordinator", to_string(now.coordinator())},
              {"term", std::to_string(now.epoch().term)},
              {"members", static_cast<int64_t>(now.members().size())}});
  if (first)
    return;
  for (const auto& [task, one] : now.members())
    if (const auto* was = before.find(task);
        !was || was->state != one.state || was->incarnation != one.incarnation)
      log_change(to, was, &one, now.epoch());
  for (const auto& [task, was] : before.members()) // a coordinator may not have heard of it
    if (!now.find(task))
      log_change(to, &was, nullptr, now.epoch());
}

} // namespace troupe
