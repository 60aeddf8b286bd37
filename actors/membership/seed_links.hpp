// The connections of a membership to the seeds of its cluster, and to its coordinator
// (docs/decisions/056).
#pragma once
#include "troupe/actors/membership/membership.hpp"
#include "troupe/runtime/cluster/call_pause.hpp"

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/event_based_actor.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace troupe {

/// Membership -> itself: call a seed again, unless it was called meanwhile.
struct call_seed {
  size_t seed; ///< index of its link
  uint64_t calls;
};

/// Calls each seed until it answers, and again after its connection has ended. Runs on the thread
/// of the membership.
class seed_links {
public:
  struct transport {
    /// Calls once. connected() gets the result, with a task without a job and the seed's number.
    std::function<void(dial_result call, std::shared_ptr<std::atomic<bool>> stop)> dial;
    /// Spawns the exchange of a connection.
    std::function<caf::actor(dial_result&)> open;
    /// Returns whether this process has a connection to a coordinator other than itself.
    std::function<bool()> follows;
  };

  seed_links(caf::event_based_actor* self, const std::vector<std::string>& seeds,
             const std::string& own_address, transport calls);
  ~seed_links();
  seed_links(const seed_links&) = delete;
  seed_links& operator=(const seed_links&) = delete;

  void call_all();
  /// Handles the end of a call.
  void connected(dial_result& call);
  /// Makes the next call to a seed, after a pause.
  void call(const call_seed& due);
  /// Handles the end of an exchange.
  void lost(const caf::actor_addr& exchange);
  /// Keeps a connection to the address as to a seed, until the next call of this function.
  void keep(const std::string& address);
  /// Calls the address again now if it waits for its next call, because the task may be back.
  void expect(const std::string& address);
  /// Calls all seeds again now if this process has lost its connection to the coordinator.
  void check_coordinator();
  /// Returns whether the exchange leads to the first seed.
  bool is_first(const caf::actor_addr& exchange) const;
  /// Returns the open exchanges, which the membership must end.
  std::vector<caf::actor> exchanges() const;

private:
  struct link {
    std::string address;
    bool wanted = true;       // false: the link to a former coordinator that is no seed
    bool calling = false;     // a call has not ended, or the next one is scheduled
    bool waiting = false;     // the next call is scheduled
    caf::actor exchange = {}; // null without a connection
    std::shared_ptr<std::atomic<bool>> stop = std::make_shared<std::atomic<bool>>(false);
    call_pause pause = {};
    uint64_t calls = 0; // scheduled calls
    // The begin of the last call, or the end of the last connection.
    std::chrono::steady_clock::time_point called = {};
  };

  void dial(size_t index);
  void schedule_call(size_t index);
  void expect(size_t index);

  caf::event_based_actor* self_;
  const std::vector<std::string> seeds_;
  const std::string own_address_;
  const transport transport_;
  std::vector<link> links_; // of the seeds without this task, and of coordinators
  bool followed_ = false;   // the last result of transport::follows
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::call_seed)
