// The benchmarks. Their names are stable: results of different versions, and of the rivals in
// rivals/, are compared by them.
#pragma once
#include "troupe/api/session.hpp"

namespace troupe::bench {

void register_dispatch();    ///< dispatch/...: what running a node costs
void register_run();         ///< run/...: what running a step costs
void register_elementwise(); ///< elementwise/...: ten ops on one vector
void register_matmul();      ///< matmul/...: ours, and onednn/...: what oneDNN needs for the same
void register_train();       ///< mlp/..., softmax_regression/...: training steps
void register_exchange();    ///< exchange/...: what moving a tensor between two processes costs

/// For one op and for ops side by side, in all local sessions of the benchmarks; 0 is one per core.
extern int threads;
session_options options();

/// Serves as one task for exchange/..., in a process of its own, until it is killed.
int serve_task(const char* cluster, int task);

/// Takes 50 steps of the training case of that name and prints how much memory the process ever
/// held, as JSON. For a fresh process.
int print_peak_memory(const char* name);

} // namespace troupe::bench
