// Matches tensors from other tasks with their steps (white paper 3.2.2). A pure state machine
// without threads, clocks or actors: every call returns the next action.
#pragma once
#include "troupe/runtime/cluster/fetch_decision.hpp"
#include "troupe/runtime/cluster/recent_steps.hpp"
#include "troupe/runtime/types/held_bytes.hpp"
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

/// A tensor of an edge between tasks, or the signal that none will come (dead).
struct arrival {
  step_id step;
  uint32_t key = 0; ///< the edge's number in the step
  bool dead = false;
  tensor value = {};
  uint64_t frame = 0, iteration = 0; ///< of a loop; 0: outside of loops
};

/// Limits of what waits for steps that have not begun yet: of one session, and of all sessions.
struct rendezvous_limits {
  size_t session_steps = 2048, session_bytes = size_t{1} << 29;
  size_t steps = 8192, bytes = size_t{1} << 30;
  size_t refused = 65'536;           ///< refused or cancelled steps that have not begun
  size_t sessions = 4096;            ///< sessions whose latest steps are remembered
  std::chrono::seconds patience{60}; ///< time to wait for a step to begin
};

/// The action for an arrival.
enum class arrival_fate : uint8_t {
  deliver,  ///< to the running step
  keep,     ///< it was kept until its step begins
  drop,     ///< its step has ended
  duplicate ///< the step has the tensor already: fail the step
};

/// The steps of a task. Each is announced, attached once it has begun, and ended. `Step` represents
/// a running step; it must be copyable, and its default-constructed value stands for no step. Not
/// thread-safe.
template <class Step>
class rendezvous {
public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit rendezvous(rendezvous_limits limits = {}) : limits_(limits) {}

  /// A step is about to begin. Fails if it was cancelled before, if there was no room for a tensor
  /// that arrived before it, if its id is in use, or if the rendezvous is closed.
  status announce(step_id step, time_point now) {
    if (!close_reason_.ok())
      return close_reason_;
    if (running_.contains(step))
      return invalid("step ", step, " runs already");
    if (ended(step))
      return invalid("step ", step, " has run already");
    auto early_step = take_early(step);
    if (!early_step.refusal.ok()) {
      note_end(step, now);
      return early_step.refusal;
    }
    if (early_step.arrivals.empty())
      TROUPE_TRY(check_dropped_refusals(step, now));
    auto& announced = running_[step];
    for (const auto& early_arrival : early_step.arrivals)
      if (!is_new(announced, early_arrival)) {
        running_.erase(step);
        note_end(step, now);
        return invalid("a tensor came twice for the key ", early_arrival.key);
      }
    announced.waiting = std::move(early_step.arrivals);
    return {};
  }

  /// The step has begun; returns the tensors that have arrived for it, or an error if it must end
  /// at once. A step that has ended already stays ended.
  result<std::vector<arrival>> attach(step_id step, Step started, time_point deadline) {
    auto entry = running_.find(step);
    if (entry == running_.end())
      return std::vector<arrival>{};
    if (!close_reason_.ok())
      return close_reason_;
    if (!entry->second.refusal.ok())
      return entry->second.refusal;
    entry->second.step = std::move(started);
    entry->second.attached = true;
    entry->second.deadline = deadline;
    return std::exchange(entry->second.waiting, {});
  }

  /// Forgets a step. Tensors that arrive for it later are dropped.
  Step end(step_id step, time_point now) {
    Step last{};
    if (auto entry = running_.find(step); entry != running_.end()) {
      last = std::move(entry->second.step);
      running_.erase(entry);
    }
    note_end(step, now);
    return last;
  }

  struct outcome {
    arrival_fate fate;
    Step step; ///< to which the tensor is delivered, or which fails
  };

  /// A tensor has arrived. Moves it out of `tensor_arrival` if it is kept.
  outcome arrive(arrival& tensor_arrival, time_point now) {
    if (auto entry = running_.find(tensor_arrival.step); entry != running_.end()) {
      auto& known = entry->second;
      auto first = is_new(known, tensor_arrival);
      if (known.attached)
        return {first ? arrival_fate::deliver : arrival_fate::duplicate, known.step};
      if (first)
        known.waiting.push_back(std::move(tensor_arrival));
      else if (known.refusal.ok())
        known.refusal = invalid("a tensor came twice for the key ", tensor_arrival.key);
      return {arrival_fate::keep, {}};
    }
    if (ended(tensor_arrival.step))
      return {arrival_fate::drop, {}};
    keep_early(tensor_arrival.step, &tensor_arrival, now);
    return {arrival_fate::keep, {}};
  }

