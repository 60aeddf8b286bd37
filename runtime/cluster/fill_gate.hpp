// A task that was started to be filled refuses steps that use what it holds until somebody has
// restored or initialised that (docs/recovery.md).
#pragma once
#include "troupe/runtime/cluster/fill_stage.hpp"
#include "troupe/runtime/types/status.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

namespace troupe {

/// Open, unless await() closes it. Any thread may call. Knows no actors: whoever fills is told by
/// an address, and a name for people.
class fill_gate {
public:
  using clock = std::chrono::steady_clock;

  /// Closes it until somebody has filled the task. Who comes later than `patience` from now is not
  /// told to try again any more.
  void await(clock::time_point now, std::chrono::milliseconds patience) {
    std::lock_guard guard{mutex_};
    patience_ = patience;
    expected_ = now + patience;
    closed_.store(true, std::memory_order_release);
  }
  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  struct admission {
    status outcome;
    fill_stage stage;
  };
  /// A step that uses state wants to run. The first that fills makes its peer the one that does so,
  /// until that says that it has, or is gone. Fails with `unavailable`; steps that do not fill,
  /// when patience is over, with `failed_precondition`. Errors name the task.
  admission admit(bool fills, const void* who, const std::string& name, const std::string& task,
                  clock::time_point now) {
    std::lock_guard guard{mutex_};
    if (!closed())
      return {{}, fill_stage::over};
    if (fills && (!who_ || who_ == who)) {
      if (!std::exchange(who_, who)) {
        name_ = name;
        began_ = now;
      }
      return {{}, fill_stage::by_asker};
    }
    auto seconds = [](clock::duration time) {
      return std::chrono::duration_cast<std::chrono::seconds>(time).count();
    };
    auto late = !fills && now >= expected_; // who would fill it may do so when the other is gone
    auto kind = late ? error_kind::failed_precondition : error_kind::unavailable;
    auto begins = concat(task, " has begun anew, and serves what it holds when that is filled: ");
    if (who_)
      return {
          failure(kind, begins, name_, " does so, for ", seconds(now - began_), " s; try again"),
          fill_stage::by_another};
    if (late)
      return {failure(kind, begins, "no session has done so within ", seconds(patience_),
                      " s: restore or initialise it in session::fill()"),
              fill_stage::awaited};
    return {failure(kind, begins,
                    "no session does so yet; restore or initialise it in session::fill(), by a "
                    "training_run or by recovery.restore, or try again"),
            fill_stage::awaited};
  }

  /// The peer has filled it, or given up. Says whether the gate has opened by that.
  bool end(const void* who, bool done) {
    std::lock_guard guard{mutex_};
    if (!closed() || who_ != who)
      return false;
    who_ = nullptr;
    closed_.store(!done, std::memory_order_release);
    return done;
  }

  /// Who fills it now; empty: nobody.
  std::string filler() const {
    std::lock_guard guard{mutex_};
    return who_ ? name_ : std::string{};
  }

private:
  mutable std::mutex mutex_;
  std::atomic<bool> closed_{false};
  std::chrono::milliseconds patience_{0};
  clock::time_point expected_, began_;
  const void* who_ = nullptr;
  std::string name_;
};

} // namespace troupe
