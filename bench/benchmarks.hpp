// The benchmarks. Their names are stable: results of different versions, and of the rivals in
// rivals/, are compared by them.
#pragma once
#include "troupe/api/error.hpp"
#include "troupe/api/session.hpp"

namespace troupe::bench {

void register_dispatch();     ///< dispatch/...: the cost of running a node
void register_run();          ///< run/...: the cost of running a step
void register_elementwise();  ///< elementwise/...: ten ops on a vector
void register_matmul();       ///< matmul/...: by a step, and onednn/...: by oneDNN alone
void register_conv2d();       ///< conv2d/...: a convolution or a gradient of a convolution
void register_int8();         ///< int8/...: products and convolutions of bytes
void register_bandwidth();    ///< stream/...: plain loops; and ops that are bound by memory too
void register_train();        ///< mlp/..., lenet/... and so on: training steps
void register_softmax();      ///< softmax/...: the last layer of a language model
void register_control_flow(); ///< flow/...: iterations of loops
void register_queue();        ///< queue/...: elements from step to step
void register_input();        ///< input/...: records of files, decoded and batched
void register_files();        ///< files/...: checkpoints, records and their checksums
void register_save();       ///< save/..., steps/...: checkpoints during training, concurrent steps
void register_exchange();   ///< exchange/...: the cost of moving a tensor between two processes
void register_wire();       ///< wire/...: plain loops that move as many bytes over a connection
void register_cluster();    ///< cluster/...: steps over several tasks, and tasks that restart
void register_collective(); ///< collective/...: all-reduce between tasks

void register_replicas();  ///< replicas/...: training by several workers
void register_placement(); ///< place/...: placement of nodes, receive/...: schedules of receives

/// Threads within an op and threads that run ops concurrently, in all local sessions; 0: a thread
/// per core.
extern int threads;
/// Number of GPUs that sessions use. If it is not 0, only training steps and element-wise ops are
/// measured, training steps with larger batches.
extern int gpus;
/// `replay`: whether GPUs record repeated work and launch it as one graph. `launch_threads`:
/// whether each GPU has a thread that launches.
extern int replay, launch_threads;
/// Whether the cost model chooses between a GPU and the CPU; 0: every node with a GPU kernel runs
/// on the GPU.
extern int place_by_cost;
/// Whether training steps are fed; 0: their batches are constants of the graph.
extern int feed;
/// Number of ops, and of nodes, to print: those that kept the GPU busy longest in a training step.
extern int slowest;
/// Precision of products of f32: "f32", "tf32" (on GPUs), "bf16" or "f16".
extern std::string_view precision;
session_options options();

/// Runs a task for exchange/..., in a process of its own, until the process is killed. `medium`:
/// empty for reads of peer memory, "by_socket", or a folder of certificates for TLS.
int serve_task(const char* cluster, int task, const std::string& medium);

/// Runs 50 steps of a training benchmark and prints the peak memory of the process as JSON. Needs a
/// fresh process. Throws troupe::error if there is no training benchmark `net`.
void print_peak_memory(const char* net);

/// Prints the number of parameters and the losses of the first two steps as JSON: the rivals must
/// compute the same. Throws troupe::error if there is no training benchmark `net`.
void print_losses(const char* net);

/// Throws troupe::error if an operation has failed that a benchmark depends on.
inline void must(const status& outcome) { throw_if_failed(outcome); }
template <class T>
T must(result<T> outcome) {
  return value_or_throw(std::move(outcome));
}

} // namespace troupe::bench
