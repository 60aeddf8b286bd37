#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/passes/epilogues.hpp"
#include "troupe/runtime/passes/rewriter.hpp"
#include "troupe/runtime/passes/variable_updates.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Where a node's channels are, which come last if it does not say.
int channel_axis(const node& of, int rank) {
  constexpr std::string_view first = "NC";
  auto named = of.op().find_attr("data_format") != nullptr;
  return named && of.attr<std::string>("data_format").starts_with(first) ? 1 : rank - 1;
}

bool said(const node& by, std::string_view name) {
  return by.op().find_attr(name) && by.attr<bool>(name);
}

// What the node is in the joined one, but for its end.
attr_map attrs_of(const node& of, const op_def& joined) {
  if (has(of.op().effects, effect::is_product))
    return {{"transpose_a", said(of, "transpose_a") || said(of, "adj_x")},
            {"transpose_b", said(of, "transpose_b") || said(of, "adj_y")},
            {"broadcasts", has(of.op().effects, effect::broadcasting)}};
  auto made = of.attrs();
  std::erase_if(made, [&](const auto& one) { return !joined.find_attr(one.first); });
  return made;
}

class joiner {
public:
  joiner(step_graph& of, device_kind on, effect which)
      : change_(of), on_(on), which_(which), readers_(change_.nodes().size()),
        waited_for_(change_.nodes().size()) {
    for (auto* node : change_.nodes()) {
      for (const auto& input : node->inputs())
        readers_[id(*input.node)].push_back(node);
      for (auto* before : node->controls())
        waited_for_[id(*before)] = true;
      updates_.note(*node);
    }
  }

  void run() {
    for (auto* node : change_.nodes()) {
      if (has(node->op().effects, effect::is_product) && has(which_, effect::is_product))
        join(*node, internal_ops::fused_matmul);
      if (has(node->op().effects, effect::is_convolution) && has(which_, effect::is_convolution))
        join(*node, internal_ops::fused_conv2d);
    }
    change_.finish();
  }

private:
  static size_t id(const node& node) { return static_cast<size_t>(node.id()); }

  // Who alone sees the node's output.
  node* only_reader(const node& of) const {
    const auto& readers = readers_[id(of)];
    return readers.size() == 1 && !waited_for_[id(of)] && !change_.is_target(of) ? readers.front()
                                                                                 : nullptr;
  }

  // The other operand of a sum, where it is one number for each channel of the maker's output.
  static const edge* bias_of(const node& sum, const node& maker) {
    if (!has(sum.op().effects, effect::adds) || sum.inputs().size() != 2)
      return nullptr;
    auto second = sum.inputs()[0].node == &maker;
    const auto& other = sum.inputs()[second ? 1 : 0];
    const auto &dims = maker.output_shape(0), &bias = other.dims();
    if (!dims.has_rank() || dims.rank() < 2 || !bias.has_rank() || bias.rank() != 1)
      return nullptr;
    auto axis = channel_axis(maker, dims.rank());
    auto in_place =
        axis == channel_axis(sum, dims.rank()) && (second || !sum.op().find_attr("data_format"));
    return in_place && bias[0] != unknown_extent && bias[0] == dims[axis] ? &other : nullptr;
  }

  void join(node& maker, const op_def& joined) {
    auto* kernel = change_.graph().ops().find_kernel(joined.name, on_);
    auto* sum = kernel ? only_reader(maker) : nullptr;
    auto* bias = sum ? bias_of(*sum, maker) : nullptr;
    if (!bias)
      return;
    auto* last = only_reader(*sum);
    if (!last || !has(last->op().effects, effect::rectifies))
      last = sum;
    if (!updates_.reads_the_same_at(maker, *last) || !updates_.reads_the_same_at(*sum, *last))
      return;
    std::vector<node*> members{&maker, sum}, controls;
    if (last != sum)
      members.push_back(last);
    std::string origin{"joined from "};
    for (auto* one : members) {
      for (auto* before : one->controls())
        controls.push_back(change_.now({before, 0}).node);
      origin += concat(one == &maker ? "" : ", ", one->description());
    }
    sort_controls(controls);
    auto attrs = attrs_of(maker, joined);
    attrs["rectify"] = last != sum;
    attrs["T"] = maker.output_type(0);
    attrs["shape"] = last->output_shape(0);
    auto made = change_.add({.op = std::string{joined.name},
                             .inputs = {change_.now(maker.inputs()[0]),
                                        change_.now(maker.inputs()[1]), change_.now(*bias)},
                             .attrs = std::move(attrs),
                             .controls = std::move(controls)},
                            *last);
    if (!made || !kernel->find(**made))
      return; // nobody needs it
    change_.graph().set_origin(**made, origin);
    change_.merge(*last, **made);
    change_.take_name(**made, *last);
  }

  rewriter change_;
  const device_kind on_;
  const effect which_;
  std::vector<std::vector<node*>> readers_; // by node id
  std::vector<bool> waited_for_;            // by a control edge
  variable_updates updates_;
};

} // namespace

void fuse_bias_activation(step_graph& of, device_kind on) {
  fuse_bias_activation(of, on, effect::is_product | effect::is_convolution);
}

void fuse_bias_activation(step_graph& of, device_kind on, effect which) {
  joiner{of, on, which}.run();
}

} // namespace troupe
