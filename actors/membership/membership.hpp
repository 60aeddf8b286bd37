// The membership: the actor that knows the tasks of a cluster and connects to them.
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

/// Dialer -> membership: a connection, or why there was none by the deadline. No answer.
struct dial_result {
  task_name to; ///< without a job: the seed of that number, whichever task runs there
  std::chrono::steady_clock::time_point deadline;
  status outcome;
  std::shared_ptr<socket_handle> socket;
  std::string address = {};                                  ///< that was called
  std::shared_ptr<std::unique_ptr<byte_stream>> stream = {}; ///< with TLS, instead of the socket
  std::string access_token = {};                             ///< to be sent to the peer
  bool single_attempt = false;                               ///< one attempt; the caller retries
};

/// Reader -> membership: what the address source has returned. No answer.
struct address_update {
  result<task_addresses> addresses;
};

/// Membership -> its watcher, in a cluster that may change: all tasks of the cluster. No answer.
struct task_list {
  std::vector<task_name> tasks;
};

/// The transport of a membership; tests replace it. Its functions are called on the thread of an
/// actor and must not block.
struct membership_transport {
  /// Calls the address until the deadline or `stop`; sends `dial_result` to the membership.
  std::function<void(caf::actor_system&, dial_result call, const std::string& address,
                     std::shared_ptr<std::atomic<bool>> stop, const caf::actor& reply)>
      dial;
  /// Spawns the exchange of a connection.
  std::function<caf::actor(caf::actor_system&, dial_result&, exchange_options)> open;
  /// Reads the source; sends `address_update` to the membership. Default: read_on_new_thread.
  std::function<void(caf::actor_system&, const std::shared_ptr<address_source>&,
                     const caf::actor& reply)>
      read = {};
};

/// The default of membership_transport::read: reads the source on a new thread.
void read_on_new_thread(caf::actor_system& system, const std::shared_ptr<address_source>& source,
                        const caf::actor& reply);

/// How the ends of connections trust each other.
struct connection_trust {
  std::shared_ptr<tls_identity> tls = {}; ///< all connections use TLS
  bool insecure = false;                  ///< allows unencrypted connections to other machines
  /// Called once, for the first such connection. Any thread.
  std::function<void(const std::string&)> on_warning = {};
};

/// The transport over sockets, for which `loop` waits.
membership_transport socket_transport(std::shared_ptr<io_loop> loop, connection_trust trust = {});

struct membership_options {
  cluster_access cluster; ///< its source is read repeatedly if it may change
  std::string role;       ///< "task" or "client"
  task_name self;         ///< of a task
  uint64_t incarnation = 0;
  std::chrono::milliseconds peer_timeout{10'000};
  caf::actor owner;                    ///< of the exchanges: the worker; none in a client
  std::shared_ptr<step_server> server; ///< of a task
  std::shared_ptr<troupe::incarnations> incarnations = {}; ///< of a task: shared with its listener
  membership_transport transport = {};                     ///< default: sockets, with a new io_loop
  connection_trust trust = {};                             ///< of the default transport
  bool same_host_reads = true;                             ///< as in exchange_options
  bool share_io = true;    ///< the default transport's loop is io_loop::of(), else own()
  bool own_thread = false; ///< it has its own thread, and does not wait for kernels
  std::shared_ptr<cluster_view> view = {}; ///< receives the tasks of the cluster
  join_options join = {};                  ///< with seeds: tasks join the cluster
};

/// Spawns a membership.
///
/// Two tasks usually share one connection: a connection that the other task has opened serves as
/// well. If two tasks need each other, one of them first waits a second for the other's call. Tasks
/// that call at the same time nevertheless have two connections, and neither is closed.
///
/// Understands connect_request. Answers with a link to a peer that has introduced itself as the
/// task. After the deadline at the latest, answers with `unavailable`, or with `not_found` if no
/// source has named the task by then. A link serves until its connection ends. If the address of a
/// task changes, calls go to the new address, and an open connection is kept. In a cluster that
/// tasks join, the membership keeps a connection to each seed. It ends with an error if this task
/// has been replaced.
caf::actor spawn_membership(caf::actor_system& system, membership_options options);

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::dial_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::address_update)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::task_list)
