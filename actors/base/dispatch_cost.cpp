#include "troupe/actors/base/dispatch_cost.hpp"

#include "troupe/actors/base/caf_internals.hpp"

#include <caf/actor_system.hpp>
#include <caf/make_counted.hpp>
#include <caf/ref_counted.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;

constexpr double typical_cost = 20'000; // nanoseconds
constexpr std::chrono::milliseconds run_timeout{20};

// A job that records the time at which it begins. It is reference-counted, because the scheduler
// may run it long after the timeout.
class probe final : public caf::resumable, public caf::ref_counted {
public:
  subtype_t subtype() const override { return function_object; }
  void intrusive_ptr_add_ref_impl() override { ref(); }
  void intrusive_ptr_release_impl() override { deref(); }
  resume_result resume(caf::execution_unit*, size_t) override {
    std::lock_guard guard{mutex_};
    begun_ = clock::now();
    changed_.notify_one();
    return done;
  }
  std::optional<clock::time_point> wait() {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, run_timeout, [&] { return begun_.has_value(); });
    return begun_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<clock::time_point> begun_;
};

double measure(caf::actor_system& system) {
  std::array<double, 15> times;
  for (auto& time : times) {
    auto job = caf::make_counted<probe>();
    job->ref(); // held by the scheduler
    auto enqueued = clock::now();
    system.scheduler().enqueue(job.get());
    auto begun = job->wait();
    if (!begun)
      return typical_cost;
    time = std::chrono::duration<double, std::nano>(*begun - enqueued).count();
  }
  std::ranges::nth_element(times, times.begin() + times.size() / 2);
  return std::clamp(times[times.size() / 2], 1'000.0, 200'000.0);
}

} // namespace

double dispatch_cost(caf::actor_system& system) {
  static std::mutex mutex;
  static std::optional<double> measured;
  std::lock_guard guard{mutex};
  if (!measured)
    measured = measure(system);
  return *measured;
}

region_options region_options_for(caf::actor_system& system, size_t threads) {
  region_options options{.workers = static_cast<int>(threads)};
  if (options.workers > 1)
    options.dispatch_ns = dispatch_cost(system);
  return options;
}

} // namespace troupe
