#include "troupe/runtime/state/replica_clock.hpp"

#include <algorithm>

namespace troupe {

void replica_clock::set_step(request_id request, int64_t step, answers& done) {
  if (step < 0) {
    done.push_back(
        {request, invalid("replica clock '", name(), "': a step is at least 0, got ", step)});
    return;
  }
  step_ = step;
  done.push_back({request, {}});
  serve(done);
}

void replica_clock::await_step(request_id request, int64_t known_step, answers& done) {
  waiting_.push_back({request, -1, known_step});
  serve(done);
}

bool replica_clock::is_valid(request_id request, int64_t replica, answers& done) const {
  if (replica >= 0 && replica < replicas_)
    return true;
  done.push_back({request, invalid("replica clock '", name(), "': there is no replica ", replica,
                                   " of ", replicas_)});
  return false;
}

int64_t replica_clock::slowest() const {
  auto least = std::ranges::min_element(steps_, {}, [](const auto& entry) { return entry.second; });
  return least == steps_.end() ? 0 : least->second;
}

void replica_clock::join(request_id request, int64_t replica, answers& done) {
  if (!is_valid(request, replica, done))
    return;
  steps_.try_emplace(replica, slowest());
  done.push_back({request, {}});
}

void replica_clock::leave(request_id request, int64_t replica, answers& done) {
  if (replica == -1)
    steps_.clear();
  else if (!is_valid(request, replica, done))
    return;
  else
    steps_.erase(replica);
  done.push_back({request, {}});
  serve(done);
}

void replica_clock::tick(request_id request, int64_t replica, int64_t lead, answers& done) {
  if (!is_valid(request, replica, done))
    return;
  if (lead < 0) {
    done.push_back(
        {request, invalid("replica clock '", name(), "': a lead is at least 0, got ", lead)});
    return;
  }
  ++steps_.try_emplace(replica, slowest()).first->second;
  waiting_.push_back({request, replica, lead});
  serve(done);
}

void replica_clock::serve(answers& done) {
  auto slowest_step = slowest();
  std::erase_if(waiting_, [&](const pending& request) {
    auto answered_step = step_;
    if (request.replica < 0) {
      if (step_ < 0 || step_ == request.limit)
        return false;
    } else if (auto entry = steps_.find(request.replica); entry != steps_.end()) {
      if (entry->second - slowest_step > request.limit)
        return false;
      answered_step = entry->second;
    } else { // the replica has left while it waited
      answered_step = slowest_step;
    }
    done.push_back({request.id, {}, {tensor::scalar(answered_step)}});
    return true;
  });
}

status replica_clock::declare_again(const waitable_resource& other) const {
  auto redeclared = static_cast<const replica_clock&>(other).replicas_;
  if (redeclared == replicas_)
    return {};
  return invalid("replica clock '", name(), "' exists for ", replicas_,
                 " replicas, and is declared again for ", redeclared);
}

void replica_clock::cancel(const request_filter& selected, const status& reason, answers& done) {
  fail_requests(waiting_, selected, reason, done);
}

void replica_clock::reset(const status& reason, answers& done) {
  fail_requests(waiting_, request_filter::every(), reason, done);
  step_ = -1;
  steps_.clear();
}

std::string replica_clock::describe() const {
  std::string text = step_ < 0 ? "no step yet" : concat("step ", step_);
  if (!steps_.empty()) {
    auto steps_of = [](const auto& entry) { return entry.second; };
    auto slow = std::ranges::min_element(steps_, {}, steps_of);
    auto fast = std::ranges::max_element(steps_, {}, steps_of);
    text = concat(steps_.size(), " replicas, the slowest, ", slow->first, ", has done ",
                  slow->second, " steps, the fastest ", fast->second);
  }
  return waiting_.empty() ? text : concat(text, ", ", waiting_.size(), " wait");
}

} // namespace troupe
