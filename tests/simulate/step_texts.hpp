// The graphs that simulated clients run.
#pragma once
#include "tests/simulate/layout.hpp"
#include "tests/simulate/ledger.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/actors/base/session_messages.hpp"

namespace troupe::simulate {

/// What holds the elements of a server's put and take.
enum class holder_kind : uint8_t { fifo, padding, barrier, stage, shuffle, priority, map_stage };
/// What else a server holds.
enum class extra_kind : uint8_t { accumulator, mutex, own_queue };

/// What all clients use there.
struct server_kinds {
  holder_kind holder = holder_kind::fifo;
  extra_kind extra = extra_kind::accumulator;

  static server_kinds draw(uint64_t seed, int server);
  bool in_order() const { return holder <= holder_kind::stage; }
  size_t may_stay() const { return holder == holder_kind::shuffle; } ///< when it is drained
  /// put and take, and what the extra adds.
  std::vector<run_kind> runs() const;
};

/// A kind of step of one client. Nodes have the same names in all of them; `factor` differs, so
/// that a step that is mistaken for another gives another result.
struct step_text {
  run_kind kind;
  int server = -1; ///< the process; -1: all servers
  int64_t factor = 1;
  std::vector<int> processes; ///< that take part, the client's included
  int slots = 0;
  test::text_case text;

  int64_t expected(uint64_t run) const;
};

/// What goes to a server has so many elements of four bytes, if any: then it is no scalar.
step_text make_step(run_kind kind, const layout& of, const server_kinds& there, int client,
                    int worker, int server, int64_t factor, int elements);

} // namespace troupe::simulate
