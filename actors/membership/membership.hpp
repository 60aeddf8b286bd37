// Membership knows who is in the cluster, and how to reach them.
#pragma once
#include "troupe/actors/base/fwd.hpp"
#include "troupe/actors/membership/join_options.hpp"
#include "troupe/runtime/cluster/incarnations.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/types/status.hpp"
#include "troupe/serialization/discovery/address_source.hpp"

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

class byte_stream;
class cluster_view; // serialization/discovery/cluster_view.hpp
class io_loop;
class socket_handle;
class tls_identity;
struct exchange_options;

/// Dialer -> membership: a connection, or why there was none until the deadline. No answer.
struct dialed {
  task_name to; ///< without a job: a seed of that number, whichever task it is
  std::chrono::steady_clock::time_point deadline;
  status outcome;
  std::shared_ptr<socket_handle> socket;
  std::string address = {};                                  ///< that was called
  std::shared_ptr<std::unique_ptr<byte_stream>> stream = {}; ///< over TLS, in the socket's place
  std::string access_token = {};                             ///< to be shown there
  bool once = false;                                         ///< whoever calls tries again itself
};

/// Reader -> membership: what the source of addresses says now. No answer.
struct source_read {
  result<task_addresses> says;
};

/// Membership -> who watches it, where tasks may come and go: all there are now. No answer.
struct tasks_known {
  std::vector<task_name> tasks;
};

/// How a membership reaches the world; tests have their own.
struct membership_ways {
  /// Calls that address until the deadline, or until `stop`; sends `dialed` to the membership.
  std::function<void(caf::actor_system&, dialed call, const std::string& address,
                     std::shared_ptr<std::atomic<bool>> stop, const caf::actor& reply)>
      dial;
  /// Makes a connection an exchange.
  std::function<caf::actor(caf::actor_system&, dialed&, exchange_options)> open;
  /// Reads the source; sends `source_read` to the membership. None: read_on_a_thread.
  std::function<void(caf::actor_system&, const std::shared_ptr<address_source>&,
                     const caf::actor& reply)>
      read = {};
};

void read_on_a_thread(caf::actor_system& system, const std::shared_ptr<address_source>& source,
                      const caf::actor& reply);

/// How the ends of connections trust each other.
struct connection_trust {
  std::shared_ptr<tls_identity> tls = {}; ///< all connections are over TLS
  bool insecure = false;                  ///< else other machines are not spoken to without it
  /// Told once when one is; any thread.
  std::function<void(const std::string&)> on_warning = {};
};

/// Sockets, which that loop waits for.
membership_ways usual_ways(std::shared_ptr<io_loop> loop, connection_trust trust = {});

struct membership_options {
  cluster_access cluster; ///< read again and again where it may change
  std::string role;       ///< "task" or "client"
  task_name self;         ///< of a task
  uint64_t incarnation = 0;
  std::chrono::milliseconds peer_timeout{10'000};
  caf::actor owner;                         ///< of the exchanges: the worker; nobody in a client
  std::shared_ptr<step_server> server;      ///< of a task
  std::shared_ptr<incarnations> known = {}; ///< of a task: shared with its listener
  membership_ways ways = {};                ///< by default the usual ones, with a loop of their own
  connection_trust trust = {};              ///< of the usual ways that are made by default
  bool near_memory = true;                  ///< as in exchange_options
  bool own_thread = false;                  ///< it does not wait behind kernels
  std::shared_ptr<cluster_view> view = {};  ///< where to say which tasks there are
  join_options join = {};                   ///< with seeds: the cluster is joined
};

/// Two tasks have one connection, as a rule: one that the other has made serves as well, and of two
/// that need each other one waits a moment for the other's call. Who calls at once all the same has
/// a connection of their own; none is closed for that.
///
/// Understands connect_request: answers with a link whose peer has introduced itself as the task,
/// or with `unavailable` after the deadline at the latest (`not_found` where no source has named
/// the task by then). A link serves until its connection ends. Who is called at an address that
/// changes is called at the new one; a connection that stands is kept. In a cluster that is joined
/// it keeps a connection to each seed, and ends with an error where this task has been replaced.
caf::actor spawn_membership(caf::actor_system& system, membership_options options);

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::dialed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::source_read)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tasks_known)
