// Where tensors from other tasks meet the steps that they are for (white paper 3.2.2). Knows no
// threads, no clocks and no actors: every call says at once what is to be done.
#pragma once
#include "troupe/runtime/cluster/demand.hpp"
#include "troupe/runtime/cluster/recent_steps.hpp"
#include "troupe/runtime/types/status.hpp"
#include "troupe/runtime/types/step_id.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace troupe {

/// A tensor of an edge between tasks, or the news that there will be none.
struct arrival {
  step_id step;
  uint32_t key = 0; ///< the edge's number in the step
  bool dead = false;
  tensor value = {};
  uint64_t frame = 0, iteration = 0; ///< of a loop; 0: outside of all loops
};

/// How much may wait for steps that have not come yet: of one session, and of all.
struct rendezvous_limits {
  size_t session_steps = 2048, session_bytes = size_t{1} << 29;
  size_t steps = 8192, bytes = size_t{1} << 30;
  size_t refused = 65'536;           ///< steps that must not run when they come
  size_t sessions = 4096;            ///< whose latest steps are remembered
  std::chrono::seconds patience{60}; ///< with steps that do not come
};

/// What an arrival is worth.
enum class arrival_fate : uint8_t {
  deliver, ///< to the step that runs
  keep,    ///< until its step comes, or is refused for it
  drop,    ///< its step is over
  twice    ///< the step has it already: it fails
};

/// The steps of a task. Each is announced, attached once it has begun, and ended. `Step` is
/// whatever a running step is; it can be copied, and a default one is none. Not thread-safe.
template <class Step>
class rendezvous {
public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit rendezvous(rendezvous_limits limits = {}) : limits_(limits) {}

  /// A step is about to begin. Says why it must not: it was cancelled before it came, a tensor that
  /// came before it found no room, its id is in use, or all is closed.
  status announce(step_id step, time_point now) {
    if (!closed_)
      return closed_;
    if (running_.contains(step))
      return invalid("step ", step, " runs already");
    if (ended(step))
      return invalid("step ", step, " has run already");
    auto before = take_early(step);
    if (!before.refused) {
      note_end(step, now);
      return before.refused;
    }
    if (before.arrivals.empty())
      TROUPE_TRY(refusal_forgotten(step, now));
    auto& known = running_[step];
    for (const auto& one : before.arrivals)
      if (!is_new(known, one)) {
        running_.erase(step);
        note_end(step, now);
        return invalid("a tensor came twice for the key ", one.key);
      }
    known.waiting = std::move(before.arrivals);
    return {};
  }

  /// The step has begun; gives what came for it meanwhile, or why it must end at once. A step that
  /// has ended already stays ended.
  result<std::vector<arrival>> attach(step_id step, Step what, time_point deadline) {
    auto it = running_.find(step);
    if (it == running_.end())
      return std::vector<arrival>{};
    if (!closed_)
      return closed_;
    if (!it->second.refused)
      return it->second.refused;
    it->second.step = std::move(what);
    it->second.attached = true;
    it->second.deadline = deadline;
    return std::exchange(it->second.waiting, {});
  }

  /// Forgets a step. What still comes for it is dropped.
  Step end(step_id step, time_point now) {
    Step last{};
    if (auto it = running_.find(step); it != running_.end()) {
      last = std::move(it->second.step);
      running_.erase(it);
    }
    note_end(step, now);
    return last;
  }

  struct outcome {
    arrival_fate fate;
    Step step; ///< where it is to be delivered, or fails
  };

  /// A tensor has come. It is moved from where it is kept.
  outcome arrive(arrival& what, time_point now) {
    if (auto it = running_.find(what.step); it != running_.end()) {
      auto& known = it->second;
      auto first = is_new(known, what);
      if (known.attached)
        return {first ? arrival_fate::deliver : arrival_fate::twice, known.step};
      if (first)
        known.waiting.push_back(std::move(what));
      else if (known.refused)
        known.refused = invalid("a tensor came twice for the key ", what.key);
      return {arrival_fate::keep, {}};
    }
    if (ended(what.step))
      return {arrival_fate::drop, {}};
    keep_early(what.step, &what, now);
    return {arrival_fate::keep, {}};
  }

