#include "troupe/actors/execution/kernel_threads.hpp"

#include "troupe/actors/base/adaptive_spin.hpp"
#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/execution/inline_unit.hpp"

#include <boost/intrusive/list.hpp>
#include <caf/actor_system.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include <pthread.h>

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;
using work_queue = boost::intrusive::list<ready_work>;

// The time after which a spare thread takes quick work, because kernels occupy all threads.
constexpr std::chrono::milliseconds stuck_after{5};
// The number of spare threads. Work that takes longer than expected occupies one of them. The last
// one is reserved for work whose step has stopped.
constexpr size_t max_spares = 4;
// The interval between searches of the queue for urgent work, which take a fifth of the time at
// most.
constexpr std::chrono::milliseconds between_searches{5};
constexpr int pause_per_search = 4;

} // namespace

// The threads and their queues. Each thread owns it, too: the threads may outlive kernel_threads.
class kernel_threads::pool final : public caf::execution_unit,
                                   public std::enable_shared_from_this<pool> {
public:
  pool(caf::actor_system& system, const options& settings)
      : caf::execution_unit(&system), max_threads_(std::max<size_t>(settings.max_threads, 1)),
        spins_(settings.spins), handles_messages_(settings.handles_messages) {}

  size_t max_threads() const noexcept { return max_threads_; }

  void exec_later(caf::resumable* ready) override { schedule_elsewhere(system(), ready); }

  void push(ready_work& ready) noexcept {
    std::unique_lock lock{mutex_};
    queue_.push_back(ready);
    change_size(ready, 1);
    size_t spinning = is_spinning_ ? 1 : 0;
    if (size() <= spinning)
      return;
    if (size() <= idle_ + spinning) {
      lock.unlock();
      added_.notify_one();
      return;
    }
    if (threads_ < max_threads_ && start(threads_, &pool::work))
      return;
    if (threads_ == 0) { // the system cannot create one
      take(queue_, ready);
      lock.unlock();
      system().scheduler().enqueue(&ready);
      return;
    }
    // A thread that was woken may not run yet, and then still counts as idle.
    if (idle_ > 0)
      added_.notify_one();
    if (auto* step = ready.step_queue(); step && step->caller)
      step->caller->work_waits();
    if (!is_watched_) {
      request_watcher();
    } else if (auto* urgent = urgent_queue_for(ready)) {
      urgent->splice(urgent->end(), queue_, queue_.iterator_to(ready));
      watcher_.notify_one();
    }
  }

  ready_work* take_back(step_queue_state& step) noexcept {
    std::lock_guard guard{mutex_};
    if (step.queued_work > 0)
      for (auto* queue : {&stopped_, &quick_, &queue_})
        for (auto& work : *queue)
          if (work.step_queue() == &step)
            return take(*queue, work);
    return nullptr;
  }

  void set_caller(step_queue_state& step, waiting_caller* caller) noexcept {
    std::lock_guard guard{mutex_};
    step.caller = caller;
  }

  void end() {
    std::lock_guard guard{mutex_};
    ending_ = true;
    added_.notify_all();
    spare_.notify_all();
    watcher_.notify_all();
  }

private:
  // Called with the lock held. The system counts the thread, and waits for it when it ends.
  bool start(size_t& count, void (pool::*act)()) {
    system().inc_detached_threads();
    try {
      std::thread{[self = shared_from_this(), act] {
        ::pthread_setname_np(::pthread_self(), "troupe.kernels");
        auto& system = self->system();
        ((*self).*act)();
        system.dec_detached_threads();
      }}.detach();
    } catch (const std::exception&) {
      system().dec_detached_threads();
      return false;
    }
    ++count;
    return true;
  }

  size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  // The following functions are called with the lock held.
  void change_size(ready_work& work, int change) noexcept {
    size_.store(size() + static_cast<size_t>(change), std::memory_order_relaxed);
    if (auto* step = work.step_queue())
      step->queued_work += static_cast<size_t>(change);
  }

  ready_work* take(work_queue& from, ready_work& work) noexcept {
    from.erase(from.iterator_to(work));
    change_size(work, -1);
    return &work;
  }

  bool is_stuck() const noexcept { return taken_ == stuck_at_; }

  // Returns the queue of urgent work, or null. Work whose step has stopped is urgent, because its
  // kernels end at once and a caller waits for that. Quick work is urgent while long work occupies
  // all threads.
  work_queue* urgent_queue_for(const ready_work& work) noexcept {
    if (work.has_stopped())
      return &stopped_;
    return is_stuck() && work.is_quick() ? &quick_ : nullptr;
  }

  // Finds work whose step has stopped since it was queued, which is not notified.
  void search() noexcept {
    auto begin = clock::now();
    if (begin < next_search_)
      return;
    for (auto* searched : {&quick_, &queue_})
      for (auto next = searched->begin(); next != searched->end();) {
        auto current = next++;
        if (auto* urgent = urgent_queue_for(*current); urgent && urgent != searched)
          urgent->splice(urgent->end(), *searched, current);
      }
    auto end = clock::now();
    next_search_ =
        end + std::max<clock::duration>(between_searches, pause_per_search * (end - begin));
  }

  ready_work* take_next() noexcept {
    if (stopped_.empty() && size() > 1)
      search();
    for (auto* queue : {&stopped_, &quick_, &queue_})
      if (!queue->empty())
        return take(*queue, queue->front());
    return nullptr;
  }

  // Wakes or starts a spare thread. Called while none watches the queue.
  void request_watcher() {
    if (idle_spares_ > 0)
      spare_.notify_one();
    else if (spares_ < max_spares)
      start(spares_, &pool::watch);
  }

  void run(ready_work* next) {
    if (handles_messages_) {
      inline_unit{system(), inline_unit::kinds::actors}.run(next);
    } else {
      next->resume(this, 1);
      next->intrusive_ptr_release_impl();
    }
  }

  void work() {
    std::unique_lock lock{mutex_};
    while (true) {
      if (spins_ && !is_spinning_ && size() == 0 && !ending_) {
        is_spinning_ = true;
        lock.unlock();
        spin_([&] { return size() > 0; });
        lock.lock();
        is_spinning_ = false;
      }
      if (size() == 0 && !ending_) {
        ++idle_;
        stuck_at_ = UINT64_MAX;
        added_.wait(lock, [&] { return ending_ || size() > 0; });
        --idle_;
      }
      if (size() == 0)
        return;
      auto* next = take_next();
      ++taken_;
      lock.unlock();
      run(next);
      lock.lock();
    }
  }

  // Runs on a spare thread. One spare thread at a time watches whether the others take work. While
  // it runs work, another one may watch.
  void watch() {
    std::unique_lock lock{mutex_};
    while (!ending_) {
      if (is_watched_ || size() == 0) {
        ++idle_spares_;
        spare_.wait(lock, [&] { return ending_ || (!is_watched_ && size() > 0); });
        --idle_spares_;
        continue;
      }
      is_watched_ = true;
      if (auto before = taken_; before != stuck_at_) {
        watcher_.wait_for(lock, stuck_after, [&] { return ending_; });
        if (taken_ == before)
          stuck_at_ = before;
      }
      auto* next = wait_for_quick(lock);
      is_watched_ = false;
      if (!next)
        continue;
      if (size() > 0)
        request_watcher();
      ++running_spares_;
      lock.unlock();
      run(next);
      lock.lock();
      --running_spares_;
    }
  }

  ready_work* wait_for_quick(std::unique_lock<std::mutex>& lock) {
    while (is_stuck() && size() > 0 && !ending_) {
      search();
      auto is_last = running_spares_ + 1 == max_spares;
      if (!stopped_.empty())
        return take(stopped_, stopped_.front());
      if (!is_last && !quick_.empty())
        return take(quick_, quick_.front());
      watcher_.wait_for(lock, between_searches);
    }
    return nullptr;
  }

  const size_t max_threads_;
  const bool spins_, handles_messages_;
  std::mutex mutex_;
  std::condition_variable added_, spare_, watcher_;
  work_queue stopped_, quick_, queue_; // by descending priority; each item holds a reference
  std::atomic<size_t> size_{0};        // of the three queues
  adaptive_spin spin_;                 // of the spinning thread
  bool is_spinning_ = false;
  clock::time_point next_search_ = {};
  size_t threads_ = 0, idle_ = 0, spares_ = 0, idle_spares_ = 0, running_spares_ = 0;
  uint64_t taken_ = 0;             // number of items taken by threads other than spare ones
  uint64_t stuck_at_ = UINT64_MAX; // the value of taken_ that did not change for stuck_after
  bool is_watched_ = false;        // whether a spare thread watches the queue
  bool ending_ = false;
};

kernel_threads::kernel_threads(caf::actor_system& system, const options& settings)
    : pool_(std::make_shared<pool>(system, settings)) {}

kernel_threads::~kernel_threads() { pool_->end(); }

size_t kernel_threads::max_threads() const noexcept { return pool_->max_threads(); }

void kernel_threads::run_later(ready_work* ready) noexcept {
  auto kept = pool_; // the work may destroy this object
  kept->push(*ready);
}

ready_work* kernel_threads::take_back(step_queue_state& step) noexcept {
  return pool_->take_back(step);
}

kernel_threads::registered_caller::registered_caller(kernel_threads& threads,
                                                     step_queue_state& step,
                                                     waiting_caller& caller) noexcept
    : threads_(threads), step_(step) {
  threads.pool_->set_caller(step, &caller);
}

kernel_threads::registered_caller::~registered_caller() {
  threads_.pool_->set_caller(step_, nullptr);
}

} // namespace troupe
