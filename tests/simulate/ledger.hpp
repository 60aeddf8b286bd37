// What really happened, as the kernels of steps tell it, against what clients were told.
#pragma once
#include "tests/simulate/core.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <map>
#include <set>
#include <span>

namespace troupe::simulate {

/// put_own, take_own and shut use a queue of the client's own container, which is closed now and
/// then; put and take one of several kinds that all clients share.
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

/// One run of a step, as its client sees it. Its number is fed to the step, and is its mark in what
/// the step leaves behind: an element of a queue, a line of the ledger.
struct run_record {
  uint64_t number = 0;
  run_kind kind = run_kind::update;
  int client = 0;
  int server = -1;                        ///< the process with the state; -1: all servers
  std::vector<int> processes;             ///< that take part, the client's included
  int slots = 0;                          ///< how many Tally nodes it has
  std::map<int64_t, int64_t> wanted = {}; ///< of a program: how often each slot runs
  uint64_t state_since = 0;               ///< of a program: order() as its state was made
  time_point issued{}, deadline{}, answered{};
  bool is_answered = false, succeeded = false;
  bool told_doubt = false;                  ///< that what it took may be spent although it failed
  uint64_t session = 0;                     ///< which of its client's
  std::map<int64_t, int64_t> executed = {}; ///< slots, and how often
  std::map<size_t, uint64_t> ran_on = {};   ///< incarnations of processes
  std::map<size_t, uint64_t> met = {};      ///< the newest that its session had used before
  uint64_t entered = 0, left = 0;           ///< when it got a lock, and last needed it
  int64_t replica = -1;                     ///< of training: whose gradient it gives
  int64_t label = 0;                        ///< of training: the step that it is for
  int64_t least = 0;                        ///< of training: gradients that an update needs
  std::vector<int64_t> taken = {};          ///< of a chief of training: runs of replicas, or 0
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
  /// How often each slot ran since it was asked last, as an interpreter runs a program.
  std::map<int64_t, int64_t> interpreted() { return std::exchange(interpreted_, {}); }
  static constexpr size_t interpreter = SIZE_MAX; ///< its process
  /// A process begins.
  void started(size_t process, uint64_t incarnation);

  // Of training, whose chief is one at a time. An initialisation may happen late, or not.
  void doubt_training();
  void began_training(const run_record& by);
  /// A chief's step has ended well, and left this in the variable: the sums of gradients of steps
  /// that ended well, and maybe those of steps that did not.
  void trained(const run_record& by, const tensor& variable);

  // What clients hear.
  void succeeded(run_record& run);
  void read(const run_record& run, int64_t value);
  void dequeued(const run_record& by, int64_t element);
  /// The shared queue of a server is empty, but for so many. `in_order`: it gives elements in the
  /// order in which they came.
  void drained(int server, uint64_t incarnation, size_t may_stay, bool in_order);
  /// The accumulator of a server is empty.
  void gathered(int server, uint64_t incarnation);
  /// Grows with what happens.
  uint64_t order() const noexcept { return order_; }
  /// Whether a client has closed its queue on a server.
  bool was_shut(int client, int server) const;

private:
  struct cell_event {
    int64_t what;
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
  bool may_have_taken(const place& at, int64_t element, const taking& before) const;
  void check_update(const run_record& by, const place& at, std::span<const int64_t> taken);
  bool is_in_doubt(const run_record& run) const;
  int64_t most_of(const run_record& run, int64_t slot) const;
  bool is_complete(const run_record& run) const;

  core& core_;
  std::deque<run_record> runs_;
  std::map<cell_key, std::vector<cell_event>> cells_;
  std::map<int64_t, uint64_t> dequeued_; // by whom, as clients were told
  std::map<place, std::vector<taking>> takings_;
  std::map<place, std::vector<gathering>> gatherings_;
  std::map<place, std::vector<uint64_t>> entries_; // to the mutex, by run
  std::map<place, uint64_t> starts_;
  std::map<std::pair<int, uint64_t>, std::map<size_t, uint64_t>> met_; // by client and session
  std::map<int64_t, int64_t> interpreted_;
  std::map<place, int64_t> latest_label_;          // of what was taken there
  std::set<std::pair<place, int64_t>> trained_by_; // gradients, by run
  struct {
    std::vector<int64_t> value; // of the variable when it was seen last; empty: not known
    uint64_t incarnation = 0;
    std::set<uint64_t> open; // chiefs' runs that may be in it, or may come to be
    time_point doubted{};    // an initialisation has failed
  } training_;
  uint64_t order_ = 0, last_start_ = 0;
};

} // namespace troupe::simulate
