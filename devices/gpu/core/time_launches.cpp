#include "troupe/devices/gpu/core/time_launches.hpp"

#include <memory>

namespace troupe::gpu {
namespace {

// An event that is destroyed at the end of the scope.
class timed_event {
public:
  explicit timed_event(driver& owner) : owner_(owner) {}
  timed_event(const timed_event&) = delete;
  timed_event& operator=(const timed_event&) = delete;
  ~timed_event() {
    if (event_)
      owner_.destroy(event_);
  }
  status record(stream in) {
    if (!event_) {
      TROUPE_ASSIGN(event_, owner_.make_timed_event());
    }
    return owner_.record(event_, in);
  }
  event get() const { return event_; }

private:
  driver& owner_;
  event event_ = nullptr;
};

} // namespace

result<std::vector<int64_t>> time_launches(driver& target, stream in, int times,
                                           const std::function<status()>& launch,
                                           std::chrono::microseconds at_most) {
  TROUPE_TRY(launch());
  // One event between two launches. All launches are queued before the first has ended, if they are
  // longer than the time of a launch.
  std::vector<std::unique_ptr<timed_event>> events;
  for (int i = 0; i <= times; ++i) {
    if (i > 0)
      TROUPE_TRY(launch());
    events.push_back(std::make_unique<timed_event>(target));
    TROUPE_TRY(events.back()->record(in));
  }
  TROUPE_ASSIGN(auto passed, target.wait(events.back()->get(), at_most));
  if (!passed)
    return failure(error_kind::deadline_exceeded, "the GPU did not reach the launches within ",
                   at_most.count() / 1000, " ms");
  std::vector<int64_t> durations;
  for (size_t i = 1; i < events.size(); ++i) {
    TROUPE_ASSIGN(auto duration, target.elapsed(events[i - 1]->get(), events[i]->get()));
    durations.push_back(duration);
  }
  return durations;
}

} // namespace troupe::gpu