  /// A tensor of a step is announced. A step that has not begun is kept among the early steps, or
  /// is refused if there is no room.
  fetch_decision expect(step_id step, time_point now) {
    auto known = decision_for(step);
    if (known == fetch_decision::later && !early_.contains(step)) {
      keep_early(step, nullptr, now);
      return decision_for(step);
    }
    return known;
  }

  /// Whether the tensors of a step are needed.
  fetch_decision decision_for(step_id step) const {
    if (!close_reason_.ok())
      return fetch_decision::never;
    if (auto entry = running_.find(step); entry != running_.end())
      return entry->second.is_cancelled || !entry->second.refusal.ok() ? fetch_decision::never
                                                                       : fetch_decision::now;
    if (ended(step))
      return fetch_decision::never;
    auto waiting_entry = early_.find(step);
    return waiting_entry == early_.end() || waiting_entry->second.refusal.ok()
               ? fetch_decision::later
               : fetch_decision::never;
  }

  /// Stops a step. Returns it if it runs; a step that has not begun will be refused.
  std::optional<Step> cancel(step_id step, const status& reason, time_point now) {
    if (auto entry = running_.find(step); entry != running_.end()) {
      entry->second.is_cancelled = true;
      if (entry->second.attached)
        return entry->second.step;
      if (entry->second.refusal.ok())
        entry->second.refusal = reason;
    } else if (!ended(step)) {
      age(now);
      refuse(step, reason, now);
    }
    return std::nullopt;
  }

  /// Refuses all steps from now on.
  void close(const status& reason) {
    if (close_reason_.ok())
      close_reason_ = reason;
  }

  /// Calls `act(step_id, Step, deadline)` for all running steps.
  template <class Act>
  void for_each(Act act) const {
    for (const auto& [id, known] : running_)
      if (known.attached)
        act(id, known.step, known.deadline);
  }

  /// Forgets tensors that have waited too long for their step, and sessions that were not used.
  void age(time_point now) {
    if (now - last_aged_ < std::chrono::seconds{1})
      return;
    last_aged_ = now;
    for (auto entry = early_.begin(); entry != early_.end();)
      if (auto old = entry++; now - old->second.since >= limits_.patience) {
        auto step = old->first;
        take_early(step);
        note_end(step, now); // it must not run without the tensors or the refusal
      }
    std::erase_if(sessions_, [&](const auto& entry) {
      return entry.second.steps == 0 && now - entry.second.used >= limits_.patience;
    });
  }

  bool is_running(step_id step) const { return running_.contains(step); }
  /// Whether the step runs, or has ended.
  bool has_begun(step_id step) const { return is_running(step) || ended(step); }
  /// Whether the step runs, or tensors have arrived for it.
  bool expects(step_id step) const {
    auto entry = early_.find(step);
    return is_running(step) || (entry != early_.end() && entry->second.refusal.ok());
  }
  size_t running() const noexcept { return running_.size(); }
  size_t early_steps() const noexcept { return early_.size(); } ///< including refused steps
  size_t early_bytes() const noexcept { return bytes_; }
  bool idle() const noexcept { return running_.empty() && early_.empty(); }

private:
  using edge_key = uint32_t;

  // The keys that have arrived. Most steps get a handful of tensors. Tensors of frames are not
  // recorded, because their number is unlimited; the steps that run the frames check them.
  class key_set {
  public:
    bool insert(edge_key key) { // returns whether the key is new
      if (!many_.empty())
        return many_.insert(key).second;
      if (std::ranges::find(few_, key) != few_.end())
        return false;
      few_.push_back(key);
      if (few_.size() > 32)
        many_.insert(few_.begin(), few_.end());
      return true;
    }

  private:
    std::vector<edge_key> few_;
    std::set<edge_key> many_;
  };

  struct run {
    Step step{};
    bool attached = false;
    bool is_cancelled = false;
    time_point deadline = time_point::max();
    key_set arrived;
    std::vector<arrival> waiting; // until the step is attached
    status refusal;               // the error with which the step must end; ok: none
  };
  struct early {
    std::vector<arrival> arrivals;
    time_point since; // the last arrival, or the refusal
    status refusal;   // the error of announce(); ok: none
  };
  struct session {
    recent_steps recent;
    size_t steps = 0, bytes = 0; // early steps, and the bytes of their tensors
    time_point used;
  };

