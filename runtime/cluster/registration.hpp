// Registers the parts of a step with their tasks, and again after a loss. A pure state machine
// without actors, clocks or threads: every call returns the next action.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe {

/// The parts of one step. A part is registered with one incarnation of its task, and knows the
/// tasks with which it exchanges tensors: if one of these is lost, the part is registered again as
/// well.
class registration {
public:
  /// `partners` lists for each part the others with which it exchanges tensors.
  explicit registration(std::vector<std::vector<size_t>> partners)
      : partners_(std::move(partners)), parts_(partners_.size()) {}

  size_t parts() const noexcept { return parts_.size(); }
  bool ready(size_t part) const { return parts_[part].now == state::ready; }
  bool complete() const noexcept { return ready_count_ == parts_.size(); }
  bool under_way() const noexcept { return asking_count_ > 0; }
  /// Distinguishes answers to different attempts.
  uint64_t attempt() const noexcept { return attempt_; }

  /// The registration of a part may be lost; affects its partners as well.
  void lose(size_t part) {
    forget(part);
    for (auto other : partners_[part])
      forget(other);
  }

  /// Begins an attempt unless one is running; returns the parts to register.
  std::vector<size_t> begin() {
    std::vector<size_t> wanted;
    if (under_way() || complete())
      return wanted;
    ++attempt_;
    error_ = {};
    for (size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i].now == state::absent) {
        parts_[i].now = state::asking;
        parts_[i].stale = false;
        wanted.push_back(i);
      }
    asking_count_ = wanted.size();
    return wanted;
  }

  enum class next : uint8_t {
    wait,
    complete, ///< all parts are registered
    again,    ///< some parts were lost meanwhile: begin() another attempt
    failed,   ///< report error() to the caller
    release   ///< the answer came too late: the task may drop the registration
  };

  /// A task has registered its part.
  next registered(size_t part, uint64_t attempt) {
    auto& asked = parts_[part];
    if (attempt != attempt_ || asked.now != state::asking)
      return next::release;
    // If the part or a partner was lost after the request, the part is registered again.
    asked.now = asked.stale ? state::absent : state::ready;
    ready_count_ += !asked.stale;
    --asking_count_;
    if (asking_count_ > 0)
      return next::wait;
    return complete() ? next::complete : next::again;
  }

  /// A task could not register its part, or is gone.
  next refused(size_t part, uint64_t attempt, status reason) {
    auto& asked = parts_[part];
    if (attempt != attempt_ || asked.now != state::asking)
      return next::wait;
    error_ = std::move(reason);
    give_up();
    return next::failed;
  }

  /// Ends the attempt: answers that arrive later are ignored.
  void give_up() {
    for (auto& asked : parts_)
      if (asked.now == state::asking)
        asked.now = state::absent;
    asking_count_ = 0;
    ++attempt_;
  }

  bool asking(size_t part) const { return parts_[part].now == state::asking; }
  const status& error() const noexcept { return error_; }

private:
  enum class state : uint8_t { absent, asking, ready }; // asking: the task has not answered yet
  struct part {
    state now = state::absent;
    bool stale = false; // the part or a partner was lost after the request
  };

  void forget(size_t lost_part) {
    parts_[lost_part].stale = parts_[lost_part].now == state::asking;
    if (parts_[lost_part].now == state::ready) {
      parts_[lost_part].now = state::absent;
      --ready_count_;
    }
  }

  std::vector<std::vector<size_t>> partners_;
  std::vector<part> parts_;
  size_t ready_count_ = 0, asking_count_ = 0;
  uint64_t attempt_ = 0;
  status error_;
};

} // namespace troupe