  /// A tensor of a step is announced. One of a step that has not come has a place among those that
  /// wait for theirs, or where there is none, is refused.
  demand expect(step_id step, time_point now) {
    auto known = demand_for(step);
    if (known == demand::later && !early_.contains(step)) {
      keep_early(step, nullptr, now);
      return demand_for(step);
    }
    return known;
  }

  /// Whether a step's tensors are wanted.
  demand demand_for(step_id step) const {
    if (!closed_)
      return demand::never;
    if (auto it = running_.find(step); it != running_.end())
      return it->second.failing || !it->second.refused ? demand::never : demand::now;
    if (ended(step))
      return demand::never;
    auto it = early_.find(step);
    return it == early_.end() || it->second.refused ? demand::later : demand::never;
  }

  /// The step shall not run on. Returns it where it runs; one that has not begun yet is told.
  std::optional<Step> cancel(step_id step, const status& why, time_point now) {
    if (auto it = running_.find(step); it != running_.end()) {
      it->second.failing = true;
      if (it->second.attached)
        return it->second.step;
      if (it->second.refused)
        it->second.refused = why;
    } else if (!ended(step)) {
      age(now);
      refuse(step, why, now);
    }
    return std::nullopt;
  }

  /// Refuses all steps from now on.
  void close(const status& why) {
    if (closed_)
      closed_ = why;
  }

  /// Calls `act(step_id, Step, deadline)` for all that run.
  template <class Act>
  void for_each(Act act) const {
    for (const auto& [id, one] : running_)
      if (one.attached)
        act(id, one.step, one.deadline);
  }

  /// Forgets what has waited too long for its step, and sessions of which nothing was heard.
  void age(time_point now) {
    if (now - aged_ < std::chrono::seconds{1})
      return;
    aged_ = now;
    for (auto it = early_.begin(); it != early_.end();)
      if (auto old = it++; now - old->second.since >= limits_.patience) {
        auto step = old->first;
        take_early(step);
        note_end(step, now); // it must not run without, or in spite of, what is forgotten
      }
    std::erase_if(sessions_, [&](const auto& entry) {
      return entry.second.steps == 0 && now - entry.second.used >= limits_.patience;
    });
  }

  bool runs(step_id step) const { return running_.contains(step); }
  /// Says whether it runs, or has ended.
  bool has_come(step_id step) const { return runs(step) || ended(step); }
  /// Says whether it runs, or something has come for it.
  bool awaits(step_id step) const {
    auto it = early_.find(step);
    return runs(step) || (it != early_.end() && it->second.refused);
  }
  size_t running() const noexcept { return running_.size(); }
  size_t early_steps() const noexcept { return early_.size(); } ///< those refused among them
  size_t early_bytes() const noexcept { return bytes_; }
  bool idle() const noexcept { return running_.empty() && early_.empty(); }

private:
  using place = uint32_t; // the key

  // Most steps get a handful of tensors. Of frames there is no end: who runs them counts.
  class places {
  public:
    bool insert(const place& what) { // says whether it is new
      if (!many_.empty())
        return many_.insert(what).second;
      if (std::ranges::find(few_, what) != few_.end())
        return false;
      few_.push_back(what);
      if (few_.size() > 32)
        many_.insert(few_.begin(), few_.end());
      return true;
    }

  private:
    std::vector<place> few_;
    std::set<place> many_;
  };

  struct run {
    Step step{};
    bool attached = false;
    bool failing = false; // it shall not run on
    time_point deadline = time_point::max();
    places came;
    std::vector<arrival> waiting;
    status refused;
  };
  struct early {
    std::vector<arrival> arrivals;
    time_point since;
    status refused;
  };
  struct session {
    recent_steps recent;
    size_t steps = 0, bytes = 0; // that wait for steps to come
    time_point used;
  };

