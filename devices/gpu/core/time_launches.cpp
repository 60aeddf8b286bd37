#include "troupe/devices/gpu/core/time_launches.hpp"

#include <memory>

namespace troupe::gpu {
namespace {

// Goes when it is not needed any more, whatever happens.
class timed_event {
public:
  explicit timed_event(driver& of) : of_(of) {}
  timed_event(const timed_event&) = delete;
  timed_event& operator=(const timed_event&) = delete;
  ~timed_event() {
    if (made_)
      of_.destroy(made_);
  }
  status record(stream in) {
    if (!made_) {
      TROUPE_ASSIGN(made_, of_.make_timed_event());
    }
    return of_.record(made_, in);
  }
  event get() const { return made_; }

private:
  driver& of_;
  event made_ = nullptr;
};

} // namespace

result<std::vector<int64_t>> time_launches(driver& on, stream in, int times,
                                           const std::function<status()>& launch,
                                           std::chrono::microseconds at_most) {
  TROUPE_TRY(launch());
  // One event between two launches: all are queued before the first has ended, as far as they are
  // longer than it takes to launch them.
  std::vector<std::unique_ptr<timed_event>> places;
  for (int i = 0; i <= times; ++i) {
    if (i > 0)
      TROUPE_TRY(launch());
    places.push_back(std::make_unique<timed_event>(on));
    TROUPE_TRY(places.back()->record(in));
  }
  TROUPE_ASSIGN(auto passed, on.wait(places.back()->get(), at_most));
  if (!passed)
    return failure(error_kind::deadline_exceeded, "the GPU did not come to what was launched in ",
                   at_most.count() / 1000, " ms");
  std::vector<int64_t> taken;
  for (size_t i = 1; i < places.size(); ++i) {
    TROUPE_ASSIGN(auto one, on.elapsed(places[i - 1]->get(), places[i]->get()));
    taken.push_back(one);
  }
  return taken;
}

} // namespace troupe::gpu
