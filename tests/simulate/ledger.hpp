// The real effects of the kernels of steps, compared with the answers that clients got.
#pragma once
#include "tests/simulate/core.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <map>
#include <set>
#include <span>

namespace troupe::simulate {

/// put_own, take_own and shut use a queue of the client's own container, which is closed at times;
/// put and take use one of several kinds of resources that all clients share.
enum class run_kind : uint8_t {
  update,
  train,
  read,
  init,
  reduce,
  put,
  take,
  apply,
  collect,
  hold,
  put_own,
  take_own,
  shut,
  program,
  training
};
std::string_view to_string(run_kind kind);

/// One run of a step, as its client sees it. Its number is fed to the step, and marks the effects
/// of the step: an element of a queue, an entry of the ledger.
struct run_record {
  uint64_t number = 0;
  run_kind kind = run_kind::update;
  int client = 0;
  int server = -1;                          ///< the process with the state; -1: all servers
  std::vector<int> processes;               ///< the participants, including the client's
  int slots = 0;                            ///< the number of its Tally nodes
  std::map<int64_t, int64_t> expected = {}; ///< of a program: the expected runs of each slot
  uint64_t state_since = 0; ///< of a program: order() when its state was initialized
  time_point issued{}, deadline{}, answered{};
  bool is_answered = false, succeeded = false;
  bool reported_doubt = false;              ///< the error said that its element may be consumed
  uint64_t session = 0;                     ///< the session's number at its client
  std::map<int64_t, int64_t> executed = {}; ///< runs of each slot
  std::map<size_t, uint64_t> ran_on = {};   ///< the incarnation of each process
  std::map<size_t, uint64_t> met = {}; ///< the newest incarnation that its session had used before
  uint64_t entered = 0, left = 0;      ///< when it acquired a lock, and last needed it
  int64_t replica = -1;                ///< of training: the replica of its gradient
  int64_t label = 0;                   ///< of training: the step of its gradient
  int64_t min_gradients = 0;       ///< of training: the number of gradients that an update needs
  std::vector<int64_t> taken = {}; ///< of a training chief: the run of each replica, or 0
};

/// The op Tally(run, value) -> value records in the ledger that a step has reached this node.
class ledger {
public:
  explicit ledger(core& simulation) : core_(simulation) {}

  /// The library's ops, and Tally.
  static const registry& ops();
  static ledger* current; ///< the ledger that Tally writes to

  run_record& begin(run_record record);
  run_record& at(uint64_t number) { return runs_.at(number - 1); }

  enum event : int64_t {
    add,
    init_begin,
    init_end,
    took,
    came,
    collected,
    enter,
    leave,
    gathered_all,
    updated
  };
  void executed(size_t process, uint64_t incarnation, uint64_t run, int64_t slot, int64_t event,
                std::span<const int64_t> values);
  /// The runs of each slot since the last call, when an interpreter runs a program.
  std::map<int64_t, int64_t> interpreted() { return std::exchange(interpreted_, {}); }
  static constexpr size_t interpreter = SIZE_MAX; ///< the process number of the interpreter
  /// A process starts.
  void started(size_t process, uint64_t incarnation);

  // For training, which has one chief at a time. An initialization may take effect late, or not.
  void doubt_training();
  void began_training(const run_record& initializer);
  /// A chief's step has succeeded, and read this value of the variable: the sums of gradients of
  /// successful steps, and possibly of steps that failed.
  void trained(const run_record& chief, const tensor& variable);

  // The answers that clients receive.
  void succeeded(run_record& run);
  void read(const run_record& run, int64_t value);
  void dequeued(const run_record& taker, int64_t element);
  /// The shared queue of a server is empty, except for `may_stay` elements. `in_order`: it returns
  /// elements in insertion order.
  void drained(int server, uint64_t incarnation, size_t may_stay, bool in_order);
  /// The accumulator of a server is empty.
  void gathered(int server, uint64_t incarnation);
  /// A counter of events.
  uint64_t order() const noexcept { return order_; }
  /// Whether a client has closed its queue on a server.
  bool was_shut(int client, int server) const;

private:
  struct cell_event {
    int64_t kind;
    uint64_t run;
    time_point when;
  };
  using cell_key = std::tuple<int, size_t, uint64_t>; // client, process, incarnation
  using place = std::pair<size_t, uint64_t>;          // process, incarnation
  struct taking {
    int64_t element;
    uint64_t run;
    time_point when;
  };
  struct gathering {
    int64_t count, sum;
  };

  void check_order(const place& at) const;
  bool may_have_taken(const place& location, int64_t element, const taking& before) const;
  void check_update(const run_record& chief, const place& location, std::span<const int64_t> taken);
  bool is_in_doubt(const run_record& run) const;
  int64_t most_of(const run_record& run, int64_t slot) const;
  bool is_complete(const run_record& run) const;

  core& core_;
  std::deque<run_record> runs_;
  std::map<cell_key, std::vector<cell_event>> cells_;
  std::map<int64_t, uint64_t> dequeued_; // the run that took it, as answered
  std::map<place, std::vector<taking>> takings_;
  std::map<place, std::vector<gathering>> gatherings_;
  std::map<place, std::vector<uint64_t>> entries_; // to the mutex, by run
  std::map<place, uint64_t> starts_;
  std::map<std::pair<int, uint64_t>, std::map<size_t, uint64_t>> met_; // by client and session
  std::map<int64_t, int64_t> interpreted_;
  std::map<place, int64_t> latest_label_;          // of the gradients taken there
  std::set<std::pair<place, int64_t>> trained_by_; // gradients, by run
  struct {
    std::vector<int64_t> value; // the last known value of the variable; empty: unknown
    uint64_t incarnation = 0;
    std::set<uint64_t> open; // chiefs' runs that the variable may include, now or later
    time_point doubted{};    // when an initialization failed
  } training_;
  uint64_t order_ = 0, last_start_ = 0;
};

} // namespace troupe::simulate
