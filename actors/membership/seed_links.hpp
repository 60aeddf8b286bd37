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

/// Membership -> itself: call a seed again, unless that was done meanwhile.
struct call_seed {
  size_t which;
  uint64_t calls;
};

/// Calls each until it answers, and again when the connection has ended. All on the thread of the
/// membership.
class seed_links {
public:
  struct way {
    /// Calls once; connected() is told, with a task that has no job and the number of the seed.
    std::function<void(dialed call, std::shared_ptr<std::atomic<bool>> stop)> dial;
    /// Makes a connection an exchange.
    std::function<caf::actor(dialed&)> open;
    /// Whether this process hears a coordinator, which is not itself.
    std::function<bool()> follows;
  };

  seed_links(caf::event_based_actor* self, const std::vector<std::string>& seeds,
             const std::string& own_address, way by);
  ~seed_links();
  seed_links(const seed_links&) = delete;
  seed_links& operator=(const seed_links&) = delete;

  void call_all();
  /// A call has ended; or it is time for the next one.
  void connected(dialed& what);
  void call(const call_seed& what);
  /// That exchange has ended.
  void lost(const caf::actor_addr& exchange);
  /// As to a seed, until another is to be kept.
  void keep(const std::string& address);
  /// Somebody may be there: who waits to call it again does so now.
  void expect(const std::string& address);
  /// The same of all, where this process hears its coordinator no more.
  void look();
  /// Whether that exchange leads to the first seed.
  bool is_first(const caf::actor_addr& exchange) const;
  /// What the membership ends with itself.
  std::vector<caf::actor> exchanges() const;

private:
  struct link {
    std::string address;
    bool wanted = true; // else it was the coordinator's, and is no seed
    bool calling = false, waiting = false;
    caf::actor exchange = {}; // none while there is no connection
    std::shared_ptr<std::atomic<bool>> stop = std::make_shared<std::atomic<bool>>(false);
    call_pause pause = {};
    uint64_t calls = 0;
    std::chrono::steady_clock::time_point called = {};
  };

  void dial(size_t which);
  void wait(size_t which);
  void expect(size_t which);

  caf::event_based_actor* self_;
  const std::vector<std::string> seeds_;
  const std::string own_address_;
  const way by_;
  std::vector<link> links_; // of the seeds that are others, and of coordinators
  bool followed_ = false;
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::call_seed)
