// What really happened, as the kernels of steps tell it, against what clients were told.
#pragma once
#include "tests/simulate/core.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <map>
#include <set>

namespace troupe::simulate {

enum class run_kind : uint8_t { update, train, read, init, put, take };
std::string_view to_string(run_kind kind);

/// One run of a step, as its client sees it. Its number is fed to the step, and is its mark in what
/// the step leaves behind: an element of a queue, a line of the ledger.
struct run_record {
  uint64_t number = 0;
  run_kind kind = run_kind::update;
  int client = 0;
  int server = -1;            ///< the process with the state; -1: all servers
  std::vector<int> processes; ///< that take part, the client's included
  int slots = 0;              ///< how many Tally nodes it has
  time_point issued{}, deadline{}, answered{};
  bool is_answered = false, succeeded = false;
  uint64_t incarnation = 0;        ///< of the server, when it was issued
  std::set<int64_t> executed = {}; ///< slots
};

/// The op Tally(run, value) -> value tells the ledger that a step has come so far.
class ledger {
public:
  explicit ledger(core& of) : core_(of) {}

  /// The library, and Tally.
  static const registry& ops();
  static ledger* current; ///< that Tally writes to

  run_record& begin(run_record what);
  run_record& at(uint64_t number) { return runs_.at(number - 1); }

  enum event : int64_t { add = 0, init_begin = 1, init_end = 2, took = 3 };
  void executed(size_t process, uint64_t incarnation, uint64_t run, int64_t slot, int64_t event,
                int64_t value);

  // What clients hear. The incarnation is that of the server when the answer came.
  void succeeded(run_record& run);
  void read(const run_record& run, int64_t value, uint64_t incarnation);
  void dequeued(const run_record& by, int64_t element);
  /// The queue of a server is empty. `came_to_steps`: elements that queues have given to steps that
  /// still ran; nothing where that was not counted.
  void drained(int server, uint64_t incarnation, std::optional<uint64_t> came_to_steps);

  uint64_t count(run_kind kind, bool succeeded) const;

private:
  struct cell_event {
    int64_t what;
    uint64_t run;
    time_point when;
  };
  using cell_key = std::tuple<int, size_t, uint64_t>; // client, process, incarnation

  core& core_;
  std::deque<run_record> runs_;
  std::map<cell_key, std::vector<cell_event>> cells_;
  std::set<int64_t> dequeued_, taken_; // as clients were told; as kernels saw
  uint64_t missing_ = 0;               // of the queues that were drained
};

} // namespace troupe::simulate
