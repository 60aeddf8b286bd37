// The threads that run the kernels of a task, separate from those that run its actors.
#pragma once
#include "troupe/actors/execution/ready_work.hpp"

#include <caf/fwd.hpp>

#include <cstddef>
#include <memory>

namespace troupe {

/// A thread that waits for the end of its step.
class waiting_caller {
public:
  /// Called when work of the step is queued and no thread is free for it: the caller may take it
  /// back. Called by any thread, under a lock: must be brief, and must not call kernel_threads.
  virtual void work_waits() noexcept = 0;

protected:
  ~waiting_caller() = default;
};

/// Runs work in the order in which it became ready, on at most `max_threads` threads, which start
/// with the first work. Queued work of steps that have stopped is run soon. While kernels occupy
/// all of these threads, a spare thread runs quick work (ready_work::is_quick), so that a long step
/// does not block a short one. Any thread may call. The queue allocates no memory.
class kernel_threads {
public:
  struct options {
    size_t max_threads = 1;
    /// A thread spins for a moment before it sleeps (adaptive_spin.hpp), for steps between tasks.
    bool spins = false;
    /// The system has no actors but a session's, whose handlers are brief: a thread that sends them
    /// a message handles it, instead of waking another thread.
    bool handles_messages = false;
  };
  /// The system waits for the threads when it ends, so destroy this first.
  kernel_threads(caf::actor_system& system, const options& settings);
  /// Does not wait: the threads run the queued work, then end.
  ~kernel_threads();

  size_t max_threads() const noexcept;
  /// Takes over one reference.
  void run_later(ready_work* ready) noexcept;
  /// Takes queued work of that step out of the queue, with one reference; null if there is none.
  ready_work* take_back(step_queue_state& step) noexcept;
  /// While an object exists, the caller is notified when no thread is free for work of its step. A
  /// step has one caller.
  class registered_caller {
  public:
    registered_caller(kernel_threads& threads, step_queue_state& step,
                      waiting_caller& caller) noexcept;
    registered_caller(const registered_caller&) = delete;
    registered_caller& operator=(const registered_caller&) = delete;
    ~registered_caller();

  private:
    kernel_threads& threads_;
    step_queue_state& step_;
  };

private:
  class pool;
  std::shared_ptr<pool> pool_; // shared with the threads
};

} // namespace troupe
