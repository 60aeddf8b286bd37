#include "troupe/api/internal/recovery.hpp"

#include "troupe/actors/session/client.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/filled_elsewhere.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <algorithm>
#include <unordered_set>

namespace troupe {
namespace {

constexpr std::chrono::milliseconds longest_wait{5000};

// What the thread restores: what it runs there meanwhile is not held up, nor tried again. To
// restore one session may use another, which may have to be restored first.
struct restoring {
  explicit restoring(const recovery* whose) : of(whose), around(innermost) { innermost = this; }
  restoring(const restoring&) = delete;
  restoring& operator=(const restoring&) = delete;
  ~restoring() { innermost = around; }
  const recovery* const of;
  restoring* const around;
  static inline thread_local restoring* innermost = nullptr;
};

std::string joined(const std::set<std::string>& tasks) {
  std::string text;
  for (const auto& one : tasks)
    text += text.empty() ? one : ", " + one;
  return text;
}

// What is done about a run, and the first cause of that.
recovery_event about(const status& first, recovery_event::kind what, int retry,
                     const std::string& done) {
  const auto& of = first.origin();
  auto who = of.task;
  if (!who.empty() && of.incarnation != 0)
    who += concat(" (incarnation ", of.incarnation, ')');
  return {.what = what,
          .task = of.task,
          .retry = retry,
          .text = concat(who, who.empty() ? "" : ": ", done, ": ", first),
          .incarnation = of.incarnation};
}

void sleep_unless_stopped(std::chrono::milliseconds wait, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any nothing;
  std::unique_lock lock{mutex};
  nothing.wait_for(lock, stop, wait, [] { return false; });
}

} // namespace

bool recovery::lose(const std::string& task) noexcept {
  if (!how_.restore)
    return false;
  std::lock_guard guard{mutex_};
  lost_tasks_.insert(task);
  lost_ = true;
  return true;
}

bool recovery::awaits(const std::string& task) {
  std::lock_guard guard{mutex_};
  return lost_tasks_.contains(task) || under_restore_.contains(task);
}

bool recovery::restores_here() const noexcept {
  for (auto* one = restoring::innermost; one; one = one->around)
    if (one->of == this)
      return true;
  return false;
}

void recovery::restore(session& in) const { how_.restore(in); }

void recovery::tell(recovery_event what) const {
  if (how_.on_event)
    how_.on_event(what);
}

// The other has given up.
void recovery::unfilled(const std::string& task) {
  std::lock_guard guard{mutex_};
  if (auto found = followed_.extract(task))
    lost_tasks_.insert(std::move(found));
  lost_ = !lost_tasks_.empty();
}

// Whoever comes first restores, the others wait for that.
status recovery::prepare(step_clock::time_point deadline, const std::stop_token& stop,
                         const std::function<void()>& restore) {
  std::unique_lock lock{mutex_};
  if (!changed_.wait_until(lock, stop, deadline, [&] { return under_restore_.empty(); })) {
    auto why = concat("the session still restores what ", joined(under_restore_), " had");
    return stop.stop_requested() ? stopped_by_caller().followed_by("; " + why)
                                 : status{error_kind::deadline_exceeded, std::move(why)};
  }
  if (lost_tasks_.empty())
    return {};
  under_restore_.swap(lost_tasks_);
  lost_ = false; // it may be lost again meanwhile
  auto tasks = joined(under_restore_);
  lock.unlock();
  auto failed = [&](error_kind kind, const auto& why) {
    return failure(kind, "restoring what ", tasks, " had: ", why);
  };
  status outcome;
  task_set elsewhere;
  try {
    tell({.what = recovery_event::kind::restoring,
          .task = tasks,
          .text = concat(tasks, " was restarted: restoring what this session had there")});
    restoring here{this};
    restore();
  } catch (const filled_elsewhere& why) {
    outcome = failed(why.kind(), why.what());
    elsewhere = why.tasks();
  } catch (const error& why) {
    outcome = failed(why.kind(), why.what());
  } catch (const std::exception& why) {
    outcome = failed(error_kind::internal, why.what());
  } catch (...) { // whatever it is, others wait for the end
    outcome = failed(error_kind::internal, "what was thrown is no std::exception");
  }
  lock.lock();
  if (outcome)
    ++restored_;
  else // what another session fills is not ours to restore: that would undo its first steps
    for (const auto& task : under_restore_)
      (elsewhere.contains(task) ? followed_ : lost_tasks_).insert(task);
  under_restore_.clear();
  lost_ = !lost_tasks_.empty();
  lock.unlock();
  changed_.notify_all();
  if (outcome)
    tell({.what = recovery_event::kind::restored,
          .task = tasks,
          .text = concat("what this session had on ", tasks, " is restored")});
  return outcome;
}

// A step that ran while values were restored may have found some missing. That state is gone does
// not pass where nothing restores it: the error that says so may be the only one.
bool recovery::may_pass(const status& why, uint64_t restored_before) const {
  if (why.origin().state_lost && !how_.restore)
    return false;
  if (std::ranges::find(how_.kinds, why.kind()) != how_.kinds.end())
    return true;
  return why.kind() == error_kind::failed_precondition && (restored_ != restored_before || lost_);
}

status recovery::run(bool has_effects, step_clock::time_point deadline, const std::stop_token& stop,
                     const std::function<status()>& attempt, const std::function<void()>& restore,
                     const std::function<bool()>& follows) {
  if (restores_here())
    return attempt();
  auto wait = std::max(how_.wait, std::chrono::milliseconds{1});
  status first;
  auto stopped = [&] {
    return first.ok() ? stopped_by_caller()
                      : stopped_by_caller().followed_by(concat("; it had failed before: ", first));
  };
  for (int retry = 1;; ++retry) {
    if (stop.stop_requested())
      return stopped();
    auto restored = restored_.load();
    auto began = false; // what has not begun has no effects
    auto outcome = how_.restore ? prepare(deadline, stop, restore) : status{};
    if (outcome) {
      began = true;
      struct attempting {
        explicit attempting(bool again) { tries_again_ = again; }
        ~attempting() { tries_again_ = false; }
      } here{retry <= how_.retries && (!has_effects || how_.repeat_effects)};
      outcome = attempt();
    }
    // Where the time ends a retry, the first error says why there was one.
    auto ended = !first.ok() && outcome.kind() == error_kind::deadline_exceeded;
    if (outcome || follows() || (!ended && !may_pass(outcome, restored)))
      return outcome;
    if (first.ok())
      first = outcome;
    auto repeatable = !has_effects || how_.repeat_effects || !began;
    auto too_late = ended || step_clock::now() + wait >= deadline;
    if (retry > how_.retries || !repeatable || too_late) {
      if (how_.retries > 0)
        tell(about(first, recovery_event::kind::given_up, retry - 1,
                   concat("the run fails after ", retry - 1, " retries",
                          repeatable ? "" : " (it has effects, and is not repeated)",
                          too_late ? " (its deadline is near)" : "")));
      return first;
    }
    if (stop.stop_requested())
      return stopped();
    tell(about(first, recovery_event::kind::retrying, retry,
               concat("retry ", retry, " of ", how_.retries, " in ", wait.count(), " ms")));
    sleep_unless_stopped(wait, stop);
    wait = std::min(wait * 2, longest_wait);
  }
}

bool has_effects(const step_signature& signature) {
  std::vector<const node*> open;
  std::unordered_set<const node*> seen;
  auto visit = [&](const node* one) {
    if (one && seen.insert(one).second)
      open.push_back(one);
  };
  for (const auto& one : signature.feeds)
    seen.insert(one.node);
  for (const auto& one : signature.fetches)
    visit(one.node);
  for (auto* one : signature.targets)
    visit(one);
  while (!open.empty()) {
    const auto* at = open.back();
    open.pop_back();
    auto changes = has(at->op().effects, effect::blocking) ||
                   (has(at->op().effects, effect::stateful) && at->op().makes == resource::none);
    if (changes || std::ranges::any_of(accesses_of(*at), &state_access::updates))
      return true;
    for (const auto& one : at->inputs())
      visit(one.node);
    for (auto* one : at->controls())
      visit(one);
  }
  return false;
}

} // namespace troupe
