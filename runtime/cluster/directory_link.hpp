// The links of a directory: which lists are to be sent, and which were received.
#pragma once
#include "troupe/runtime/cluster/directory_table.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace troupe {

/// The lists to the process at the other end of a link.
class directory_output {
public:
  using time_point = directory_table::time_point;

  directory_output(const directory_limits& limits, time_point now)
      : limits_(limits), next_list_(now) {}

  /// The row of that process has changed, or whether it is listed.
  void touch(uint64_t process) { unsent_.insert(process); }
  /// Begins a complete list of all these processes.
  void restart(std::set<uint64_t> processes);
  bool has_unsent() const noexcept { return restarts_ || !unsent_.empty(); }
  /// Returns the next list if it is due. `is_listed`: whether the other end is to see the row.
  std::optional<directory_list> next_list(const directory_table& table,
                                          const std::function<bool(uint64_t process)>& is_listed,
                                          time_point now);
  /// The sequence number of the last list.
  uint64_t sequence() const noexcept { return sequence_; }

private:
  const directory_limits limits_;
  time_point next_list_;
  uint64_t sequence_ = 0;
  std::set<uint64_t> unsent_;   // processes
  bool restarts_ = false;       // the next list is the first part of a complete one
  bool sends_complete_ = false; // a part of a complete list was sent, and others follow
};

/// The lists of the process at the other end of a link.
class directory_input {
public:
  using time_point = directory_table::time_point;

  explicit directory_input(const directory_limits& limits) : limits_(limits) {}

  /// Accepts the list that follows the last one, or a complete list. If a list was lost, requests
  /// a complete one. `listed`: the processes that the sender lists so far.
  bool accept(const directory_list& received, const std::set<uint64_t>& listed);
  /// Returns the processes that a complete list, now received in full, does not have.
  std::set<uint64_t> take_unlisted(const directory_list& received);
  void accept(const directory_beat& received);
  /// Whether a complete list has arrived from a sender that knows the tasks of the cluster.
  bool is_informed() const noexcept { return has_complete_ && sender_is_informed_; }

  void request_again() { wants_again_ = true; }
  /// Whether to request a complete list now.
  bool take_again(time_point now);

private:
  const directory_limits limits_;
  uint64_t sequence_ = 0;             // of the last list
  bool receives_complete_ = false;    // a part of a complete list has arrived, and others follow
  std::set<uint64_t> not_yet_listed_; // in the complete list, of those that were listed before
  bool has_complete_ = false, sender_is_informed_ = false;
  bool wants_again_ = false;
  time_point next_again_ = {};
};

/// A link, and the process at its other end.
class directory_link {
public:
  using time_point = directory_table::time_point;

  directory_link(const directory_limits& limits, time_point now)
      : output(limits, now), input(limits), limits_(limits), began_at_(now), heard_at_(now),
        next_beat_(now) {}

  /// The addresses by which this process has called the other one.
  std::vector<std::string> called_addresses = {};
  /// Set by its hello.
  std::optional<directory_role> role = {};
  uint64_t process = 0;

  directory_output output;
  directory_input input;

  /// A message has come.
  void heard(time_point now) { heard_at_ = now; }
  /// This process could not hear the other one until now.
  void restart_times(time_point now) { began_at_ = heard_at_ = now; }
  /// Fails if the other end is silent, or has not introduced itself in time.
  status check_silence(time_point now) const;
  /// Whether a beat is due, which is then counted as sent.
  bool take_beat(time_point now);
  /// Whether to send a complete list that is requested: not more often than twice a beat.
  bool grant_again(time_point now);
  bool is_informed() const { return role == directory_role::node && input.is_informed(); }

private:
  const directory_limits limits_;
  time_point began_at_, heard_at_, next_beat_, next_grant_ = {};
};

/// The links of a directory, by number.
class directory_links : public std::map<directory_table::link, directory_link> {
public:
  /// The number of links to each process that has introduced itself.
  const std::map<uint64_t, size_t>& peers() const noexcept { return peers_; }
  size_t count_to(uint64_t process) const;
  /// Whether a node that knows the tasks of the cluster has told them.
  bool are_informed() const;
  /// The number of further processes that a directory of this role may call.
  size_t room(directory_role role, const directory_limits& limits) const noexcept;

  void introduce(directory_link& to, directory_role role, uint64_t process);
  directory_link take(directory_table::link ended);
  /// As directory_output::touch(), for all links.
  void touch(uint64_t process);

private:
  std::map<uint64_t, size_t> peers_;
};

} // namespace troupe
