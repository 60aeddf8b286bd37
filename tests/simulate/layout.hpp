// The processes of the simulated cluster.
#pragma once

namespace troupe::simulate {

/// The number of processes of each kind, and their indices: tasks come first.
struct layout {
  int workers = 1, servers = 1, clients = 1;
  int worker(int i) const { return i; }
  int server(int i) const { return workers + i; }
  int client(int i) const { return workers + servers + i; }
  int processes() const { return workers + servers + clients; }
};

} // namespace troupe::simulate
