// The graphs that simulated clients run.
#pragma once
#include "tests/simulate/layout.hpp"
#include "tests/simulate/ledger.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/actors/base/session_messages.hpp"

namespace troupe::simulate {

/// The resource that holds the elements of a server's put and take.
enum class holder_kind : uint8_t { fifo, padding, barrier, stage, shuffle, priority, map_stage };
/// The additional resource of a server.
enum class extra_kind : uint8_t { accumulator, mutex, own_queue };

/// The resources that all clients use on a server.
struct server_kinds {
  holder_kind holder = holder_kind::fifo;
  extra_kind extra = extra_kind::accumulator;

  static server_kinds draw(uint64_t seed, int server);
  bool in_order() const { return holder <= holder_kind::stage; }
  /// The number of elements that may remain after draining.
  size_t may_stay() const { return holder == holder_kind::shuffle; }
  /// put and take, and the kinds that the additional resource needs.
  std::vector<run_kind> runs() const;
};

/// A step of one client. Nodes have the same names in all steps; `factor` differs, so that a step
/// that is mistaken for another has a different result.
struct step_text {
  run_kind kind;
  int server = -1; ///< the process; -1: all servers
  int64_t factor = 1;
  std::vector<int> processes; ///< the participants, including the client's
  int slots = 0;
  test::text_case text;

  int64_t expected(uint64_t run) const;
};

/// With `elements`, tensors to the server have this many 4-byte elements; otherwise they are
/// scalars.
step_text make_step(run_kind kind, const layout& processes, const server_kinds& server_kind,
                    int client, int worker, int server, int64_t factor, int elements);

} // namespace troupe::simulate
