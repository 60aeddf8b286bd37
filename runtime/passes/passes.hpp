// The passes over the graph of a step, and the order in which they run (docs/passes.md).
#pragma once
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/passes/functions.hpp"
#include "troupe/runtime/passes/pass_options.hpp"
#include "troupe/runtime/placement/partition.hpp"

namespace troupe {

/// Lets ops with effect::autocast_allow use `type`, a 16-bit float, instead of f32, and inserts the
/// casts that this needs. Fetched values, variables and the results of other ops stay f32.
void mix_precision(step_graph& step, dtype type);

/// Fuses a product of matrices or a convolution, the addition of a bias and a following Relu into
/// one node, if the device has a kernel that computes all of it as it writes the result. GPUs have
/// such kernels, and CPUs for convolutions.
void fuse_bias_activation(step_graph& step, device_kind kind);

/// Computes nodes whose inputs are constant, and nodes that read only types and shapes if these are
/// known. Keeps a node whose kernel fails, so that it fails when it runs, and a node with a large
/// value. Once `stop` is due, keeps all remaining nodes.
void fold_constants(step_graph& step, device& host, stop_signal* stop = nullptr);

/// Calls each op's simplify function, which may return a simpler equivalent (op_def::simplify).
void simplify(step_graph& step);

/// Merges nodes that compute the same (Click 1995: value numbering over the whole graph).
void merge_equal_nodes(step_graph& step);

/// Removes nodes that no fetch, target or effect needs. Replaces control edges through nodes that
/// only order others by direct ones.
void remove_dead_nodes(step_graph& step);

/// Fuses trees of element-wise ops into one node each, of op _Fused. For a partition whose device
/// has kernels with inner loops.
void fuse_elementwise(step_graph& step, device_kind kind);

/// Reorders the nodes if a greedy order lowers the estimated peak of live bytes. Reads and updates
/// of one variable keep their order.
void schedule_for_memory(step_graph& step);

/// Moves collective operations and sends, and the nodes directly before them that serve only them,
/// directly after their dependencies, so that they start while other nodes are computed.
void hoist_collectives(step_graph& step);

/// Computes the invariants of each loop before it. Functions of frames are not changed. The added
/// nodes are calls and branches for inline_calls(). Returns whether any were added. `host` computes
/// constant conditions.
result<bool> hoist_invariants(step_graph& step, const frame_rule& is_frame, device* host,
                              stop_signal* stop = nullptr);

/// The estimated effect of the swap pass.
struct swap_report {
  size_t tensors = 0;
  int64_t bytes = 0;                  ///< of these tensors
  size_t late = 0;                    ///< tensors whose copies start too late to end in time
  int64_t peak = 0, reduced_peak = 0; ///< the peak of live bytes before and after, with variables
};

/// Moves long-lived tensors of a GPU's partition to host memory between two uses: inserts _SwapOut
/// after the first use, and _SwapIn and _Swapped before the second. The order of the nodes is that
/// of the launches. No node gains a dependency through another device.
swap_report swap_long_lived(step_graph& step, const swap_options& options);

/// Returns the peak of the bytes of all live tensors in the order of the nodes, as far as shapes
/// are known. Unknown extents count as 1.
int64_t estimated_peak(const graph& source);

/// Runs the passes over a complete step, before placement. `host` computes constants; without a
/// host, and once `stop` is due, nothing is folded. Fails, and leaves an unusable graph, if a pass
/// or an op's function that it calls has a defect. `devices` are those of the session: they
/// determine which nodes run as frames.
status optimize(step_graph& step, const pass_options& options, device* host,
                stop_signal* stop = nullptr, const device_list& devices = {});

/// Runs the passes that depend on the device, after the step has been partitioned. Fails likewise.
status optimize(partition& part, const pass_options& options);

} // namespace troupe
