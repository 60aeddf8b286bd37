#include "troupe/runtime/epilogue.hpp"
#include "troupe/runtime/internal_ops.hpp"
#include "troupe/runtime/kernel.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"
#include "troupe/runtime/passes/variable_updates.hpp"
#include "troupe/runtime/registry.hpp"

#include <algorithm>

namespace troupe {
namespace {

class joiner {
public:
  joiner(step_graph& of, const kernel_def& by)
      : change_(of), by_(by), readers_(change_.nodes().size()),
        waited_for_(change_.nodes().size()) {
    for (auto* at : change_.nodes()) {
      for (const auto& input : at->inputs())
        readers_[id(*input.node)].push_back(at);
      for (auto* before : at->controls())
        waited_for_[id(*before)] = true;
      updates_.note(*at);
    }
  }

  void run() {
    for (auto* at : change_.nodes())
      if (has(at->op().effects, is_product))
        join(*at);
    change_.finish();
  }

private:
  static size_t id(const node& at) { return static_cast<size_t>(at.id()); }

  // Who alone sees the node's output.
  node* only_reader(const node& of) const {
    const auto& readers = readers_[id(of)];
    return readers.size() == 1 && !waited_for_[id(of)] && !change_.is_target(of) ? readers.front()
                                                                                 : nullptr;
  }

  // The other operand of a sum, where it is one number for each column of the product.
  static const edge* bias_of(const node& sum, const node& product) {
    if (!has(sum.op().effects, adds) || sum.inputs().size() != 2)
      return nullptr;
    const auto& other = sum.inputs()[sum.inputs()[0].node == &product ? 1 : 0];
    const auto &dims = product.output_shape(0), &bias = other.dims();
    auto fits = dims.has_rank() && dims.rank() == 2 && bias.has_rank() && bias.rank() == 1 &&
                bias[0] != unknown_extent && bias[0] == dims[1];
    return fits ? &other : nullptr;
  }

  void join(node& product) {
    auto* sum = only_reader(product);
    auto* bias = sum ? bias_of(*sum, product) : nullptr;
    if (!bias)
      return;
    auto* last = only_reader(*sum);
    if (!last || !has(last->op().effects, rectifies))
      last = sum;
    if (!updates_.reads_the_same_at(product, *last) || !updates_.reads_the_same_at(*sum, *last))
      return;
    std::vector<node*> members{&product, sum}, controls;
    if (last != sum)
      members.push_back(last);
    std::string origin{"joined from "};
    for (auto* one : members) {
      for (auto* before : one->controls())
        controls.push_back(change_.now({before, 0}).node);
      origin += concat(one == &product ? "" : ", ", one->description());
    }
    std::ranges::sort(controls);
    auto twice = std::ranges::unique(controls);
    controls.erase(twice.begin(), twice.end());
    auto made = change_.add({.op = std::string{by_.op},
                             .inputs = {change_.now(product.inputs()[0]),
                                        change_.now(product.inputs()[1]), change_.now(*bias)},
                             .attrs = {{"transpose_a", product.attr<bool>("transpose_a")},
                                       {"transpose_b", product.attr<bool>("transpose_b")},
                                       {"rectify", last != sum},
                                       {"T", product.output_type(0)},
                                       {"shape", last->output_shape(0)}},
                             .controls = std::move(controls)},
                            *last);
    if (!made || !by_.find(**made))
      return; // nobody needs it
    change_.graph().set_origin(**made, origin);
    change_.merge(*last, **made);
    change_.take_name(**made, *last);
  }

  rewriter change_;
  const kernel_def& by_;
  std::vector<std::vector<node*>> readers_; // by node id
  std::vector<bool> waited_for_;            // by a control edge
  variable_updates updates_;
};

} // namespace

void join_epilogues(step_graph& of, device_kind on) {
  if (auto* kernel = of.nodes->ops().find_kernel(internal_ops::biased_product.name, on))
    joiner{of, *kernel}.run();
}

} // namespace troupe
