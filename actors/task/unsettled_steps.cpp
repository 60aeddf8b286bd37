#include "troupe/actors/task/unsettled_steps.hpp"

#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/runtime/simulation.hpp"

namespace troupe {

void unsettled_steps::add(step_id step, program_ptr program, connection_ptr owner) {
  one what{std::move(program), std::move(owner)};
  {
    std::lock_guard guard{mutex_};
    if (!closed_ && !what.owner->gone && steps_.try_emplace(step, std::move(what)).second)
      return;
  }
  tell(step, what, true); // whoever asked for the step is gone
}

bool unsettled_steps::settle(step_id step, bool failed) {
  auto found = [&] {
    std::lock_guard guard{mutex_};
    return steps_.extract(step);
  }();
  if (found.empty())
    return false;
  if (failed)
    TROUPE_REACHED("a step fails elsewhere when its part has ended well");
  tell(step, found.mapped(), failed);
  return true;
}

void unsettled_steps::lose(const peer_connection& owner) {
  std::vector<std::pair<step_id, one>> lost;
  {
    std::lock_guard guard{mutex_};
    for (auto it = steps_.begin(); it != steps_.end();)
      if (auto entry = it++; entry->second.owner.get() == &owner) {
        lost.emplace_back(entry->first, std::move(entry->second));
        steps_.erase(entry);
      }
  }
  for (const auto& [step, what] : lost) {
    TROUPE_REACHED("a step is never settled: who asked for it is gone");
    tell(step, what, true);
  }
}

void unsettled_steps::close() {
  std::unordered_map<step_id, one> last; // goes when the lock is free
  std::lock_guard guard{mutex_};
  closed_ = true;
  last.swap(steps_);
}

size_t unsettled_steps::size() const {
  std::lock_guard guard{mutex_};
  return steps_.size();
}

void unsettled_steps::tell(step_id step, const one& of, bool failed) {
  of.owner->end_step();
  using how = step_ended::how;
  for (auto* each : of.program->responders())
    deliver(*each, step_ended{step, failed ? how::failed : how::well}, nullptr);
}

} // namespace troupe
