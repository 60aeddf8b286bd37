// Decides which nodes of an accelerator's partition run on the host, and where tensors must be.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/placement/place.hpp"

#include <vector>

namespace troupe {

/// How a node can run on a device of some kind.
enum class kernel_site : uint8_t {
  none,    ///< not at all
  device,  ///< by a kernel of the device
  host,    ///< by a processor's kernel on the device's host: it reads no elements, or few
  boundary ///< without a kernel: a feed, a fetch, a send, a variable
};

/// Considers the node alone. For processors the result is `device` if there is a kernel. Queues and
/// ops that wait for them are on processors, except queues that name a GPU and only pass their
/// elements on, which are then in its memory.
kernel_site site_of(const node& node, device_kind kind);

/// The sites of nodes in topological order. If the device is a processor, all are on the host.
class kernel_sites {
public:
  kernel_sites(const graph& placed, device_kind kind); ///< of one partition
  /// Of a placed step (place.hpp): tensors from another device arrive in the host's memory.
  kernel_sites(const graph& placed, const std::vector<int>& chosen, const device_list& devices);

  /// Returns whether a processor's kernel runs the node.
  bool runs_on_host(const node& node) const { return on_host_[static_cast<size_t>(node.id())]; }
  /// Returns whether the tensor is in the host's memory: computed there, fed, or received. A tensor
  /// that was received, or taken from a queue, may also be on the device already.
  bool lies_on_host(edge value) const;
  /// Return whether the node needs the input in the memory of the host, or of the device. Nodes
  /// that send it accept either.
  bool wants_on_host(const node& node, int input) const;
  bool wants_on_device(const node& node, int input) const;

private:
  template <class KindOf, class Crosses>
  void find(const graph& placed, KindOf kind_of, Crosses crosses);
  bool on_processor(const node& node) const {
    return on_processor_[static_cast<size_t>(node.id())];
  }

  std::vector<bool> on_host_, on_processor_;
};

} // namespace troupe
