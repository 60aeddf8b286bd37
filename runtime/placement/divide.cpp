#include "troupe/runtime/placement/divide.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/placement/cost.hpp"
#include "troupe/runtime/placement/kernel_site.hpp"
#include "troupe/runtime/placement/minimum_cut.hpp"

#include <cmath>
#include <map>

namespace troupe {
namespace {

// A message between threads: for a tensor that a kernel on the host reads, or for a control edge.
constexpr int64_t message = 2000;

// Divides the nodes that may choose between a GPU and its host's processor so that the total time
// of nodes and copies between the two is minimal. Nodes on other devices are ignored: they are
// equally far from both.
class divider {
public:
  divider(const graph& placed, gpu_and_host between, const place_options& options,
          std::vector<int>& chosen, const std::vector<bool>& may_choose)
      : graph_(placed), between_(between), options_(options), chosen_(chosen),
        may_choose_(may_choose) {}

  // The processor is the first side of the cut, so that ties go to the GPU.
  void run() {
    for (const auto& node : graph_.nodes())
      add(*node);
    for (const auto& node : graph_.nodes())
      connect(*node);
    auto on_processor = cut_.solve();
    for (const auto& [id, item] : items_)
      if (is_free(id))
        chosen_[static_cast<size_t>(id)] = on_processor[item] ? between_.processor : between_.gpu;
  }

private:
  bool is_free(int id) const {
    return may_choose_[static_cast<size_t>(id)] && chosen_[static_cast<size_t>(id)] == between_.gpu;
  }

  void add(const node& node) {
    auto device = chosen_[static_cast<size_t>(node.id())];
    auto cost_on = [&](device_kind kind) {
      // A node on the host of a GPU runs at the processor's speed.
      auto site_kind = site_of(node, kind) == kernel_site::host ? device_kind::cpu : kind;
      // A GPU must send the extents that it has counted to the host before it continues.
      auto waits =
          site_kind == device_kind::gpu && has(node.op().effects, effect::data_dependent_shape);
      return std::llround(expected_nanoseconds(node, site_kind, options_.measured) +
                          (waits ? expected_download(dtype::i64, partial_shape{1}) : 0));
    };
    if (is_free(node.id()))
      items_[node.id()] = cut_.add_item(cost_on(device_kind::cpu), cost_on(device_kind::gpu));
    else if (device == between_.processor || internal_ops::is_boundary(node))
      items_[node.id()] = cut_.add_item(0, minimum_cut::never);
    else if (device == between_.gpu)
      items_[node.id()] = cut_.add_item(minimum_cut::never, 0);
  }

  void connect(const node& node) {
    auto item = items_.find(node.id());
    if (item == items_.end())
      return;
    for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
      const auto& from = node.inputs()[static_cast<size_t>(i)];
      auto source = items_.find(from.node->id());
      if (source == items_.end() || node.input_is_ref(i) || is_replicated(*from.node))
        continue;
      auto read_by_host =
          site_of(node, device_kind::gpu) == kernel_site::host || node.input_port(i).on_host;
      if (read_by_host)
        cut_.add_cost(source->second, item->second, message);
      else
        cut_.add_cost(uploaded(from, source->second), item->second, minimum_cut::never);
      cut_.add_cost(item->second, downloaded(from, source->second), minimum_cut::never);
    }
    for (auto* before : node.controls())
      if (auto source = items_.find(before->id());
          source != items_.end() && !is_replicated(*before)) {
        cut_.add_cost(source->second, item->second, message);
        cut_.add_cost(item->second, source->second, message);
      }
  }

  static bool is_replicated(const node& node) {
    return internal_ops::is_constant(node) && node.controls().empty();
  }

  // A tensor is copied once, however many nodes need it on the other side: they share an item that
  // pays for the copy.
  size_t uploaded(edge value, size_t source) {
    return once(uploads_, value, [&](size_t copy) {
      cut_.add_cost(source, copy, std::llround(expected_upload(value.type(), value.dims())));
    });
  }
  size_t downloaded(edge value, size_t source) {
    return once(downloads_, value, [&](size_t copy) {
      cut_.add_cost(copy, source, std::llround(expected_download(value.type(), value.dims())));
    });
  }

  using copies = std::map<std::pair<int, int>, size_t>; // by node and output
  template <class Pay>
  size_t once(copies& known, edge value, Pay pay) {
    auto [copy, is_new] = known.try_emplace({value.node->id(), value.index});
    if (is_new) {
      copy->second = cut_.add_item(0, 0);
      pay(copy->second);
    }
    return copy->second;
  }

  const graph& graph_;
  const gpu_and_host between_;
  const place_options& options_;
  std::vector<int>& chosen_;
  const std::vector<bool>& may_choose_;
  minimum_cut cut_;
  std::map<int, size_t> items_; // by node
  copies uploads_, downloads_;
};

} // namespace

void divide(const graph& placed, gpu_and_host between, const place_options& options,
            std::vector<int>& chosen, const std::vector<bool>& may_choose) {
  divider{placed, between, options, chosen, may_choose}.run();
}

} // namespace troupe
