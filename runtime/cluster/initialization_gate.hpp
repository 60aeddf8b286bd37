// Refuses steps that use the state of a restarted task until a session has restored or initialized
// the state (docs/recovery.md).
#pragma once
#include "troupe/runtime/cluster/initialization_stage.hpp"
#include "troupe/runtime/types/status.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

namespace troupe {

/// Open, unless await() closes it. Any thread may call. Knows no actors: the initializing peer is
/// identified by an address, and by a name for people.
class initialization_gate {
public:
  using clock = std::chrono::steady_clock;

  /// Closes the gate until a peer has initialized the task. After `patience`, errors do not ask
  /// steps to try again any more.
  void await(clock::time_point now, std::chrono::milliseconds patience) {
    std::lock_guard guard{mutex_};
    patience_ = patience;
    patience_ends_ = now + patience;
    closed_.store(true, std::memory_order_release);
  }
  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  struct admission {
    status outcome;
    initialization_stage stage;
  };
  /// Called for each step that uses state. The first step that initializes gives its peer the right
  /// to initialize until end(). Other steps fail with `unavailable`; steps that do not initialize
  /// fail with `failed_precondition` after the patience. Errors name the task.
  admission admit(bool initializes, const void* peer, const std::string& name,
                  const std::string& task, clock::time_point now) {
    std::lock_guard guard{mutex_};
    if (!closed())
      return {{}, initialization_stage::over};
    if (initializes && (!initializing_peer_ || initializing_peer_ == peer)) {
      if (!std::exchange(initializing_peer_, peer)) {
        initializer_name_ = name;
        began_ = now;
      }
      return {{}, initialization_stage::by_requester};
    }
    auto seconds = [](clock::duration time) {
      return std::chrono::duration_cast<std::chrono::seconds>(time).count();
    };
    // A step that initializes is never too late: it may follow a peer that has failed.
    auto is_late = !initializes && now >= patience_ends_;
    auto kind = is_late ? error_kind::failed_precondition : error_kind::unavailable;
    auto restarted = concat(task, " was restarted; its variables must be initialized or restored "
                                  "before it serves them: ");
    if (initializing_peer_)
      return {failure(kind, restarted, initializer_name_, " has been doing so for ",
                      seconds(now - began_), " s; try again"),
              initialization_stage::by_another};
    if (is_late)
      return {failure(kind, restarted, "no session has done so within ", seconds(patience_),
                      " s: restore or initialize it in session::initialize_tasks()"),
              initialization_stage::awaited};
    return {
        failure(
            kind, restarted,
            "no session does so yet; restore or initialize it in session::initialize_tasks(), by a "
            "training_run or by recovery.restore_state, or try again"),
        initialization_stage::awaited};
  }

  /// The peer has initialized the task, or has given up if `done` is false. Returns whether this
  /// has opened the gate.
  bool end(const void* peer, bool done) {
    std::lock_guard guard{mutex_};
    if (!closed() || initializing_peer_ != peer)
      return false;
    initializing_peer_ = nullptr;
    closed_.store(!done, std::memory_order_release);
    return done;
  }

  /// The name of the peer that initializes the task; empty if there is none.
  std::string initializer() const {
    std::lock_guard guard{mutex_};
    return initializing_peer_ ? initializer_name_ : std::string{};
  }

private:
  mutable std::mutex mutex_;
  std::atomic<bool> closed_{false};
  std::chrono::milliseconds patience_{0};
  clock::time_point patience_ends_, began_;
  const void* initializing_peer_ = nullptr;
  std::string initializer_name_;
};

} // namespace troupe
