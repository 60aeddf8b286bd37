// The messages between the directories of the nodes of a cluster: its tasks, and their addresses.
#pragma once
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

/// A task of a process.
struct directory_task {
  task_name task;
  std::string address; ///< "host:port" of Troupe's protocol
  uint64_t incarnation = 0;
  bool is_claimed = false; ///< another process may still get the number
  bool operator==(const directory_task&) const = default;
};

/// A process, as it describes itself. No other process changes its row.
struct directory_row {
  uint64_t process = 0;                ///< a random number
  uint64_t version = 0;                ///< rises with each change
  std::vector<std::string> nodes = {}; ///< "host:port", at which nodes call it; a guest has none
  std::vector<directory_task> tasks = {};
  bool operator==(const directory_row&) const = default;
};

/// A node has links to all other nodes. A guest has links to a few nodes, and passes nothing on.
enum class directory_role : uint8_t { node, guest };

/// The first message of each end of a link.
struct directory_hello {
  directory_role role = directory_role::node;
  std::string cluster = {}; ///< the name of the cluster
  directory_row own = {};
};

/// The changes since the last list of the link: rows that are new or have changed, and processes
/// whose rows the sender lists no longer.
///
/// A *complete* list replaces all earlier lists of the link, and may take several messages. It also
/// has the rows that the sender still knows but does not list. Their processes are both in `rows`
/// and in `lost`: the receiver uses only the incarnations of their tasks.
struct directory_list {
  uint64_t sequence = 0;    ///< 1, 2, ... on each link
  bool is_informed = false; ///< the sender knows the tasks of the cluster
  bool is_complete = false; ///< the first message of a complete list
  bool has_more = false;    ///< a message that continues the list follows
  std::vector<directory_row> rows = {};
  std::vector<uint64_t> lost = {}; ///< the sender has no link to them any longer
  std::vector<uint64_t> left = {}; ///< they have said that they end
};

/// A sign of life.
struct directory_beat {
  uint64_t sequence = 0;    ///< of the last list: the receiver notices a list that was lost
  bool is_informed = false; ///< as in a list
};

/// Requests a hello and the complete list, because a message was lost.
struct directory_again {};

/// The sender ends.
struct directory_leave {};

/// The sender closes the link.
struct directory_refusal {
  status reason;
};

using directory_message = std::variant<directory_hello, directory_list, directory_beat,
                                       directory_again, directory_leave, directory_refusal>;

/// Limits and times of a directory. They are the same in all processes of a cluster.
struct directory_limits {
  size_t nodes = 64;         ///< of a cluster
  size_t guests = 1024;      ///< of a node
  size_t links_of_guest = 3; ///< a guest has links to so many nodes
  size_t tasks_of_process = 64;
  size_t tasks = 65'536;          ///< of a cluster; also the limit of its processes
  size_t endpoints = 4;           ///< addresses of a node
  size_t calls = 8;               ///< that a directory makes at the same time
  size_t list_bytes = 256 * 1024; ///< of one message; a row may exceed them
  std::chrono::milliseconds beat{1'000};
  /// A link is closed after a time without a message, or without a hello.
  std::chrono::milliseconds silent{3'000}, introduction{2'000};
  /// A row that no link lists any longer stays for this time.
  std::chrono::milliseconds keep{10'000};
  /// A task number is granted if no other process has claimed it by then.
  std::chrono::milliseconds settle{1'000};
  std::chrono::milliseconds batch{100}; ///< between two lists on a link
  /// A node that was lost is called for this time.
  std::chrono::milliseconds remember{600'000};
};

} // namespace troupe
