#include "troupe/actors/kernel_threads.hpp"

#include "troupe/actors/brief_look.hpp"
#include "troupe/actors/caf_internals.hpp"
#include "troupe/actors/inline_unit.hpp"
#include "troupe/actors/region.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace troupe {
namespace {

// How long all threads are kept by kernels until a spare one takes quick regions.
constexpr std::chrono::milliseconds stuck_after{5};
// Spare threads: a region that was to be quick, and is not, keeps one of them. The last one is for
// regions whose steps have stopped.
constexpr size_t most_spares = 4;
// How often the line is searched for regions whose steps have stopped.
constexpr std::chrono::milliseconds between_searches{5};

} // namespace

class kernel_threads::crew final : public caf::execution_unit,
                                   public std::enable_shared_from_this<crew> {
public:
  crew(caf::actor_system& system, const options& chosen)
      : caf::execution_unit(&system), most_(std::max<size_t>(chosen.most, 1)), looks_(chosen.looks),
        handles_messages_(chosen.handles_messages) {}

  size_t most() const noexcept { return most_; }

  void exec_later(caf::resumable* ready) override { hand_on(system(), ready); }

  void push(region_actor* ready) {
    std::unique_lock lock{mutex_};
    queue_.push_back(ready);
    size_.store(queue_.size(), std::memory_order_relaxed);
    size_t looking = is_looking_ ? 1 : 0;
    if (queue_.size() <= looking)
      return;
    if (queue_.size() <= idle_ + looking) {
      lock.unlock();
      added_.notify_one();
      return;
    }
    if (threads_ < most_ && start(threads_, &crew::work))
      return;
    if (threads_ == 0) { // the system has none to give
      queue_.pop_back();
      size_.store(queue_.size(), std::memory_order_relaxed);
      lock.unlock();
      system().scheduler().enqueue(ready);
      return;
    }
    // A thread that was woken may not run yet, so that it still counts as idle.
    if (idle_ > 0)
      added_.notify_one();
    tell_caller(ready->step());
    if (watched_ && taken_ == stuck_at_) {
      if (ready->quick() || ready->has_stopped())
        watcher_.notify_one();
    } else if (!watched_)
      have_line_watched();
  }

  region_actor* take_back(const task_instance& step) {
    std::lock_guard guard{mutex_};
    return take_first([&](const region_actor& one) { return &one.step() == &step; });
  }

  void add_caller(const task_instance& step, waiting_caller& caller) {
    std::lock_guard guard{mutex_};
    caller.step_ = &step;
    caller.previous_ = nullptr;
    caller.next_ = callers_;
    if (callers_)
      callers_->previous_ = &caller;
    callers_ = &caller;
  }

  void remove_caller(waiting_caller& caller) {
    std::lock_guard guard{mutex_};
    (caller.previous_ ? caller.previous_->next_ : callers_) = caller.next_;
    if (caller.next_)
      caller.next_->previous_ = caller.previous_;
  }

  void end() {
    std::lock_guard guard{mutex_};
    ending_ = true;
    added_.notify_all();
    spare_.notify_all();
    watcher_.notify_all();
  }

private:
  // Under the lock. The system counts the thread, and waits for it when it ends.
  bool start(size_t& count, void (crew::*act)()) {
    system().inc_detached_threads();
    try {
      std::thread{[keep = shared_from_this(), act] {
        auto& system = keep->system();
        ((*keep).*act)();
        system.dec_detached_threads();
      }}.detach();
    } catch (const std::exception&) {
      system().dec_detached_threads();
      return false;
    }
    ++count;
    return true;
  }

  // Under the lock.
  template <class Which>
  region_actor* take_first(Which which) {
    auto it = std::ranges::find_if(queue_, [&](auto* one) { return which(*one); });
    if (it == queue_.end())
      return nullptr;
    auto* taken = *it;
    queue_.erase(it);
    size_.store(queue_.size(), std::memory_order_relaxed);
    return taken;
  }

  // Under the lock. The first in line; or one whose step has stopped, because its kernels leave off
  // at once, and somebody waits for that.
  region_actor* take_next() {
    if (queue_.size() > 1) {
      if (auto now = std::chrono::steady_clock::now(); now >= next_search_) {
        if (auto* stopped = take_first([](const region_actor& one) { return one.has_stopped(); }))
          return stopped;
        next_search_ = now + between_searches;
      }
    }
    return take_first([](const region_actor&) { return true; });
  }

  // Under the lock.
  void tell_caller(const task_instance& step) {
    for (auto* caller = callers_; caller; caller = caller->next_)
      if (caller->step_ == &step)
        return caller->region_waits();
  }

  // Under the lock, while no thread watches it.
  void have_line_watched() {
    if (idle_spares_ > 0)
      spare_.notify_one();
    else if (spares_ < most_spares)
      start(spares_, &crew::watch);
  }

  void run(region_actor* next) {
    if (handles_messages_) {
      inline_unit{system(), inline_unit::regions::none}.run(next);
    } else {
      next->resume(this, 1);
      next->intrusive_ptr_release_impl();
    }
  }

  void work() {
    std::unique_lock lock{mutex_};
    while (true) {
      if (looks_ && !is_looking_ && queue_.empty() && !ending_) {
        is_looking_ = true;
        lock.unlock();
        look_([&] { return size_.load(std::memory_order_relaxed) > 0; });
        lock.lock();
        is_looking_ = false;
      }
      if (queue_.empty() && !ending_) {
        ++idle_;
        added_.wait(lock, [&] { return ending_ || !queue_.empty(); });
        --idle_;
      }
      if (queue_.empty())
        return;
      auto* next = take_next();
      ++taken_;
      lock.unlock();
      run(next);
      lock.lock();
    }
  }

  // Of a spare thread. One at a time watches whether the others go on; while it runs a region,
  // another one may.
  void watch() {
    std::unique_lock lock{mutex_};
    while (!ending_) {
      if (watched_ || queue_.empty()) {
        ++idle_spares_;
        spare_.wait(lock, [&] { return ending_ || (!watched_ && !queue_.empty()); });
        --idle_spares_;
        continue;
      }
      watched_ = true;
      if (auto before = taken_; before != stuck_at_) {
        watcher_.wait_for(lock, stuck_after, [&] { return ending_; });
        if (taken_ == before)
          stuck_at_ = before;
      }
      auto* next = wait_for_quick(lock);
      watched_ = false;
      if (!next)
        continue;
      if (!queue_.empty())
        have_line_watched();
      ++running_spares_;
      lock.unlock();
      run(next);
      lock.lock();
      --running_spares_;
    }
  }

  // Steps in the queue may fail, which nobody tells this thread: it looks now and then.
  region_actor* wait_for_quick(std::unique_lock<std::mutex>& lock) {
    while (taken_ == stuck_at_ && !queue_.empty() && !ending_) {
      auto is_last = running_spares_ + 1 == most_spares;
      if (auto* next = take_first([&](const region_actor& one) {
            return one.has_stopped() || (!is_last && one.quick());
          }))
        return next;
      watcher_.wait_for(lock, stuck_after);
    }
    return nullptr;
  }

  const size_t most_;
  const bool looks_, handles_messages_;
  std::mutex mutex_;
  std::condition_variable added_, spare_, watcher_;
  std::deque<region_actor*> queue_;
  std::atomic<size_t> size_{0}; // of the queue
  brief_look look_;             // of the thread that looks
  bool is_looking_ = false;
  waiting_caller* callers_ = nullptr; // the first of those that wait for their steps
  std::chrono::steady_clock::time_point next_search_ = {};
  size_t threads_ = 0, idle_ = 0, spares_ = 0, idle_spares_ = 0, running_spares_ = 0;
  uint64_t taken_ = 0;             // by the threads that are no spare ones
  uint64_t stuck_at_ = UINT64_MAX; // what taken_ was when it had not changed for long
  bool watched_ = false;           // by a spare thread
  bool ending_ = false;
};

kernel_threads::kernel_threads(caf::actor_system& system, const options& chosen)
    : crew_(std::make_shared<crew>(system, chosen)) {}

kernel_threads::~kernel_threads() { crew_->end(); }

size_t kernel_threads::most() const noexcept { return crew_->most(); }

void kernel_threads::run_later(region_actor* ready) { crew_->push(ready); }

region_actor* kernel_threads::take_back(const task_instance& step) {
  return crew_->take_back(step);
}

void kernel_threads::add_caller(const task_instance& step, waiting_caller& caller) {
  crew_->add_caller(step, caller);
}

void kernel_threads::remove_caller(waiting_caller& caller) { crew_->remove_caller(caller); }

} // namespace troupe
