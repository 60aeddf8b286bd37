// The benchmarks. Their names are stable: results of different versions, and of the rivals in
// rivals/, are compared by them.
#pragma once
#include "troupe/api/error.hpp"
#include "troupe/api/session.hpp"

namespace troupe::bench {

void register_dispatch();    ///< dispatch/...: what running a node costs
void register_run();         ///< run/...: what running a step costs
void register_elementwise(); ///< elementwise/...: ten ops on one vector
void register_matmul();      ///< matmul/...: ours, and onednn/...: what oneDNN needs for the same
void register_conv2d();      ///< conv2d/...: one convolution or gradient of one
void register_int8();        ///< int8/...: products and convolutions of bytes
void register_bandwidth(); ///< stream/...: plain loops; and ops that are bound by memory like them
void register_train();     ///< mlp/..., lenet/... and so on: training steps
void register_softmax();   ///< softmax/...: the last layer of a language model
void register_control_flow(); ///< flow/...: turns of loops
void register_queue();        ///< queue/...: elements from step to step
void register_input();        ///< input/...: records of files, decoded and batched
void register_files();        ///< files/...: checkpoints, records and their checksums
void register_save();     ///< save/..., steps/...: checkpoints beside training, steps side by side
void register_exchange(); ///< exchange/...: what moving a tensor between two processes costs
void register_wire();     ///< wire/...: what a plain loop over a connection takes for as much
void register_cluster();  ///< cluster/...: steps over several tasks, and tasks that come back
void register_collective(); ///< collective/...: tasks that reduce tensors together

void register_replicas();  ///< replicas/...: training by several workers
void register_placement(); ///< place/...: where nodes go, receive/...: when tensors do

/// For one op and for ops side by side, in all local sessions of the benchmarks; 0 is one per core.
extern int threads;
/// How many GPUs sessions use; with some, only training steps are measured, in larger batches.
extern int gpus;
/// Whether GPUs get what they repeat as one launch, and whether a thread of their own launches.
extern int replay, launch_threads;
/// Whether the cost model chooses between a GPU and the processor; 0: all that can runs on the GPU.
extern int place_by_cost;
/// Whether training steps are fed; 0: their batches are constants of the graph.
extern int feed;
/// How many ops, and nodes, are printed that kept the GPU busy longest in a training step.
extern int slowest;
/// What products of f32 may be rounded to: "f32", "tf32" (on GPUs), "bf16" or "f16".
extern std::string_view precision;
session_options options();

/// Serves as one task for exchange/..., in a process of its own, until it is killed.
int serve_task(const char* cluster, int task, const std::string& carrier);

/// Takes 50 steps of the training case of that name and prints how much memory the process ever
/// held, as JSON. For a fresh process. Throws troupe::error where there is no such case.
void print_peak_memory(const char* net);

/// Prints the number of parameters and the losses of the first two steps, as JSON: the rivals must
/// compute the same. Throws troupe::error where there is no such case.
void print_losses(const char* net);

/// What a benchmark cannot go on without: throws.
inline void must(const status& done) { throw_if_failed(done); }
template <class T>
T must(result<T> made) {
  return value_or_throw(std::move(made));
}

} // namespace troupe::bench
