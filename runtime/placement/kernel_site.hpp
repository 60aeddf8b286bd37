// Decides which nodes of an accelerator's partition run on the host, and what must lie where.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/placement/place.hpp"

#include <vector>

namespace troupe {

/// How a node can run on a device of that kind.
enum class kernel_site : uint8_t {
  none,    ///< not at all
  device,  ///< by a kernel of the device
  host,    ///< by a processor's kernel, beside the device: it looks at no elements, or at few
  boundary ///< it is no kernel's: a feed, a fetch, a send, a variable
};

/// Of a node alone, whatever is around it. For processors that is `device` where there is a kernel.
/// Queues and what waits for them live on processors, but for those that name a GPU and only hand
/// on their elements, which lie in its memory then.
kernel_site site_of(const node& node, device_kind kind);

/// Of nodes that are ordered by dependence. Where the device is a processor, all is on the host.
class kernel_sites {
public:
  kernel_sites(const graph& of, device_kind kind); ///< of one partition
  /// Of a placed step (place.hpp): what comes from another device comes to the host's memory.
  kernel_sites(const graph& of, const std::vector<int>& chosen, const device_list& devices);

  /// Whether a processor's kernel runs the node.
  bool runs_on_host(const node& node) const { return on_host_[static_cast<size_t>(node.id())]; }
  /// Whether the tensor lies in the host's memory: made there, fed, or received. What is received,
  /// or taken from a queue, may also have come to the device already.
  bool lies_on_host(edge what) const;
  /// Whether the node wants the input in the host's memory. What leaves the partition takes either.
  bool wants_on_host(const node& node, int input) const;
  bool wants_on_device(const node& node, int input) const;

private:
  template <class KindOf, class Crosses>
  void find(const graph& of, KindOf kind_of, Crosses crosses);
  bool on_processor(const node& node) const {
    return on_processor_[static_cast<size_t>(node.id())];
  }

  std::vector<bool> on_host_, on_processor_;
};

} // namespace troupe
