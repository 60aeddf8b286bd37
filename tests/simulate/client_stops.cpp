// Callers that stop their requests (run_options::stop).
#include "tests/simulate/client_host.hpp"

#include <algorithm>

namespace troupe::simulate {

using namespace std::chrono_literals;

namespace {

// Tasks have two seconds to stop; after that, callers are answered without them.
constexpr duration stop_bound = 2s + 200ms;

} // namespace

/// A request that may be stopped, and the wait for its answer.
struct client_host::stopping {
  std::stop_source source;
  uint64_t wait = 0;
};

client_host::stopping_ptr client_host::draw_stop(const std::string& description) {
  if (calm_ || !stop_chance_.permille(core_.settings.stops))
    return nullptr;
  auto new_stop = std::make_shared<stopping>();
  core_.after(stop_chance_.between(duration{0}, 100ms),
              [=, this, generation = generation_] { stop(description, new_stop, generation); });
  return new_stop;
}

void client_host::stop(const std::string& description, const stopping_ptr& may_stop,
                       uint64_t generation) {
  if (generation != generation_ || core_.violation())
    return;
  if (process_->wakes() > core_.now) // its caller is paused as well
    return core_.at(process_->wakes(), [=, this] { stop(description, may_stop, generation); });
  core_.tell(name(), "stops", description);
  process_->enter(core_.now);
  may_stop->source.request_stop();
  if (auto wait = waits_.find(may_stop->wait); wait != waits_.end())
    wait->second.bound = std::min(wait->second.bound, core_.now + stop_bound);
}

std::stop_token client_host::token_of(const stopping_ptr& may_stop, uint64_t wait) {
  if (!may_stop)
    return {};
  may_stop->wait = wait;
  return may_stop->source.get_token();
}

bool client_host::was_stopped(const stopping_ptr& may_stop, const status& outcome) {
  return may_stop && may_stop->source.stop_requested() && outcome.kind() == error_kind::cancelled &&
         outcome.message().find("the caller stopped the run") != std::string::npos;
}

} // namespace troupe::simulate
