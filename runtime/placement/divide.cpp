#include "troupe/runtime/placement/divide.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/placement/cost.hpp"
#include "troupe/runtime/placement/kernel_site.hpp"
#include "troupe/runtime/placement/minimum_cut.hpp"

#include <cmath>
#include <map>

namespace troupe {
namespace {

// A tensor of the host that a kernel beside a GPU looks at, or an order: a message between threads.
constexpr int64_t message = 2000;

// Divides the nodes that may choose between one GPU and its processor, so that the sum of all times
// is least: those of nodes, and those of tensors that go from one to the other. What is somewhere
// else is left out: it is as far from both.
class divider {
public:
  divider(const graph& of, rivals between, const placing& how, std::vector<int>& chosen,
          const std::vector<bool>& may_choose)
      : of_(of), between_(between), how_(how), chosen_(chosen), may_choose_(may_choose) {}

  // The processor is the first side: what is as good on both goes to the GPU.
  void run() {
    for (const auto& node : of_.nodes())
      add(*node);
    for (const auto& node : of_.nodes())
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
    auto here = chosen_[static_cast<size_t>(node.id())];
    auto on = [&](device_kind kind) {
      // Beside a GPU runs what processors run.
      auto kept = site_of(node, kind) == kernel_site::host ? device_kind::cpu : kind;
      // What a GPU counts goes to the host before it goes on.
      auto waits = kept == device_kind::gpu && has(node.op().effects, effect::data_dependent_shape);
      return std::llround(expected_nanoseconds(node, kept, how_.measured) +
                          (waits ? expected_download(dtype::i64, partial_shape{1}) : 0));
    };
    if (is_free(node.id()))
      items_[node.id()] = cut_.add_item(on(device_kind::cpu), on(device_kind::gpu));
    else if (here == between_.processor || internal_ops::is_boundary(node))
      items_[node.id()] = cut_.add_item(0, minimum_cut::never);
    else if (here == between_.gpu)
      items_[node.id()] = cut_.add_item(minimum_cut::never, 0);
  }

  void connect(const node& node) {
    auto here = items_.find(node.id());
    if (here == items_.end())
      return;
    for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
      const auto& from = node.inputs()[static_cast<size_t>(i)];
      auto there = items_.find(from.node->id());
      if (there == items_.end() || node.input_is_ref(i) || goes_along(*from.node))
        continue;
      auto looked_at =
          site_of(node, device_kind::gpu) == kernel_site::host || node.input_port(i).on_host;
      if (looked_at)
        cut_.part(there->second, here->second, message);
      else
        cut_.part(uploaded(from, there->second), here->second, minimum_cut::never);
      cut_.part(here->second, downloaded(from, there->second), minimum_cut::never);
    }
    for (auto* before : node.controls())
      if (auto there = items_.find(before->id()); there != items_.end() && !goes_along(*before)) {
        cut_.part(there->second, here->second, message);
        cut_.part(here->second, there->second, message);
      }
  }

  static bool goes_along(const node& node) {
    return internal_ops::is_constant(node) && node.controls().empty();
  }

  // However many want it on the other side, a tensor goes there once: they share an item that must
  // be paid for to be there.
  size_t uploaded(edge what, size_t from) {
    return once(uploads_, what, [&](size_t copy) {
      cut_.part(from, copy, std::llround(expected_upload(what.type(), what.dims())));
    });
  }
  size_t downloaded(edge what, size_t from) {
    return once(downloads_, what, [&](size_t copy) {
      cut_.part(copy, from, std::llround(expected_download(what.type(), what.dims())));
    });
  }

  using copies = std::map<std::pair<int, int>, size_t>; // by node and output
  template <class Pay>
  size_t once(copies& of, edge what, Pay pay) {
    auto [it, fresh] = of.try_emplace({what.node->id(), what.index});
    if (fresh) {
      it->second = cut_.add_item(0, 0);
      pay(it->second);
    }
    return it->second;
  }

  const graph& of_;
  const rivals between_;
  const placing& how_;
  std::vector<int>& chosen_;
  const std::vector<bool>& may_choose_;
  minimum_cut cut_;
  std::map<int, size_t> items_; // by node
  copies uploads_, downloads_;
};

} // namespace

void divide(const graph& of, rivals between, const placing& how, std::vector<int>& chosen,
            const std::vector<bool>& may_choose) {
  divider{of, between, how, chosen, may_choose}.run();
}

} // namespace troupe
