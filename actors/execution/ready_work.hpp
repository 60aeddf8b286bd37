// The base of work that waits in queues of threads, such as a region that is ready.
#pragma once
#include "troupe/actors/base/caf_internals.hpp"

#include <boost/intrusive/list_hook.hpp>

#include <chrono>
#include <cstddef>

namespace troupe {

class waiting_caller;

/// The state of a running step in kernel_threads, guarded by their lock. Its address stands for the
/// step.
struct step_queue_state {
  waiting_caller* caller = nullptr; ///< the thread that waits for its end
  size_t queued_work = 0;           ///< which no thread has begun
};

/// Work that some thread is to run by resume(). It is in one queue at a time, which holds a
/// reference.
class ready_work : public caf::resumable,
                   public boost::intrusive::list_base_hook<> { // for the queue of kernel_threads
public:
  /// Returns the work behind a pointer that an execution unit got, or null if that is an actor or a
  /// function of CAF. Costs less than a dynamic_cast: CAF's own resumables for execution units say
  /// what they are, and all others are ready_work. A resumable of an application must override
  /// subtype(), too.
  static ready_work* from(caf::resumable* ready) noexcept {
    return ready->subtype() == unspecified ? static_cast<ready_work*>(ready) : nullptr;
  }
  /// Not scheduled_actor: CAF's scheduler would take it for an object of that class when it ends.
  subtype_t subtype() const final { return unspecified; }

  /// The step that it belongs to; null: it serves several steps.
  virtual step_queue_state* step_queue() const noexcept = 0;
  /// Whether a thread runs it before other work, because it may make work ready for others.
  virtual bool is_light() const noexcept = 0;
  /// Whether a thread that has more urgent work may run it first.
  virtual bool is_brief() const noexcept = 0;
  /// Whether it is expected to take a few milliseconds at most, by its code: measured times include
  /// waiting for a core on a busy machine.
  virtual bool is_quick() const noexcept = 0;
  /// Whether its step has failed or was stopped: it then ends early.
  virtual bool has_stopped() const noexcept = 0;
  /// Whether resume() measures how long it takes. Otherwise the caller of resume() calls took().
  virtual bool measures_itself() const noexcept = 0;
  virtual void took(std::chrono::nanoseconds time) noexcept = 0;
  /// Passes it to other threads. Takes over one reference.
  virtual void run_elsewhere() noexcept = 0;

protected:
  ~ready_work() override = default;
};

/// Passes on what an execution unit does not run: CAF's actors go to the scheduler.
inline void schedule_elsewhere(caf::actor_system& system, caf::resumable* ready) {
  if (auto* work = ready_work::from(ready))
    work->run_elsewhere();
  else
    system.scheduler().enqueue(ready);
}

} // namespace troupe
