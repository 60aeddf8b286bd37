// A run of replicas beside a test.
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

// Runs it on a thread of its own, and says what happens to it.
class replica_run {
public:
  explicit replica_run(replicas_options& how) {
    how.on_event = [this](const replica_event& what) {
      std::lock_guard guard{mutex_};
      events_.push_back(what);
      changed_.notify_all();
    };
    how.on_step = [this](const training_progress& now) {
      std::lock_guard guard{mutex_};
      ++steps_[now.replica];
      step_ = std::max(step_, now.step);
      changed_.notify_all();
    };
  }
  ~replica_run() { // also after a test that has failed
    if (done_.valid())
      training_->request_stop();
  }
  replicas& start(const replicas_options& how, session& in) {
    training_.emplace(regression::build, how);
    done_ = std::async(std::launch::async, [&] {
      try {
        return training_->run(in);
      } catch (const error& why) {
        std::lock_guard guard{mutex_};
        failure_ = why.what();
        changed_.notify_all();
        throw;
      }
    });
    return *training_;
  }
  replicas_report end() { return done_.get(); }

  // Until that has happened to a replica, so often.
  bool await(replica_event::kind what, int replica, int64_t times = 1) {
    return await([=, this] {
      return std::ranges::count_if(events_, [&](const replica_event& one) {
               return one.what == what && one.replica == replica;
             }) >= times;
    });
  }
  // Until there were so many events of these kinds.
  bool await_any(std::initializer_list<replica_event::kind> kinds, int64_t times) {
    std::vector<replica_event::kind> of{kinds};
    return await([=, this] {
      return std::ranges::count_if(events_, [&](const replica_event& one) {
               return std::ranges::find(of, one.what) != of.end();
             }) >= times;
    });
  }
  bool await_step(int64_t step) {
    return await([=, this] { return step_ >= step; });
  }
  bool await_steps_of(size_t replica, int64_t more) {
    auto before = steps_of(replica);
    return await([=, this] { return steps_[replica] >= before + more; });
  }
  int64_t step() {
    std::lock_guard guard{mutex_};
    return step_;
  }
  int64_t steps_of(size_t replica) {
    std::lock_guard guard{mutex_};
    return steps_[replica];
  }
  int64_t count(replica_event::kind what) {
    std::lock_guard guard{mutex_};
    return std::ranges::count(events_, what, &replica_event::what);
  }
  bool tells(std::string_view part) {
    std::lock_guard guard{mutex_};
    return std::ranges::any_of(events_, [&](const replica_event& one) {
      return one.text.find(part) != std::string::npos;
    });
  }

private:
  bool await(const std::function<bool()>& that) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::seconds{30}, [&] { return that() || !failure_.empty(); });
    UNSCOPED_INFO(failure_);
    return that();
  }

  std::optional<replicas> training_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<replica_event> events_;
  std::map<size_t, int64_t> steps_;
  int64_t step_ = 0;
  std::string failure_; // why it has ended
  std::future<replicas_report> done_;
};

} // namespace troupe::test
