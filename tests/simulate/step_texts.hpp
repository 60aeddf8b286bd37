// The graphs that simulated clients run.
#pragma once
#include "tests/simulate/ledger.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/actors/session_messages.hpp"

namespace troupe::simulate {

/// How many processes of each kind there are, and their numbers: tasks come first.
struct layout {
  int workers = 1, servers = 1, clients = 1;
  int worker(int i) const { return i; }
  int server(int i) const { return workers + i; }
  int client(int i) const { return workers + servers + i; }
  int processes() const { return workers + servers + clients; }
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
step_text make_step(run_kind kind, const layout& of, int client, int worker, int server,
                    int64_t factor, int elements);

} // namespace troupe::simulate
