// The content of `troupe top`: an overview of a cluster, from two inspections of it.
#pragma once
#include "troupe/api/cli/top/wait_report.hpp"

#include <string>
#include <vector>

namespace troupe {

/// The kinds that an inspection of the cluster, of depth 4, must include.
inline constexpr const char* kinds_of_frames =
    "device,link,hosted_session,client,step,wait,container,queue,accumulator,barrier,staging_area,"
    "mutex,reader,file_access";

struct task_row {
  std::string task;
  std::string problem; ///< why it could not be queried; the other members are empty then
  bool draining = false, is_initialized = true;
  double uptime = 0;      ///< seconds
  double steps_rate = 0;  ///< per second, as all rates
  double failed_rate = 0; ///< of steps
  double in_rate = 0, out_rate = 0;
  double busy = 0; ///< processors
  int64_t running = 0, connections = 0;
  uint64_t queued = 0; ///< bytes that wait to be sent
  uint64_t resident = 0, device_bytes = 0;
};

struct queue_row {
  std::string task, name; ///< "container/name", or the name in the default container
  int64_t size = 0;
  double mean_size = 0;
  double puts_rate = 0, takes_rate = 0;        ///< of enqueues and dequeues
  int64_t puts_waiting = 0, takes_waiting = 0; ///< numbers of waiting enqueues and dequeues
};

struct link_row {
  std::string task, peer; ///< "/job:worker/task:1", "client 5"
  double last_heard = 0;  ///< seconds ago
  double in_rate = 0, out_rate = 0;
  uint64_t queued = 0;
};

/// A session that a task hosts.
struct session_row {
  std::string task, client;
  double age = 0; ///< seconds
  double steps_rate = 0, failed_rate = 0;
  int64_t running = 0, queued_steps = 0;
  uint64_t bytes = 0; ///< of graphs and feeds
};

/// A member of a joined cluster that is not present.
struct member_row {
  std::string member, presence, incarnation, address;
};

/// The membership list of a joined cluster, in numbers.
struct member_counts {
  std::string coordinator; ///< that decides the list; empty: the cluster is not joined
  int64_t change = 0;      ///< number of changes of the list since its coordinator began
  int64_t present = 0, unreachable = 0, left = 0, gone = 0;
};

/// Seconds without a message after which a link is shown although it carries nothing. By default,
/// idle peers send each 3 to 5 s, and are given up after 10.
inline constexpr double silent_after = 5;

struct cluster_frame {
  double seconds = 0; ///< between the two inspections
  std::vector<task_row> tasks;
  std::vector<queue_row> queues;     ///< ordered by the number of waiting operations
  std::vector<session_row> sessions; ///< the busiest first
  std::vector<link_row> links;       ///< silent ones first, then those with traffic or queued bytes
  member_counts members;
  std::vector<member_row> away; ///< members that are unreachable, have left, or are gone
  std::vector<wait_summary> waits;
};

/// Computes rates over the time between the two inspections; for a task that was restarted or added
/// meanwhile, since its start.
cluster_frame compare(const inspection& before, const inspection& now, double seconds);

/// Prints tables, with at most `max_lines` lines for each of queues, links and waits.
std::string print(const cluster_frame& frame, size_t max_lines);

/// "512 B", "1.2 MB".
std::string bytes_text(double bytes);

} // namespace troupe