  static bool is_new(run& step, const arrival& tensor_arrival) {
    return tensor_arrival.frame != 0 || step.arrived.insert(tensor_arrival.key);
  }

  bool ended(step_id step) const {
    auto entry = sessions_.find(step.session);
    return entry != sessions_.end() && entry->second.recent.ended(step.sequence);
  }

  session& session_of(step_id step, time_point now) {
    if (sessions_.size() >= limits_.sessions && !sessions_.contains(step.session)) {
      auto oldest = sessions_.end(); // among sessions without early steps
      for (auto entry = sessions_.begin(); entry != sessions_.end(); ++entry)
        if (entry->second.steps == 0 &&
            (oldest == sessions_.end() || entry->second.used < oldest->second.used))
          oldest = entry;
      if (oldest != sessions_.end())
        sessions_.erase(oldest);
    }
    auto& owner = sessions_[step.session];
    owner.used = now;
    return owner;
  }

  void note_end(step_id step, time_point now) {
    session_of(step, now).recent.note_end(step.sequence);
  }

  early take_early(step_id step) {
    auto entry = early_.find(step);
    if (entry == early_.end())
      return {};
    auto taken = std::move(entry->second);
    early_.erase(entry);
    if (taken.refusal.ok()) {
      auto& owner = sessions_[step.session];
      --owner.steps;
      --steps_;
      for (const auto& kept : taken.arrivals) {
        owner.bytes -= held_bytes(kept.value);
        bytes_ -= held_bytes(kept.value);
      }
    }
    return taken;
  }

  // Keeps a tensor of a step that has not begun. `tensor_arrival` is null if the tensor is only
  // announced.
  void keep_early(step_id step, arrival* tensor_arrival, time_point now) {
    age(now);
    auto entry = early_.find(step);
    if (entry != early_.end() && !entry->second.refusal.ok())
      return;
    auto size = tensor_arrival ? held_bytes(tensor_arrival->value) : 0;
    auto& owner = session_of(step, now);
    auto is_first = entry == early_.end();
    if (bytes_ + size > limits_.bytes || owner.bytes + size > limits_.session_bytes ||
        (is_first && (steps_ >= limits_.steps || owner.steps >= limits_.session_steps)))
      return refuse(step, no_room_error(owner), now);
    owner.steps += is_first;
    steps_ += is_first;
    owner.bytes += size;
    bytes_ += size;
    auto& waiting = early_[step];
    waiting.since = now;
    if (tensor_arrival)
      waiting.arrivals.push_back(std::move(*tensor_arrival));
  }

  status no_room_error(const session& owner) const {
    return failure(error_kind::resource_exhausted,
                   "there was no room for a tensor that arrived before its step; tensors are kept "
                   "for ",
                   owner.steps, " steps of the session (at most ", limits_.session_steps, "), ",
                   owner.bytes, " bytes (at most ", limits_.session_bytes, "), and for ", steps_,
                   " steps of all sessions (at most ", limits_.steps, "), ", bytes_,
                   " bytes (at most ", limits_.bytes, ")");
  }

  // Drops the tensors of a step, and refuses the step when it is announced.
  void refuse(step_id step, status reason, time_point now) {
    if (auto earlier = take_early(step); !earlier.refusal.ok())
      reason = std::move(earlier.refusal); // the first cause counts
    if (early_.size() >= limits_.refused) {
      refusal_dropped_at_ = now;
      return;
    }
    early_[step] = {{}, now, std::move(reason)};
  }

  // Fails if a refusal was dropped so recently that it may have been the refusal of this step.
  status check_dropped_refusals(step_id step, time_point now) const {
    if (!refusal_dropped_at_ || now >= *refusal_dropped_at_ + limits_.patience)
      return {};
    return failure(error_kind::resource_exhausted, "more than ", limits_.refused,
                   " steps were cancelled or refused before they began: step ", step,
                   " may be one of them");
  }

  const rendezvous_limits limits_;
  std::unordered_map<step_id, run> running_;
  std::unordered_map<step_id, early> early_;
  std::unordered_map<uint64_t, session> sessions_;
  size_t steps_ = 0, bytes_ = 0; // in early_
  time_point last_aged_{};
  std::optional<time_point> refusal_dropped_at_; // for lack of room, most recently
  status close_reason_;                          // ok: not closed
};

} // namespace troupe
