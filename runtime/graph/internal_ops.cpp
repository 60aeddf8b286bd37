#include "troupe/runtime/graph/internal_ops.hpp"

#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/infer.hpp"

#include <algorithm>

namespace troupe::internal_ops {
namespace {

constexpr std::string_view no_gradient = "it is part of a partition, not of a user's graph";

// Returns an extent of a shape. An unknown extent, and an axis before the first, counts as 1.
double extent(const partial_shape& dims, int axis) {
  if (!dims.has_rank() || (axis += axis < 0 ? dims.rank() : 0) < 0 || axis >= dims.rank())
    return 1;
  return dims[axis] == unknown_extent ? 1 : static_cast<double>(dims[axis]);
}

double elements(const partial_shape& dims) {
  double count = 1;
  for (int axis = 0; dims.has_rank() && axis < dims.rank(); ++axis)
    count *= extent(dims, axis);
  return count;
}

// One operation for each element of each stage.
double flops_of_fused(const node& node) {
  return elements(node.output_shape(0)) *
         static_cast<double>(node.attr<std::vector<std::string>>("ops").size());
}

double flops_of_product(const node& node) {
  auto inner = node.attr<bool>("transpose_a") ? -2 : -1;
  return 2 * elements(node.output_shape(0)) * extent(node.inputs()[0].dims(), inner);
}

// Each output element is a sum over a window of the filter, whose last axis are the output
// channels.
double flops_of_convolution(const node& node) {
  const auto& filter = node.inputs()[1].dims();
  return 2 * elements(node.output_shape(0)) * elements(filter) / std::max(1.0, extent(filter, -1));
}

result<shapes> infer_tuple(const infer_context& at) {
  const auto& places = at.attr<std::vector<int64_t>>("places");
  auto count = at.attr<int64_t>("count");
  if (count > 1 << 24)
    return at.invalid("has too many places for a list: ", count);
  if (static_cast<int>(places.size()) != at.inputs())
    return at.invalid("has ", at.inputs(), " components for ", places.size(), " places");
  for (const auto* list : {&places, &at.attr<std::vector<int64_t>>("swap")})
    for (auto place : *list)
      if (place < 0 || place >= count)
        return at.invalid("there is no place ", place, " among ", count);
  return shapes{shape{}};
}

result<shapes> infer_tuple_items(const infer_context& at) {
  const auto& item_shapes = at.attr<std::vector<partial_shape>>("shapes");
  if (static_cast<int>(item_shapes.size()) != at.outputs() ||
      item_shapes.size() != at.attr<std::vector<int64_t>>("places").size())
    return at.invalid("must have one shape and one place for each of its ", at.outputs(), " items");
  return item_shapes;
}

result<shapes> infer_frame(const infer_context& at) {
  const auto& item_shapes = at.attr<std::vector<partial_shape>>("shapes");
  if (static_cast<int>(item_shapes.size()) != at.outputs())
    return at.invalid("must have one shape for each of its ", at.outputs(), " results");
  return item_shapes;
}

edges tuple_gradient(gradient_context& at) {
  const auto& places = at.attr<std::vector<int64_t>>("places");
  std::vector<int64_t> differentiable_places;
  std::vector<dtype> types;
  std::vector<partial_shape> item_shapes;
  for (int i = 0; i < at.inputs(); ++i)
    if (carries_gradients(at.input(i).type())) {
      differentiable_places.push_back(places[static_cast<size_t>(i)]);
      types.push_back(at.input(i).type());
      item_shapes.push_back(at.input(i).dims());
    }
  if (differentiable_places.empty())
    return edges(places.size());
  auto items = at.op("_TupleItems", {at.output_gradient(0)},
                     {{"places", differentiable_places},
                      {"types", types},
                      {"shapes", item_shapes},
                      {"count", at.attr<int64_t>("count")}});
  edges gradients(places.size());
  for (int i = 0, next = 0; i < at.inputs() && items; ++i)
    if (carries_gradients(at.input(i).type()))
      gradients[static_cast<size_t>(i)] = {items.node, next++};
  return gradients;
}

// Components without a gradient count as zeros.
edges tuple_items_gradient(gradient_context& at) {
  const auto& places = at.attr<std::vector<int64_t>>("places");
  std::vector<int64_t> differentiable_places;
  edges components;
  for (size_t i = 0; i < places.size(); ++i)
    if (carries_gradients(at.source_node().output_type(static_cast<int>(i)))) {
      differentiable_places.push_back(places[i]);
      components.push_back(at.output_gradient(static_cast<int>(i)));
    }
  return {at.op("_Tuple", components,
                {{"places", differentiable_places}, {"count", at.attr<int64_t>("count")}})};
}

} // namespace

bool is_boundary(const node& node) noexcept { return &node.op() == &feed || &node.op() == &fetch; }

bool is_constant(const node& node) noexcept {
  constexpr auto varying =
      effect::stateful | effect::random | effect::must_be_fed | effect::blocking;
  return node.inputs().empty() && node.op().state_kind == resource::none &&
         !has(node.op().effects, varying);
}

extern constexpr op_def feed{
    .name = "_Feed",
    .doc = "Returns the tensor that the client fed or that a function was called with.",
    .outputs = {{"value", "dtype"}},
    .attrs = {{"index", at_least{0}}, {"dtype", any_value}, {"shape", attr_kind::shape, true}},
    .effects = effect::must_be_fed,
    .infer = infer::shape_attr,
    .no_gradient = no_gradient,
};

extern constexpr op_def variable_argument{
    .name = "_VariableArgument",
    .doc = "Stands for the variable that a function was called with.",
    .outputs = {{"variable", "dtype", {}, true, resource::variable, false, true}},
    .attrs = {{"index", at_least{0}}, {"dtype", any_type}, {"shape", attr_kind::shape, true}},
    .state_kind = resource::variable,
    .infer = infer::shape_attr,
    .no_gradient = no_gradient,
};

extern constexpr op_def table_argument{
    .name = "_TableArgument",
    .doc = "Stands for the table that a function was called with.",
    .outputs = {{"table", "string", {}, true, resource::table, false, true}},
    .attrs = {{"index", at_least{0}}},
    .state_kind = resource::table,
    .infer = infer::scalar,
    .no_gradient = no_gradient,
};

namespace {

// Arguments for state with operations that nodes wait for.
constexpr op_def resource_argument(std::string_view name, std::string_view doc, resource kind) {
  return {
      .name = name,
      .doc = doc,
      .outputs = {ref("handle", "string", kind)},
      .attrs = {{"index", at_least{0}}},
      .state_kind = kind,
      .infer = infer::scalar,
      .no_gradient = no_gradient,
  };
}

} // namespace

extern constexpr op_def queue_argument = resource_argument(
    "_QueueArgument", "Stands for the queue that a function was called with.", resource::queue);
extern constexpr op_def accumulator_argument = resource_argument(
    "_AccumulatorArgument", "Stands for the accumulator that a function was called with.",
    resource::accumulator);
extern constexpr op_def barrier_argument =
    resource_argument("_BarrierArgument", "Stands for the barrier that a function was called with.",
                      resource::barrier);
extern constexpr op_def mutex_argument = resource_argument(
    "_MutexArgument", "Stands for the lock that a function was called with.", resource::mutex);
extern constexpr op_def reader_argument = resource_argument(
    "_ReaderArgument", "Stands for the reader that a function was called with.", resource::reader);

const op_def* state_argument(resource kind) noexcept {
  switch (kind) {
    case resource::variable: return &variable_argument;
    case resource::table: return &table_argument;
    case resource::queue: return &queue_argument;
    case resource::accumulator: return &accumulator_argument;
    case resource::barrier: return &barrier_argument;
    case resource::mutex: return &mutex_argument;
    case resource::reader: return &reader_argument;
    case resource::none:
    case resource::stage:
    case resource::clock:
    case resource::files: break;
  }
  return nullptr;
}

extern constexpr op_def frame{
    .name = "_Frame",
    .doc =
        "Runs functions that block, or that run on GPUs or several devices, each as a step within "
        "the step.",
    .inputs = {{"values", "Tin"}},
    .outputs = {{"results", "Tout"}},
    .attrs = {{"Tin", attr_kind::types, any_value},
              {"Tout", attr_kind::types, any_value},
              {"shapes", attr_kind::shapes},
              {"frame", at_least{1}},                   // its number in the step
              {"kind", attr_kind::text},                // the op of the original node
              {"orders", at_least{0}},                  // variables only for ordering (frame.hpp)
              {"unchanged", attr_kind::integers, true}, // results that no iteration changes
              {"parallel_iterations", at_least{1}},     // of a loop
              {"tasks", attr_kind::texts}},             // the other tasks that take part
    .effects = effect::stateful | effect::blocking,
    .infer = infer_frame,
    .no_gradient = no_gradient,
};

extern constexpr op_def frame_argument{
    .name = "_FrameArgument",
    .doc = "Waits for an argument of a step within a step.",
    .outputs = {{"value", "dtype"}},
    .attrs = {{"index", at_least{0}}, {"dtype", any_value}, {"shape", attr_kind::shape, true}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer::shape_attr,
    .no_gradient = no_gradient,
};

extern constexpr op_def frame_result{
    .name = "_FrameResult",
    .doc = "Passes a tensor to the enclosing step.",
    .inputs = {{"value", "T"}},
    .attrs = {{"index", at_least{0}},
              {"T", any_value},
              {"on_host", false}}, // set if the enclosing step reads the value
    .effects = effect::stateful,
    .infer = infer::nothing,
    .no_gradient = no_gradient,
};

extern constexpr op_def fetch{
    .name = "_Fetch",
    .doc = "Passes a tensor to the client.",
    .inputs = {{"value", "T"}},
    .attrs = {{"index", at_least{0}}, {"T", any_value}},
    .effects = effect::stateful,
    .infer = infer::nothing,
    .no_gradient = no_gradient,
};

extern constexpr op_def send{
    .name = "_Send",
    .doc = "Sends a tensor to another device.",
    .inputs = {{"value", "T"}},
    .attrs = {{"key", at_least{0}}, {"to", attr_kind::text}, {"T", any_value}},
    .effects = effect::stateful,
    .infer = infer::nothing,
    .no_gradient = no_gradient,
};

extern constexpr op_def recv{
    .name = "_Recv",
    .doc = "Waits for a tensor from another device.",
    .outputs = {{"value", "dtype"}},
    .attrs = {{"key", at_least{0}},
              {"from", attr_kind::text},
              {"dtype", any_value},
              {"shape", attr_kind::shape, true}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer::shape_attr,
    .no_gradient = no_gradient,
};

extern constexpr op_def send_control{
    .name = "_SendControl",
    .doc = "Notifies another device that its control inputs have run.",
    .attrs = {{"key", at_least{0}}, {"to", attr_kind::text}},
    .effects = effect::stateful,
    .infer = infer::nothing,
    .no_gradient = no_gradient,
};

extern constexpr op_def recv_control{
    .name = "_RecvControl",
    .doc = "Waits for the notification of a _SendControl.",
    .attrs = {{"key", at_least{0}}, {"from", attr_kind::text}},
    .effects = effect::stateful | effect::blocking,
    .infer = infer::nothing,
    .no_gradient = no_gradient,
};

extern constexpr op_def read{
    .name = "_Read",
    .doc =
        "Reads the value of a variable for nodes that cannot read it when they run, because they "
        "are on another device or after an update that they must not see.",
    .inputs = {{"variable", "T"}},
    .outputs = {{"value", "T"}},
    .attrs = {{"T", any_type}},
    .infer = infer::same_as_input,
    .no_gradient = no_gradient,
};

extern constexpr op_def fused{
    .name = "_Fused",
    .doc = "Computes a sequence of element-wise ops, chunk by chunk.",
    .inputs = {{"inputs", "Tin"}},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"Tin", attr_kind::types},
              {"dtype", any_type},
              {"shape", attr_kind::shape, true},
              {"ops", attr_kind::texts},         // one for each stage
              {"types", attr_kind::types},       // the input type of each stage
              {"operands", attr_kind::integers}, // value numbers: the inputs, then stage results
              {"origins", attr_kind::texts}},    // descriptions of the original nodes
    .effects = effect::forwardable,
    .infer = infer::shape_attr,
    .flops = flops_of_fused,
    .no_gradient = no_gradient,
};

extern constexpr op_def fused_matmul{
    .name = "_FusedMatMul",
    .doc =
        "Multiplies matrices, adds a bias to each column, and applies a rectifier if `rectify` is "
        "set. Batch axes must be equal, unless `broadcasts` is set.",
    .inputs = {{"a", "T"}, {"b", "T"}, {"bias", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"transpose_a", false},
              {"transpose_b", false},
              {"broadcasts", false},
              {"rectify", false},
              {"T", any_type},
              {"shape", attr_kind::shape, true}},
    .infer = infer::shape_attr,
    .flops = flops_of_product,
    .no_gradient = no_gradient,
};

extern constexpr op_def fused_conv2d{
    .name = "_FusedConv2D",
    .doc =
        "Convolves images with a filter, adds a bias to each channel, and applies a rectifier if "
        "`rectify` is set.",
    .inputs = {{"input", "T"}, {"filter", "T"}, {"bias", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"explicit_paddings", attr_kind::integers, true},
              {"data_format", "NHWC"},
              {"dilations", attr_kind::integers, true},
              {"rectify", false},
              {"T", any_type},
              {"shape", attr_kind::shape, true}},
    .infer = infer::shape_attr,
    .flops = flops_of_convolution,
    .no_gradient = no_gradient,
};

// The three swap ops are stateful, because a recording cannot contain them.
extern constexpr op_def swap_out{
    .name = "_SwapOut",
    .doc = "Copies a tensor whose next use is much later to the host, and releases it.",
    .inputs = {{"value", "T"}},
    .outputs = {{"saved", "T"}},
    .attrs = {{"T", any_type},
              {"shape", attr_kind::shape, true}}, // unknown: the output is no value
    .effects = effect::stateful,
    .infer = infer::shape_attr,
    .no_gradient = no_gradient,
};

extern constexpr op_def swap_in{
    .name = "_SwapIn",
    .doc = "Starts to copy a tensor back that _SwapOut has saved.",
    .inputs = {{"saved", "dtype"}},
    .outputs = {{"pending", "dtype"}},
    .attrs = {{"dtype", any_type}, {"shape", attr_kind::shape, true}},
    .effects = effect::stateful,
    .infer = infer::shape_attr,
    .no_gradient = no_gradient,
};

extern constexpr op_def swapped{
    .name = "_Swapped",
    .doc = "Orders later nodes after the copy that _SwapIn has started.",
    .inputs = {{"pending", "T"}},
    .outputs = {{"value", "T"}},
    .attrs = {{"T", any_type}},
    .effects = effect::stateful,
    .infer = infer::same_as_input,
    .no_gradient = no_gradient,
};

extern constexpr op_def tuple{
    .name = "_Tuple",
    .doc =
        "Packs several values into one, which a call of a function keeps for its gradient. Large "
        "components at the places listed in `swap` are written to files.",
    .inputs = {{"components", "T"}},
    .outputs = {{"tuple", "variant"}},
    .attrs = {{"T", attr_kind::types, any_value},
              {"places", attr_kind::integers},
              {"count", at_least{0}},
              {"swap", attr_kind::integers, true}},
    .infer = infer_tuple,
    .gradient = tuple_gradient,
};

extern constexpr op_def tuple_items{
    .name = "_TupleItems",
    .doc = "Returns components of a tuple.",
    .inputs = {{"tuple", "variant"}},
    .outputs = {{"components", "types"}},
    .attrs = {{"types", attr_kind::types, any_value},
              {"places", attr_kind::integers},
              {"shapes", attr_kind::shapes},
              {"count", at_least{0}}},
    .infer = infer_tuple_items,
    .gradient = tuple_items_gradient,
};

} // namespace troupe::internal_ops
