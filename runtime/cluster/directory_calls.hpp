// Decides when a directory calls which node.
#pragma once
#include "troupe/runtime/cluster/call_pause.hpp"
#include "troupe/runtime/cluster/directory_message.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// Has the addresses that the text of the cluster names, and those of nodes that other nodes list.
/// An address is called until there is a link to its process. Knows no connections and no clock.
class directory_calls {
public:
  using time_point = std::chrono::steady_clock::time_point;
  using link_test = std::function<bool(uint64_t process)>;

  directory_calls(std::vector<std::string> named, uint64_t own_process,
                  const directory_limits& limits);

  /// A node with these addresses is listed. Of two nodes that learn of each other, the one with the
  /// lesser process number calls at once, and the other one later.
  void learn(uint64_t process, const std::vector<std::string>& addresses, time_point now);
  /// The node is not listed any longer. If it `left`, it is not called; otherwise it is called at
  /// long intervals, because it may have been cut off.
  void forget(uint64_t process, bool left, time_point now);

  /// Returns the addresses to call now. At most `room` calls are in progress at the same time.
  std::vector<std::string> take_due(time_point now, size_t room, const link_test& is_linked);
  /// A call has failed, or the process at the address is no directory of the cluster. `lasting`: an
  /// early repetition is useless.
  void failed(const std::string& address, const status& why, bool lasting, bool has_links,
              time_point now);
  /// The process at the address has introduced itself.
  void reached(const std::string& address, uint64_t process);
  /// This process itself is at the address.
  void reached_self(const std::string& address);
  /// The last link to a process was lost.
  void lost(uint64_t process, const status& why, bool lasting, bool has_links, time_point now);

  /// Whether the text of the cluster names an address of another process, or of this one.
  bool names_others() const { return names(false); }
  bool names_self() const { return names(true); }
  /// Whether a call is in progress, or due before `end`. `room` as in take_due().
  bool is_busy(time_point end, size_t room, const link_test& is_linked) const;
  /// The last error of each address.
  std::string problems() const;

private:
  struct call {
    std::string address;
    bool is_named = false;   // by the text of the cluster
    bool is_self = false;    // this process
    bool is_calling = false; // until the process at the address has introduced itself
    uint64_t process = 0;    // at the address; 0: unknown
    call_pause pause = {};
    time_point due = {}, began = {};
    std::optional<time_point> forget_at = {}; // its node is not listed any longer
    status why = {};                          // of the last failure
  };

  call* find(const std::string& address);
  bool names(bool self) const;
  void schedule(call& next, std::chrono::milliseconds call_time, bool lasting, bool has_links,
                time_point now);
  uint64_t random();

  const uint64_t own_process_;
  const directory_limits limits_;
  std::vector<call> calls_; // named addresses first
  uint64_t random_state_;
};

} // namespace troupe
