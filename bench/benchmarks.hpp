// The benchmarks. Their names are stable: results of different versions are compared by them.
#pragma once

namespace troupe::bench {

void register_dispatch(); ///< dispatch/...: what running a node costs
void register_run();      ///< run/...: what running a step costs
void register_exchange(); ///< exchange/...: what moving a tensor between two processes costs

/// Serves as one task for exchange/..., in a process of its own, until it is killed.
int serve_task(const char* cluster, int task);

} // namespace troupe::bench
