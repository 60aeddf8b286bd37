#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/passes/epilogues.hpp"
#include "troupe/runtime/passes/rewriter.hpp"
#include "troupe/runtime/passes/variable_updates.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Returns the axis of the channels of a node's output: the last, unless `data_format` differs.
int channel_axis(const node& source, int rank) {
  constexpr std::string_view first = "NC";
  auto has_format = source.op().find_attr("data_format") != nullptr;
  return has_format && source.attr<std::string>("data_format").starts_with(first) ? 1 : rank - 1;
}

bool is_set(const node& source, std::string_view name) {
  return source.op().find_attr(name) && source.attr<bool>(name);
}

// Returns the attributes of the fused node that follow from the product or convolution.
attr_map attrs_of(const node& source, const op_def& fused_op) {
  if (has(source.op().effects, effect::is_product))
    return {{"transpose_a", is_set(source, "transpose_a") || is_set(source, "adj_x")},
            {"transpose_b", is_set(source, "transpose_b") || is_set(source, "adj_y")},
            {"broadcasts", has(source.op().effects, effect::broadcasting)}};
  auto attrs = source.attrs();
  std::erase_if(attrs, [&](const auto& entry) { return !fused_op.find_attr(entry.first); });
  return attrs;
}

class bias_fuser {
public:
  bias_fuser(step_graph& step, device_kind kind, effect fused_kinds)
      : rewriter_(step), device_(kind), fused_kinds_(fused_kinds),
        readers_(rewriter_.nodes().size()), has_successor_(rewriter_.nodes().size()) {
    for (auto* node : rewriter_.nodes()) {
      for (const auto& input : node->inputs())
        readers_[id(*input.node)].push_back(node);
      for (auto* before : node->controls())
        has_successor_[id(*before)] = true;
      updates_.note(*node);
    }
  }

  void run() {
    for (auto* node : rewriter_.nodes()) {
      if (has(node->op().effects, effect::is_product) && has(fused_kinds_, effect::is_product))
        join(*node, internal_ops::fused_matmul);
      if (has(node->op().effects, effect::is_convolution) &&
          has(fused_kinds_, effect::is_convolution))
        join(*node, internal_ops::fused_conv2d);
    }
    rewriter_.finish();
  }

private:
  static size_t id(const node& node) { return static_cast<size_t>(node.id()); }

  // Returns the only reader of the node's output, or nullptr.
  node* only_reader(const node& source) const {
    const auto& readers = readers_[id(source)];
    return readers.size() == 1 && !has_successor_[id(source)] && !rewriter_.is_target(source)
               ? readers.front()
               : nullptr;
  }

  // Returns the other operand of a sum if it has one number per channel of the maker's output.
  static const edge* bias_of(const node& sum, const node& maker) {
    if (!has(sum.op().effects, effect::adds) || sum.inputs().size() != 2)
      return nullptr;
    auto bias_is_second = sum.inputs()[0].node == &maker;
    const auto& operand = sum.inputs()[bias_is_second ? 1 : 0];
    const auto &dims = maker.output_shape(0), &bias = operand.dims();
    if (!dims.has_rank() || dims.rank() < 2 || !bias.has_rank() || bias.rank() != 1)
      return nullptr;
    auto axis = channel_axis(maker, dims.rank());
    auto has_equal_axes = axis == channel_axis(sum, dims.rank()) &&
                          (bias_is_second || !sum.op().find_attr("data_format"));
    return has_equal_axes && bias[0] != unknown_extent && bias[0] == dims[axis] ? &operand
                                                                                : nullptr;
  }

  void join(node& maker, const op_def& fused_op) {
    auto* kernel = rewriter_.graph().ops().find_kernel(fused_op.name, device_);
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
    for (auto* fused : members) {
      for (auto* before : fused->controls())
        controls.push_back(rewriter_.replacement_of({before, 0}).node);
      origin += concat(fused == &maker ? "" : ", ", fused->description());
    }
    sort_controls(controls);
    auto attrs = attrs_of(maker, fused_op);
    attrs["rectify"] = last != sum;
    attrs["T"] = maker.output_type(0);
    attrs["shape"] = last->output_shape(0);
    auto fused_node = rewriter_.add(
        {.op = std::string{fused_op.name},
         .inputs = {rewriter_.replacement_of(maker.inputs()[0]),
                    rewriter_.replacement_of(maker.inputs()[1]), rewriter_.replacement_of(*bias)},
         .attrs = std::move(attrs),
         .controls = std::move(controls)},
        *last);
    if (!fused_node || !kernel->find(**fused_node))
      return; // finish() removes the node
    rewriter_.graph().set_origin(**fused_node, origin);
    rewriter_.merge(*last, **fused_node);
    rewriter_.take_name(**fused_node, *last);
  }

  rewriter rewriter_;
  const device_kind device_;
  const effect fused_kinds_;
  std::vector<std::vector<node*>> readers_; // by node id
  std::vector<bool> has_successor_;         // by node id: a control edge starts here
  variable_updates updates_;
};

} // namespace

void fuse_bias_activation(step_graph& step, device_kind kind) {
  fuse_bias_activation(step, kind, effect::is_product | effect::is_convolution);
}

void fuse_bias_activation(step_graph& step, device_kind kind, effect fused_kinds) {
  bias_fuser{step, kind, fused_kinds}.run();
}

} // namespace troupe
