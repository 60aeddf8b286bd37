// Registers the parts of a step with their tasks, and again with those that were lost. Knows no
// actors, no clocks and no threads: every call says what is to be done.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe {

/// The parts of one step. A part is registered with one incarnation of its task, together with what
/// it knows of the tasks that it exchanges tensors with: where one of these is lost, it is
/// registered again as well.
class registration {
public:
  /// `partners` says for each part which others it exchanges tensors with.
  explicit registration(std::vector<std::vector<size_t>> partners)
      : partners_(std::move(partners)), parts_(partners_.size()) {}

  size_t parts() const noexcept { return parts_.size(); }
  bool ready(size_t part) const { return parts_[part].now == state::ready; }
  bool complete() const noexcept { return ready_ == parts_.size(); }
  bool under_way() const noexcept { return asking_ > 0; }
  /// Tells answers to different questions apart.
  uint64_t attempt() const noexcept { return attempt_; }

  /// A part may not be registered any more, nor those that exchange tensors with it.
  void lose(size_t part) {
    forget(part);
    for (auto other : partners_[part])
      forget(other);
  }

  /// Begins an attempt, where none is under way: returns the parts that are to be registered.
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
    asking_ = wanted.size();
    return wanted;
  }

  enum class next : uint8_t {
    wait,
    complete, ///< all parts are registered
    again,    ///< some were lost meanwhile: begin() another attempt
    failed,   ///< tell whoever waits: error()
    release   ///< the answer is too late: the task may forget what it has registered
  };

  /// A task has registered its part.
  next registered(size_t part, uint64_t attempt) {
    auto& one = parts_[part];
    if (attempt != attempt_ || one.now != state::asking)
      return next::release;
    // What it was asked for may have been lost since: then it is asked again.
    one.now = one.stale ? state::absent : state::ready;
    ready_ += !one.stale;
    --asking_;
    if (asking_ > 0)
      return next::wait;
    return complete() ? next::complete : next::again;
  }

  /// A task could not, or is gone.
  next refused(size_t part, uint64_t attempt, status why) {
    auto& one = parts_[part];
    if (attempt != attempt_ || one.now != state::asking)
      return next::wait;
    error_ = std::move(why);
    give_up();
    return next::failed;
  }

  /// The attempt is over: answers that are still to come are too late.
  void give_up() {
    for (auto& one : parts_)
      if (one.now == state::asking)
        one.now = state::absent;
    asking_ = 0;
    ++attempt_;
  }

  bool asking(size_t part) const { return parts_[part].now == state::asking; }
  const status& error() const noexcept { return error_; }

private:
  enum class state : uint8_t { absent, asking, ready };
  struct part {
    state now = state::absent;
    bool stale = false; // it, or a partner, was lost while it was asked
  };

  void forget(size_t which) {
    parts_[which].stale = parts_[which].now == state::asking;
    if (parts_[which].now == state::ready) {
      parts_[which].now = state::absent;
      --ready_;
    }
  }

  std::vector<std::vector<size_t>> partners_;
  std::vector<part> parts_;
  size_t ready_ = 0, asking_ = 0;
  uint64_t attempt_ = 0;
  status error_;
};

} // namespace troupe
