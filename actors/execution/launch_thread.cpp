#include "troupe/actors/execution/launch_thread.hpp"

#include "troupe/actors/base/caf_internals.hpp"
#include "troupe/actors/execution/ready_work.hpp"

#include <caf/actor_system.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace troupe {

// Regions that become ready while another one runs are passed on to other threads.
class launch_thread::unit final : public caf::execution_unit {
public:
  explicit unit(caf::actor_system& system) : caf::execution_unit(&system) {}

  void exec_later(caf::resumable* ready) override { schedule_elsewhere(system(), ready); }

  void push(ready_work* ready) {
    {
      std::lock_guard guard{mutex_};
      ready_.push_back(ready);
    }
    changed_.notify_one();
  }

  void end() {
    {
      std::lock_guard guard{mutex_};
      ending_ = true;
    }
    changed_.notify_one();
  }

  void work() {
    while (auto* next = wait_for_next()) {
      next->resume(this, 1); // a region handles one message
      next->intrusive_ptr_release_impl();
    }
  }

  std::thread thread;

private:
  ready_work* wait_for_next() {
    std::unique_lock guard{mutex_};
    changed_.wait(guard, [&] { return ending_ || !ready_.empty(); });
    if (ready_.empty())
      return nullptr;
    auto* next = ready_.front();
    ready_.pop_front();
    return next;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ready_work*> ready_;
  bool ending_ = false;
};

launch_thread::launch_thread(caf::actor_system& system) : unit_(std::make_shared<unit>(system)) {
  unit_->thread = std::thread{[kept = unit_] { kept->work(); }};
}

launch_thread::~launch_thread() {
  unit_->end();
  // The last region may own the last program that owns this object, so this may run on its thread.
  if (unit_->thread.get_id() == std::this_thread::get_id())
    unit_->thread.detach();
  else
    unit_->thread.join();
}

void launch_thread::run_later(ready_work* ready) { unit_->push(ready); }

} // namespace troupe
