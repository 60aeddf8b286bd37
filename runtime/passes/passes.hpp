// The passes over the graph of a step, and the order in which they are run (docs/passes.md).
#pragma once
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/passes/functions.hpp"
#include "troupe/runtime/passes/pass_options.hpp"
#include "troupe/runtime/placement/partition.hpp"

namespace troupe {

/// Lets ops that are declared so (effect::autocast_allow) take and give `type`, a float of 16 bits,
/// instead of f32, and inserts the casts that are needed for it. What is fetched, kept in variables
/// or computed by other ops stays f32.
void mix_precision(step_graph& of, dtype type);

/// Makes a product of matrices or a convolution, a bias that is added to it and a Relu after that
/// one node, where the device has a kernel that does all of it as it writes the result: GPUs do,
/// and processors for convolutions.
void fuse_bias_activation(step_graph& of, device_kind on);

/// Computes nodes whose inputs are constant, or known in type and shape where that is all they look
/// at. Keeps a node whose kernel fails, so that it fails when it is run, and one whose value is
/// large. Once `stop` is due, it keeps all that are left.
void fold_constants(step_graph& of, device& host, stop_signal* stop = nullptr);

/// Asks each op for something simpler that gives the same (op_def::simplify).
void simplify(step_graph& of);

/// Makes nodes that compute the same one node (Click 1995: value numbering over the whole graph).
void merge_equal_nodes(step_graph& of);

/// Drops what no fetch, target or effect needs. Control edges pass through nodes that only order
/// others.
void remove_dead_nodes(step_graph& of);

/// Makes trees of element-wise ops one node each, of op _Fused. For a partition: its device must
/// have kernels with inner loops.
void fuse_elementwise(step_graph& of, device_kind on);

/// Orders the nodes so that the estimated peak of live bytes is not higher than before, and lower
/// where a greedy order finds a way. Reads and updates of one variable keep their order.
void schedule_for_memory(step_graph& of);

/// Puts collective operations and sends, and what is computed right before for them alone, right
/// behind what they need: they begin while the rest is computed.
void hoist_collectives(step_graph& of);

/// Computes before each loop what is the same in all of its turns; a frame's functions stay as they
/// are. The nodes that it adds are calls and branches for inline_calls(). Returns whether there are
/// some. `host` computes conditions that are constant.
result<bool> hoist_invariants(step_graph& of, const frame_rule& is_frame, device* host,
                              stop_signal* stop = nullptr);

/// What the swap pass has done, by its estimates.
struct swap_report {
  size_t tensors = 0;
  int64_t bytes = 0;             ///< of these
  size_t late = 0;               ///< of these: their copies begin too late to end in time
  int64_t peak = 0, reduced = 0; ///< live bytes at most, before and after; variables included
};

/// Lets long-lived tensors of a GPU's partition spend the time between two uses in the host's
/// memory: inserts _SwapOut after the first, and _SwapIn and _Swapped before the second. The order
/// of the nodes is that of the launches. No node comes to depend, through other devices, on what it
/// did not depend on.
swap_report swap_long_lived(step_graph& of, const swap_options& options);

/// What the order of nodes needs at its peak: bytes of all tensors that are alive at once, as far
/// as shapes are known. An element of unknown shape counts as one.
int64_t estimated_peak(const graph& of);

/// Runs the passes that see the whole step, before it is placed. `host` runs what is constant;
/// without one nothing is folded, nor is anything more once `stop` is due. Fails, and leaves no
/// graph to use, where a pass or a function of an op that it calls is wrong. `devices` are those of
/// the session: they decide what runs as a frame.
status optimize(step_graph& of, const pass_options& options, device* host,
                stop_signal* stop = nullptr, const device_list& devices = {});

/// Runs the passes that need to know the device, after the step was cut. Fails likewise.
status optimize(partition& part, const pass_options& options);

} // namespace troupe
