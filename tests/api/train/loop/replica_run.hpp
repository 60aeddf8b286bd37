// A run of replicas on a thread of its own, beside the test.
#pragma once
#include "tests/api/train/loop/regression.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace troupe::test {

// Runs replicas on a thread, and collects their events.
class replica_run {
public:
  explicit replica_run(replicas_options& options) {
    options.on_event = [this](const replica_event& event) {
      std::lock_guard guard{mutex_};
      events_.push_back(event);
      changed_.notify_all();
    };
    options.on_step = [this](const training_progress& now) {
      std::lock_guard guard{mutex_};
      ++steps_[now.replica];
      step_ = std::max(step_, now.step);
      changed_.notify_all();
    };
  }
  ~replica_run() { // also after a failed test
    if (done_.valid())
      training_->request_stop();
  }
  replicas& start(const replicas_options& options, session& s) {
    training_.emplace(regression::build, options);
    done_ = std::async(std::launch::async, [&] {
      try {
        return training_->run(s);
      } catch (const error& thrown) {
        std::lock_guard guard{mutex_};
        failure_ = thrown.what();
        changed_.notify_all();
        throw;
      }
    });
    return *training_;
  }
  replicas_report end() { return done_.get(); }

  // Waits until the event has happened to the replica that many times.
  bool await(replica_event_kind event_kind, int replica, int64_t times = 1) {
    return await([=, this] {
      return std::ranges::count_if(events_, [&](const replica_event& event) {
               return event.kind == event_kind && event.replica == replica;
             }) >= times;
    });
  }
  // Waits until there were that many events of these kinds.
  bool await_any(std::initializer_list<replica_event_kind> kinds, int64_t times) {
    std::vector<replica_event_kind> kinds_awaited{kinds};
    return await([=, this] {
      return std::ranges::count_if(events_, [&](const replica_event& event) {
               return std::ranges::find(kinds_awaited, event.kind) != kinds_awaited.end();
             }) >= times;
    });
  }
  bool await_step(int64_t step) {
    return await([=, this] { return step_ >= step; });
  }
  bool await_steps_of(size_t replica, int64_t step_count) {
    auto before = steps_of(replica);
    return await([=, this] { return steps_[replica] >= before + step_count; });
  }
  int64_t step() {
    std::lock_guard guard{mutex_};
    return step_;
  }
  int64_t steps_of(size_t replica) {
    std::lock_guard guard{mutex_};
    return steps_[replica];
  }
  int64_t count(replica_event_kind event_kind) {
    std::lock_guard guard{mutex_};
    return std::ranges::count(events_, event_kind, &replica_event::kind);
  }
  bool tells(std::string_view part) {
    std::lock_guard guard{mutex_};
    return std::ranges::any_of(events_, [&](const replica_event& event) {
      return event.text.find(part) != std::string::npos;
    });
  }

private:
  bool await(const std::function<bool()>& is_true) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::seconds{30},
                      [&] { return is_true() || !failure_.empty(); });
    UNSCOPED_INFO(failure_);
    return is_true();
  }

  std::optional<replicas> training_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<replica_event> events_;
  std::map<size_t, int64_t> steps_;
  int64_t step_ = 0;
  std::string failure_; // the error that ended the run
  std::future<replicas_report> done_;
};

} // namespace troupe::test
