#include "troupe/actors/execution/low_priority_threads.hpp"

#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/base/lower_thread_priority.hpp"
#include "troupe/actors/execution/ready_work.hpp"

#include <caf/actor_system.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace troupe {

// Regions that become ready while another one runs are passed on, and return here only if heavy.
class low_priority_threads::unit final : public caf::execution_unit {
public:
  unit(caf::actor_system& system, size_t max_threads)
      : caf::execution_unit(&system), max_threads_(max_threads) {}

  void exec_later(caf::resumable* ready) override { schedule_elsewhere(system(), ready); }

  // Queues a region, and starts a thread if no idle one can take it. Returns false if there is no
  // thread, and none can be created.
  bool push(ready_work* ready, const std::shared_ptr<unit>& self) {
    {
      std::lock_guard guard{mutex_};
      ready_.push_back(ready);
      if (idle_ < ready_.size() && threads_.size() < max_threads_) {
        try {
          threads_.emplace_back([kept = self] { kept->work(); });
        } catch (const std::system_error&) {
          if (threads_.empty()) {
            ready_.pop_back();
            return false;
          }
        }
      }
    }
    changed_.notify_one();
    return true;
  }

  void end() {
    std::vector<std::thread> threads;
    {
      std::lock_guard guard{mutex_};
      ending_ = true;
      threads.swap(threads_);
    }
    changed_.notify_all();
    // The last region may own the last program that owns this object, so this may run on such a
    // thread.
    for (auto& thread : threads)
      if (thread.get_id() == std::this_thread::get_id())
        thread.detach();
      else
        thread.join();
  }

private:
  void work() {
    lower_thread_priority();
    while (auto* next = wait_for_next()) {
      next->resume(this, 1); // a region handles one message
      next->intrusive_ptr_release_impl();
    }
  }

  ready_work* wait_for_next() {
    std::unique_lock guard{mutex_};
    ++idle_;
    changed_.wait(guard, [&] { return ending_ || !ready_.empty(); });
    --idle_;
    if (ready_.empty())
      return nullptr;
    auto* next = ready_.front();
    ready_.pop_front();
    return next;
  }

  const size_t max_threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ready_work*> ready_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool ending_ = false;
};

low_priority_threads::low_priority_threads(caf::actor_system& system, size_t max_threads)
    : unit_(std::make_shared<unit>(system, max_threads)) {}

low_priority_threads::~low_priority_threads() { unit_->end(); }

void low_priority_threads::run_later(ready_work* ready) {
  if (!unit_->push(ready, unit_))
    ready->run_elsewhere();
}

} // namespace troupe
