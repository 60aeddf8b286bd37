#include "troupe/actors/task/unsettled_steps.hpp"

#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/runtime/simulation.hpp"

namespace troupe {

void unsettled_steps::add(step_id step, program_ptr program, connection_ptr owner) {
  unsettled_step entry{std::move(program), std::move(owner)};
  {
    std::lock_guard guard{mutex_};
    if (!closed_ && !entry.owner->is_closed && steps_.try_emplace(step, std::move(entry)).second)
      return;
  }
  settle_waitable_resources(step, entry, true); // the requester of the step is gone
}

bool unsettled_steps::settle(step_id step, bool failed) {
  auto node = [&] {
    std::lock_guard guard{mutex_};
    return steps_.extract(step);
  }();
  if (node.empty())
    return false;
  if (failed)
    TROUPE_REACHED("a step fails elsewhere when its part has ended well");
  settle_waitable_resources(step, node.mapped(), failed);
  return true;
}

void unsettled_steps::lose(const peer_connection& owner) {
  std::vector<std::pair<step_id, unsettled_step>> lost;
  {
    std::lock_guard guard{mutex_};
    for (auto next = steps_.begin(); next != steps_.end();)
      if (auto current = next++; current->second.owner.get() == &owner) {
        lost.emplace_back(current->first, std::move(current->second));
        steps_.erase(current);
      }
  }
  for (const auto& [step, failed_step] : lost) {
    TROUPE_REACHED("a step is never settled: its requester is gone");
    settle_waitable_resources(step, failed_step, true);
  }
}

void unsettled_steps::close() {
  std::unordered_map<step_id, unsettled_step> dropped; // released after the lock
  std::lock_guard guard{mutex_};
  closed_ = true;
  dropped.swap(steps_);
}

size_t unsettled_steps::size() const {
  std::lock_guard guard{mutex_};
  return steps_.size();
}

void unsettled_steps::settle_waitable_resources(step_id step, const unsettled_step& kept,
                                                bool failed) {
  kept.owner->end_step();
  using outcome_kind = step_ended::outcome_kind;
  for (auto* waitable_resource : kept.program->waitable_resources())
    deliver(*waitable_resource,
            step_ended{step, failed ? outcome_kind::failed : outcome_kind::succeeded}, nullptr);
}

} // namespace troupe
