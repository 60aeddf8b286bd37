// CAF's sharing scheduler, one of whose idle threads spins for a moment before it sleeps: a step
// between tasks passes from thread to thread several times.
#pragma once
#include "troupe/actors/base/adaptive_spin.hpp"
#include "troupe/actors/base/caf_internals.hpp"

#include <caf/policy/unprofiled.hpp>
#include <caf/scheduler/coordinator.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace troupe {

/// The scheduler's policy, in the form that CAF's coordinator and workers call. All jobs are in one
/// queue.
class spinning_policy : public caf::policy::unprofiled {
public:
  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator*) {}
    std::mutex lock; // guards the members below except `spin`; `size` is also read without it
    std::condition_variable added;
    std::deque<caf::resumable*> queue;
    std::atomic<size_t> size{0};
    size_t sleeping = 0;
    bool spins = false; // whether one of the threads spins
    adaptive_spin spin; // of that thread
  };
  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    auto& shared = d(self);
    std::lock_guard guard{shared.lock};
    shared.queue.push_back(job);
    shared.size.store(shared.queue.size(), std::memory_order_relaxed);
    // The thread that spins takes one job without a notification.
    if (shared.sleeping > 0 && (!shared.spins || shared.queue.size() > 1))
      shared.added.notify_one();
  }
  template <class Worker>
  void external_enqueue(Worker* self, caf::resumable* job) {
    central_enqueue(self->parent(), job);
  }
  template <class Worker>
  void internal_enqueue(Worker* self, caf::resumable* job) {
    central_enqueue(self->parent(), job);
  }
  template <class Worker>
  void resume_job_later(Worker* self, caf::resumable* job) {
    central_enqueue(self->parent(), job);
  }

  template <class Worker>
  caf::resumable* dequeue(Worker* self) {
    auto& shared = d(self->parent());
    std::unique_lock lock{shared.lock};
    if (shared.queue.empty() && !shared.spins) {
      shared.spins = true;
      lock.unlock();
      shared.spin([&] { return shared.size.load(std::memory_order_relaxed) > 0; });
      lock.lock();
      shared.spins = false;
    }
    while (shared.queue.empty()) {
      ++shared.sleeping;
      shared.added.wait(lock);
      --shared.sleeping;
    }
    auto* job = shared.queue.front();
    shared.queue.pop_front();
    shared.size.store(shared.queue.size(), std::memory_order_relaxed);
    // central_enqueue() notified no thread of the job that came while this thread spun.
    if (!shared.queue.empty() && shared.sleeping > 0)
      shared.added.notify_one();
    return job;
  }

  template <class Worker, class Visit>
  void foreach_resumable(Worker*, Visit) {}
  template <class Coordinator, class Visit>
  void foreach_central_resumable(Coordinator* self, Visit visit) {
    auto& shared = d(self);
    std::lock_guard guard{shared.lock};
    for (auto* job : shared.queue)
      visit(job);
    shared.queue.clear();
  }
};

using spinning_scheduler = caf::scheduler::coordinator<spinning_policy>;

} // namespace troupe
