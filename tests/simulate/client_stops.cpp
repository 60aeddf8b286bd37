// Callers that have had enough of what they have asked for (run_options::stop).
#include "tests/simulate/client_host.hpp"

#include <algorithm>

namespace troupe::simulate {

using namespace std::chrono_literals;

namespace {

// Tasks have two seconds to stop, and then nobody waits for them.
constexpr duration stop_bound = 2s + 200ms;

} // namespace

/// A run that may be stopped, and who waits for its answer now.
struct client_host::stopping {
  std::stop_source source;
  uint64_t wait = 0;
};

client_host::stopping_ptr client_host::draw_stop(const std::string& what) {
  if (calm_ || !stop_chance_.permille(core_.with.stops))
    return nullptr;
  auto made = std::make_shared<stopping>();
  core_.after(stop_chance_.between(duration{0}, 100ms),
              [=, this, generation = generation_] { stop(what, made, generation); });
  return made;
}

void client_host::stop(const std::string& what, const stopping_ptr& which, uint64_t generation) {
  if (generation != generation_ || core_.found())
    return;
  if (process_->wakes() > core_.now) // its caller is paused as well
    return core_.at(process_->wakes(), [=, this] { stop(what, which, generation); });
  core_.tell(name(), "stops", what);
  process_->enter(core_.now);
  which->source.request_stop();
  if (auto it = waits_.find(which->wait); it != waits_.end())
    it->second.bound = std::min(it->second.bound, core_.now + stop_bound);
}

std::stop_token client_host::token_of(const stopping_ptr& which, uint64_t wait) {
  if (!which)
    return {};
  which->wait = wait;
  return which->source.get_token();
}

bool client_host::was_stopped(const stopping_ptr& which, const status& why) {
  return which && which->source.stop_requested() && why.kind() == error_kind::cancelled &&
         why.message().find("the caller stopped the run") != std::string::npos;
}

} // namespace troupe::simulate
