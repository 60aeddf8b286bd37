#include "troupe/api/internal/recovery.hpp"
// Retries runs of a session, and restores lost state.

#include "troupe/actors/session/client.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/initialized_by_other_client.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <algorithm>
#include <unordered_set>

namespace troupe {
namespace {

constexpr std::chrono::milliseconds longest_wait{5000};

// Marks a thread that runs a restore callback: its runs in that session neither wait for the
// restore nor are retried. Scopes nest, because a callback may use another session that must be
// restored first.
struct restore_scope {
  explicit restore_scope(const recovery* restored) : owner(restored), enclosing(innermost) {
    innermost = this;
  }
  restore_scope(const restore_scope&) = delete;
  restore_scope& operator=(const restore_scope&) = delete;
  ~restore_scope() { innermost = enclosing; }
  const recovery* const owner;
  restore_scope* const enclosing;
  static inline thread_local restore_scope* innermost = nullptr;
};

std::string joined(const std::set<std::string>& tasks) {
  std::string text;
  for (const auto& task : tasks)
    text += text.empty() ? task : ", " + task;
  return text;
}

// Makes an event about a run, with the first cause of its failure.
recovery_event make_event(const status& first, recovery_event_kind kind, int retry,
                          const std::string& action) {
  const auto& origin = first.origin();
  auto task = origin.task;
  if (!task.empty() && origin.incarnation != 0)
    task += concat(" (incarnation ", origin.incarnation, ')');
  return {.kind = kind,
          .task = origin.task,
          .retry = retry,
          .text = concat(task, task.empty() ? "" : ": ", action, ": ", first),
          .incarnation = origin.incarnation};
}

void sleep_unless_stopped(std::chrono::milliseconds wait, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never_notified;
  std::unique_lock lock{mutex};
  never_notified.wait_for(lock, stop, wait, [] { return false; });
}

} // namespace

bool recovery::add_lost_task(const std::string& task) noexcept {
  if (!options_.restore_state)
    return false;
  std::lock_guard guard{mutex_};
  lost_tasks_.insert(task);
  lost_ = true;
  return true;
}

bool recovery::awaits_restore(const std::string& task) {
  std::lock_guard guard{mutex_};
  return lost_tasks_.contains(task) || under_restore_.contains(task);
}

bool recovery::is_restoring_thread() const noexcept {
  for (auto* scope = restore_scope::innermost; scope; scope = scope->enclosing)
    if (scope->owner == this)
      return true;
  return false;
}

void recovery::restore(session& in) const { options_.restore_state(in); }

void recovery::report_event(recovery_event event) const {
  if (options_.on_event)
    options_.on_event(event);
}

void recovery::add_uninitialized_task(const std::string& task) {
  std::lock_guard guard{mutex_};
  if (auto task_node = initialized_elsewhere_.extract(task))
    lost_tasks_.insert(std::move(task_node));
  lost_ = !lost_tasks_.empty();
}

// The first thread restores lost state; the others wait for the result.
status recovery::prepare(step_clock::time_point deadline, const std::stop_token& stop,
                         const std::function<void()>& restore) {
  std::unique_lock lock{mutex_};
  if (!changed_.wait_until(lock, stop, deadline, [&] { return under_restore_.empty(); })) {
    auto message = concat("the session is still restoring the state of ", joined(under_restore_));
    return stop.stop_requested() ? stopped_by_caller().with_suffix("; " + message)
                                 : status{error_kind::deadline_exceeded, std::move(message)};
  }
  if (lost_tasks_.empty())
    return {};
  under_restore_.swap(lost_tasks_);
  lost_ = false; // state may be lost again during the restore
  auto tasks = joined(under_restore_);
  lock.unlock();
  auto failed = [&](error_kind kind, const auto& cause) {
    return failure(kind, "restoring the state of ", tasks, ": ", cause);
  };
  status outcome;
  task_set elsewhere;
  try {
    report_event(
        {.kind = recovery_event_kind::restoring,
         .task = tasks,
         .text = concat(tasks, " was restarted: restoring the state of this session there")});
    restore_scope scope{this};
    restore();
  } catch (const initialized_by_other_client& cause) {
    outcome = failed(cause.kind(), cause.what());
    elsewhere = cause.tasks();
  } catch (const error& cause) {
    outcome = failed(cause.kind(), cause.what());
  } catch (const std::exception& cause) {
    outcome = failed(error_kind::internal, cause.what());
  } catch (...) { // waiting threads must be notified after any exception
    outcome =
        failed(error_kind::internal, "the callback threw something that is not a std::exception");
  }
  lock.lock();
  if (outcome)
    ++restored_;
  else // state that another session initializes must not be restored: that would undo its first
       // steps
    for (const auto& task : under_restore_)
      (elsewhere.contains(task) ? initialized_elsewhere_ : lost_tasks_).insert(task);
  under_restore_.clear();
  lost_ = !lost_tasks_.empty();
  lock.unlock();
  changed_.notify_all();
  if (outcome)
    report_event({.kind = recovery_event_kind::restored,
                  .task = tasks,
                  .text = concat("the state of this session on ", tasks, " is restored")});
  return outcome;
}

// A step that ran during a restore may have found values missing, so it is retried. A loss of state
// is permanent if there is no restore callback: its error may be the only report of the loss.
bool recovery::may_pass(const status& cause, uint64_t restored_before) const {
  if (cause.origin().state_lost && !options_.restore_state)
    return false;
  if (std::ranges::find(options_.kinds, cause.kind()) != options_.kinds.end())
    return true;
  return cause.kind() == error_kind::failed_precondition && (restored_ != restored_before || lost_);
}

status recovery::run(bool has_effects, step_clock::time_point deadline, const std::stop_token& stop,
                     const std::function<status()>& attempt, const std::function<void()>& restore,
                     const std::function<bool()>& is_initialized_elsewhere) {
  if (is_restoring_thread())
    return attempt();
  auto delay = std::max(options_.initial_delay, std::chrono::milliseconds{1});
  status first;
  auto stopped = [&] {
    return first.ok() ? stopped_by_caller()
                      : stopped_by_caller().with_suffix(concat("; it had failed before: ", first));
  };
  for (int retry = 1;; ++retry) {
    if (stop.stop_requested())
      return stopped();
    auto restored = restored_.load();
    auto began = false; // an attempt that has not begun has no effects
    auto outcome = options_.restore_state ? prepare(deadline, stop, restore) : status{};
    if (outcome) {
      began = true;
      struct retry_scope {
        explicit retry_scope(bool is_retried) { may_retry_ = is_retried; }
        ~retry_scope() { may_retry_ = false; }
      } scope{retry <= options_.max_retries && (!has_effects || options_.repeat_effects)};
      outcome = attempt();
    }
    // If the deadline ends a retry, the first error is returned, because it is the cause.
    auto timed_out = !first.ok() && outcome.kind() == error_kind::deadline_exceeded;
    if (outcome || is_initialized_elsewhere() || (!timed_out && !may_pass(outcome, restored)))
      return outcome;
    if (first.ok())
      first = outcome;
    auto repeatable = !has_effects || options_.repeat_effects || !began;
    auto too_late = timed_out || step_clock::now() + delay >= deadline;
    if (retry > options_.max_retries || !repeatable || too_late) {
      if (options_.max_retries > 0)
        report_event(make_event(first, recovery_event_kind::given_up, retry - 1,
                                concat("the run fails after ", retry - 1, " retries",
                                       repeatable ? "" : " (it has effects, and is not repeated)",
                                       too_late ? " (its deadline is near)" : "")));
      return first;
    }
    if (stop.stop_requested())
      return stopped();
    report_event(make_event(
        first, recovery_event_kind::retrying, retry,
        concat("retry ", retry, " of ", options_.max_retries, " in ", delay.count(), " ms")));
    sleep_unless_stopped(delay, stop);
    delay = std::min(delay * 2, longest_wait);
  }
}

bool has_effects(const step_signature& signature) {
  std::vector<const node*> pending;
  std::unordered_set<const node*> visited;
  auto visit = [&](const node* current) {
    if (current && visited.insert(current).second)
      pending.push_back(current);
  };
  for (const auto& feed_edge : signature.feeds)
    visited.insert(feed_edge.node);
  for (const auto& fetch : signature.fetches)
    visit(fetch.node);
  for (auto* target_node : signature.targets)
    visit(target_node);
  while (!pending.empty()) {
    const auto* current = pending.back();
    pending.pop_back();
    auto changes = has(current->op().effects, effect::blocking) ||
                   (has(current->op().effects, effect::stateful) &&
                    current->op().state_kind == resource::none);
    if (changes || std::ranges::any_of(accesses_of(*current), &state_access::updates))
      return true;
    for (const auto& input : current->inputs())
      visit(input.node);
    for (auto* predecessor : current->controls())
      visit(predecessor);
  }
  return false;
}

} // namespace troupe
