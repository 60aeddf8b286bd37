// CAF's sharing scheduler, one of whose threads looks for work for a moment before it sleeps: a
// step between tasks passes from thread to thread several times.
#pragma once
#include "troupe/actors/base/brief_look.hpp"
#include "troupe/actors/base/caf_internals.hpp"

#include <caf/policy/unprofiled.hpp>
#include <caf/scheduler/coordinator.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace troupe {

class looking_policy : public caf::policy::unprofiled {
public:
  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator*) {}
    std::mutex lock;
    std::condition_variable added;
    std::deque<caf::resumable*> queue;
    std::atomic<size_t> size{0};
    size_t sleeping = 0;
    bool looks = false; // one of the threads
    brief_look look;    // that thread's
  };
  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    auto& all = d(self);
    std::lock_guard guard{all.lock};
    all.queue.push_back(job);
    all.size.store(all.queue.size(), std::memory_order_relaxed);
    // The thread that looks takes one.
    if (all.sleeping > 0 && (!all.looks || all.queue.size() > 1))
      all.added.notify_one();
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
    auto& all = d(self->parent());
    std::unique_lock lock{all.lock};
    if (all.queue.empty() && !all.looks) {
      all.looks = true;
      lock.unlock();
      all.look([&] { return all.size.load(std::memory_order_relaxed) > 0; });
      lock.lock();
      all.looks = false;
    }
    while (all.queue.empty()) {
      ++all.sleeping;
      all.added.wait(lock);
      --all.sleeping;
    }
    auto* job = all.queue.front();
    all.queue.pop_front();
    all.size.store(all.queue.size(), std::memory_order_relaxed);
    // A message came while this thread looked for one, and another meanwhile.
    if (!all.queue.empty() && all.sleeping > 0)
      all.added.notify_one();
    return job;
  }

  template <class Worker, class Visit>
  void foreach_resumable(Worker*, Visit) {}
  template <class Coordinator, class Visit>
  void foreach_central_resumable(Coordinator* self, Visit visit) {
    auto& all = d(self);
    std::lock_guard guard{all.lock};
    for (auto* job : all.queue)
      visit(job);
    all.queue.clear();
  }
};

using looking_scheduler = caf::scheduler::coordinator<looking_policy>;

} // namespace troupe
