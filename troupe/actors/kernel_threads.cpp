#include "troupe/actors/kernel_threads.hpp"

#include "troupe/actors/brief_look.hpp"
#include "troupe/actors/caf_internals.hpp"
#include "troupe/actors/inline_unit.hpp"
#include "troupe/actors/region.hpp"
#include "troupe/actors/task_program.hpp"

#include <boost/intrusive/list.hpp>
#include <caf/actor_system.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;
using region_line = boost::intrusive::list<region_actor>;

// How long all threads are kept by kernels until a spare one takes quick regions.
constexpr std::chrono::milliseconds stuck_after{5};
// Spare threads: a region that was to be quick, and is not, keeps one of them. The last one is for
// regions whose steps have stopped.
constexpr size_t most_spares = 4;
// The line is searched for regions that go first so often, and for a fifth of the time at most.
constexpr std::chrono::milliseconds between_searches{5};
constexpr int pause_per_search = 4;

} // namespace

class kernel_threads::crew final : public caf::execution_unit,
                                   public std::enable_shared_from_this<crew> {
public:
  crew(caf::actor_system& system, const options& chosen)
      : caf::execution_unit(&system), most_(std::max<size_t>(chosen.most, 1)), looks_(chosen.looks),
        handles_messages_(chosen.handles_messages) {}

  size_t most() const noexcept { return most_; }

  void exec_later(caf::resumable* ready) override { hand_on(system(), ready); }

  void push(region_actor& ready) noexcept {
    std::unique_lock lock{mutex_};
    line_.push_back(ready);
    change_size(ready, 1);
    size_t looking = is_looking_ ? 1 : 0;
    if (size() <= looking)
      return;
    if (size() <= idle_ + looking) {
      lock.unlock();
      added_.notify_one();
      return;
    }
    if (threads_ < most_ && start(threads_, &crew::work))
      return;
    if (threads_ == 0) { // the system has none to give
      take(line_, ready);
      lock.unlock();
      system().scheduler().enqueue(&ready);
      return;
    }
    // A thread that was woken may not run yet, so that it still counts as idle.
    if (idle_ > 0)
      added_.notify_one();
    if (auto* caller = ready.step().in_line().caller)
      caller->region_waits();
    if (!watched_) {
      have_line_watched();
    } else if (auto* goes_first = line_that_goes_first(ready)) {
      goes_first->splice(goes_first->end(), line_, line_.iterator_to(ready));
      watcher_.notify_one();
    }
  }

  region_actor* take_back(task_instance& step) noexcept {
    std::lock_guard guard{mutex_};
    if (step.in_line().regions > 0)
      for (auto* line : {&stopped_, &quick_, &line_})
        for (auto& region : *line)
          if (&region.step() == &step)
            return take(*line, region);
    return nullptr;
  }

  void set_caller(task_instance& step, waiting_caller* caller) noexcept {
    std::lock_guard guard{mutex_};
    step.in_line().caller = caller;
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

  size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  // The caller of each function from here on, but run(), work() and watch(), holds the lock.
  void change_size(region_actor& region, int change) noexcept {
    size_.store(size() + static_cast<size_t>(change), std::memory_order_relaxed);
    region.step().in_line().regions += static_cast<size_t>(change);
  }

  region_actor* take(region_line& from, region_actor& region) noexcept {
    from.erase(from.iterator_to(region));
    change_size(region, -1);
    return &region;
  }

  bool is_stuck() const noexcept { return taken_ == stuck_at_; }

  // Regions of stopped steps go first, because their kernels end at once and a caller waits for
  // that; so do quick regions while long ones keep all threads. Null for other regions.
  region_line* line_that_goes_first(const region_actor& region) noexcept {
    if (region.has_stopped())
      return &stopped_;
    return is_stuck() && region.quick() ? &quick_ : nullptr;
  }

  // Steps stop without a message to this class: the search finds their regions.
  void search() noexcept {
    auto begin = clock::now();
    if (begin < next_search_)
      return;
    for (auto* searched : {&quick_, &line_})
      for (auto it = searched->begin(); it != searched->end();) {
        auto at = it++;
        if (auto* to = line_that_goes_first(*at); to && to != searched)
          to->splice(to->end(), *searched, at);
      }
    auto end = clock::now();
    next_search_ =
        end + std::max<clock::duration>(between_searches, pause_per_search * (end - begin));
  }

  region_actor* take_next() noexcept {
    if (stopped_.empty() && size() > 1)
      search();
    for (auto* line : {&stopped_, &quick_, &line_})
      if (!line->empty())
        return take(*line, line->front());
    return nullptr;
  }

  // While no thread watches it.
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
      if (looks_ && !is_looking_ && size() == 0 && !ending_) {
        is_looking_ = true;
        lock.unlock();
        look_([&] { return size() > 0; });
        lock.lock();
        is_looking_ = false;
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

  // Of a spare thread. One at a time watches whether the others go on; while it runs a region,
  // another one may.
  void watch() {
    std::unique_lock lock{mutex_};
    while (!ending_) {
      if (watched_ || size() == 0) {
        ++idle_spares_;
        spare_.wait(lock, [&] { return ending_ || (!watched_ && size() > 0); });
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
      if (size() > 0)
        have_line_watched();
      ++running_spares_;
      lock.unlock();
      run(next);
      lock.lock();
      --running_spares_;
    }
  }

  region_actor* wait_for_quick(std::unique_lock<std::mutex>& lock) {
    while (is_stuck() && size() > 0 && !ending_) {
      search();
      auto is_last = running_spares_ + 1 == most_spares;
      if (!stopped_.empty())
        return take(stopped_, stopped_.front());
      if (!is_last && !quick_.empty())
        return take(quick_, quick_.front());
      watcher_.wait_for(lock, between_searches);
    }
    return nullptr;
  }

  const size_t most_;
  const bool looks_, handles_messages_;
  std::mutex mutex_;
  std::condition_variable added_, spare_, watcher_;
  region_line stopped_, quick_, line_; // in the order in which they are taken; own a reference
  std::atomic<size_t> size_{0};        // of the three
  brief_look look_;                    // of the thread that looks
  bool is_looking_ = false;
  clock::time_point next_search_ = {};
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

void kernel_threads::run_later(region_actor* ready) noexcept {
  auto keep = crew_; // the region may end what this is a part of
  keep->push(*ready);
}

region_actor* kernel_threads::take_back(task_instance& step) noexcept {
  return crew_->take_back(step);
}

kernel_threads::caller_in_line::caller_in_line(kernel_threads& threads, task_instance& step,
                                               waiting_caller& caller) noexcept
    : threads_(threads), step_(step) {
  threads.crew_->set_caller(step, &caller);
}

kernel_threads::caller_in_line::~caller_in_line() { threads_.crew_->set_caller(step_, nullptr); }

} // namespace troupe