  static bool is_new(run& of, const arrival& what) {
    return what.frame != 0 || of.came.insert(what.key);
  }

  bool ended(step_id step) const {
    auto it = sessions_.find(step.session);
    return it != sessions_.end() && it->second.recent.ended(step.sequence);
  }

  session& session_of(step_id step, time_point now) {
    if (sessions_.size() >= limits_.sessions && !sessions_.contains(step.session)) {
      auto oldest = sessions_.end(); // of those of which nothing waits
      for (auto it = sessions_.begin(); it != sessions_.end(); ++it)
        if (it->second.steps == 0 &&
            (oldest == sessions_.end() || it->second.used < oldest->second.used))
          oldest = it;
      if (oldest != sessions_.end())
        sessions_.erase(oldest);
    }
    auto& found = sessions_[step.session];
    found.used = now;
    return found;
  }

  void note_end(step_id step, time_point now) {
    session_of(step, now).recent.note_end(step.sequence);
  }

  early take_early(step_id step) {
    auto it = early_.find(step);
    if (it == early_.end())
      return {};
    auto taken = std::move(it->second);
    early_.erase(it);
    if (taken.refused) {
      auto& of = sessions_[step.session];
      --of.steps;
      --steps_;
      for (const auto& one : taken.arrivals) {
        of.bytes -= one.value.bytes();
        bytes_ -= one.value.bytes();
      }
    }
    return taken;
  }

  // Nothing where the step is only expected.
  void keep_early(step_id step, arrival* what, time_point now) {
    age(now);
    auto it = early_.find(step);
    if (it != early_.end() && !it->second.refused)
      return;
    auto size = what ? what->value.bytes() : 0;
    auto& of = session_of(step, now);
    auto fresh = it == early_.end();
    if (bytes_ + size > limits_.bytes || of.bytes + size > limits_.session_bytes ||
        (fresh && (steps_ >= limits_.steps || of.steps >= limits_.session_steps)))
      return refuse(step, no_room(of), now);
    of.steps += fresh;
    steps_ += fresh;
    of.bytes += size;
    bytes_ += size;
    auto& waiting = early_[step];
    waiting.since = now;
    if (what)
      waiting.arrivals.push_back(std::move(*what));
  }

  status no_room(const session& of) const {
    return failure(error_kind::resource_exhausted,
                   "a tensor that came before its step found no room: tensors of ", of.steps,
                   " other steps of the session (at most ", limits_.session_steps, "), ", of.bytes,
                   " bytes (at most ", limits_.session_bytes, "), and of ", steps_,
                   " steps of all sessions (at most ", limits_.steps, "), ", bytes_,
                   " bytes (at most ", limits_.bytes, ") wait for theirs");
  }

  // Instead of what has come for the step: it is told when it comes.
  void refuse(step_id step, status why, time_point now) {
    if (auto before = take_early(step); !before.refused)
      why = std::move(before.refused); // the first cause counts
    if (early_.size() >= limits_.refused) {
      forgot_ = now;
      return;
    }
    early_[step] = {{}, now, std::move(why)};
  }

  status refusal_forgotten(step_id step, time_point now) const {
    if (!forgot_ || now >= *forgot_ + limits_.patience)
      return {};
    return failure(error_kind::resource_exhausted, "more than ", limits_.refused,
                   " steps were cancelled or refused before they came: step ", step,
                   " may be one of them");
  }

  const rendezvous_limits limits_;
  std::unordered_map<step_id, run> running_;
  std::unordered_map<step_id, early> early_;
  std::unordered_map<uint64_t, session> sessions_;
  size_t steps_ = 0, bytes_ = 0; // in early_
  time_point aged_{};
  std::optional<time_point> forgot_; // when a refusal found no room
  status closed_;
};

} // namespace troupe
