#include "troupe/runtime/placement/kernel_site.hpp"

#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/collective.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/placement/frame_choice.hpp"

#include <algorithm>
#include <array>

namespace troupe {
namespace {

// Tensors up to this size are cheaper to compute on the host than to launch: elements of a shape,
// or a step's number.
constexpr int64_t few_elements = 256;

bool is_few_integers(dtype type, const partial_shape& dims) {
  if (type != dtype::i32 && type != dtype::i64 && type != dtype::boolean)
    return false;
  if (!dims.has_rank())
    return false;
  int64_t elements = 1;
  for (auto extent : dims.extents()) {
    if (extent == unknown_extent || extent > few_elements)
      return false;
    elements *= std::max<int64_t>(extent, 1);
    if (elements > few_elements)
      return false;
  }
  return true;
}

bool handles_few_integers(const node& node) {
  for (const auto& input : node.inputs())
    if (!is_few_integers(input.type(), input.dims()))
      return false;
  for (int i = 0; i < node.outputs(); ++i)
    if (!is_few_integers(node.output_type(i), node.output_shape(i)))
      return false;
  return node.outputs() > 0;
}

bool has_refs(const node& node) {
  for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i)
    if (node.input_is_ref(i))
      return true;
  return false;
}

bool has_kernel(const node& node, device_kind kind) {
  auto* kernel = node.graph().ops().find_kernel(node.op().name, kind);
  return kernel && kernel->find(node);
}

// Texts and lists cannot be in a device's memory.
bool handles_objects(const node& node) {
  for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i)
    if (!node.input_is_ref(i) && node.inputs()[static_cast<size_t>(i)].type() >= dtype::string)
      return true;
  for (int i = 0; i < node.outputs(); ++i)
    if (!node.output_is_ref(i) && node.output_type(i) >= dtype::string)
      return true;
  return false;
}

// Returns whether the op passes elements of a queue on without reading them, so that they can stay
// in an accelerator's memory. Ops that stack or slice elements read them: their queues are on
// processors.
bool passes_elements_on(const node& node) {
  static constexpr std::array<std::string_view, 8> names{
      "FIFOQueue",  "RandomShuffleQueue", "QueueEnqueue",  "QueueDequeue",
      "QueueClose", "QueueSize",          "QueueIsClosed", "QueueSuspend",
  };
  return std::ranges::find(names, node.op().name) != names.end();
}

// A queue is on an accelerator only if its device says so, since it takes scarce memory.
bool is_requested_there(const node& node, device_kind kind) {
  const auto* queue = node.op().state_kind == resource::queue ? &node
                      : node.inputs().empty()                 ? nullptr
                                                              : resource_behind(node.inputs()[0]);
  if (!queue || !passes_elements_on(*queue))
    return false;
  auto asked = device_name::parse(queue->device());
  return asked && asked->kind == to_string(kind);
}

bool passes_elements_on_there(const node& node, device_kind kind) {
  return kind != device_kind::cpu && passes_elements_on(node) && !handles_objects(node) &&
         is_requested_there(node, kind);
}

// Returns whether a kernel reads no elements of its inputs: it reads only shapes, which are known
// at launch, or has no inputs.
bool reads_no_elements(const node& node) {
  return has(node.op().effects, effect::reads_shapes_only) ||
         (node.inputs().empty() && !has(node.op().effects, effect::stateful) &&
          !has(node.op().effects, effect::random));
}

// Returns whether the outputs are integers or booleans, which the host may read to launch kernels:
// a shape, for example.
bool makes_integers(const node& node) {
  for (int i = 0; i < node.outputs(); ++i)
    if (node.output_type(i) != dtype::i32 && node.output_type(i) != dtype::i64 &&
        node.output_type(i) != dtype::boolean)
      return false;
  return true;
}

bool needs_no_kernel(const node& node) {
  return &node.op() == &internal_ops::send || &node.op() == &internal_ops::send_control ||
         &node.op() == &internal_ops::read || &node.op() == &internal_ops::frame_argument ||
         &node.op() == &internal_ops::frame_result;
}

// Returns whether a node runs a frame. The host reads only the predicate, and passes the other
// inputs on.
bool is_frame(const node& node) {
  return &node.op() == &internal_ops::frame || runs_functions(node.op());
}

bool is_given_by_frames(edge value) {
  return is_frame(*value.node) || &value.node->op() == &internal_ops::frame_argument;
}

bool is_predicate(const node& node, int input) {
  const auto* op = &node.op();
  if (op == &internal_ops::frame)
    if (auto frame_op = node.graph().ops().find_op(node.attr<std::string>("kind")))
      op = *frame_op;
  return input < first_argument(*op);
}

// Returns whether a node may run on the host as well. An op on variables must run where they are.
bool is_movable(const node& node) {
  return has(node.op().effects, effect::reads_shapes_only) ||
         (!has(node.op().effects, effect::stateful) && !has(node.op().effects, effect::random) &&
          !has_refs(node));
}

} // namespace

kernel_site site_of(const node& node, device_kind kind) {
  if (is_collective(node.op()))
    return kernel_site::boundary; // the device launches it, whatever its kind
  auto resource_kind = node.op().state_kind;
  if (needs_no_kernel(node))
    return kernel_site::boundary;
  if (passes_elements_on_there(node, kind))
    return kernel_site::boundary;
  if (has(node.op().effects, effect::blocking) ||
      (resource_kind != resource::none && resource_kind != resource::variable))
    return kind == device_kind::cpu ? kernel_site::boundary : kernel_site::none;
  // A variable can be on a device whose kernels accept its type, if the variable op has kernels.
  if (resource_kind != resource::none)
    return has_kernel(node, kind) || !has_kernel(node, device_kind::cpu) ? kernel_site::boundary
                                                                         : kernel_site::none;
  if (runs_functions(node.op()) && kind == device_kind::cpu)
    return kernel_site::device;
  if (runs_functions(node.op())) // as frames
    return belongs_to_gpu(node) ? kernel_site::boundary : kernel_site::none;
  if (internal_ops::is_boundary(node))
    return kernel_site::boundary;
  if (kind == device_kind::cpu)
    return has_kernel(node, kind) ? kernel_site::device : kernel_site::none;
  auto on_device = has_kernel(node, kind) && !handles_objects(node);
  auto could_on_host = is_movable(node) && has_kernel(node, device_kind::cpu);
  // A constant is uploaded once, and stays on the device, if a kernel needs it there.
  if (could_on_host && reads_no_elements(node) &&
      (makes_integers(node) || !on_device || node.inputs().empty()))
    return kernel_site::host;
  if (could_on_host && handles_few_integers(node))
    return kernel_site::host;
  return on_device ? kernel_site::device : kernel_site::none;
}

template <class KindOf, class Crosses>
void kernel_sites::find(const graph& placed, KindOf kind_of, Crosses crosses) {
  for (const auto& node : placed.nodes()) {
    auto kind = kind_of(*node);
    on_processor_.push_back(kind == device_kind::cpu);
    if (kind == device_kind::cpu || site_of(*node, kind) != kernel_site::host) {
      on_host_.push_back(false);
      continue;
    }
    // Small integer tensors that a device's kernel has made stay on the device, if possible.
    auto on_host = reads_no_elements(*node) || std::ranges::all_of(node->inputs(), [&](edge input) {
                     return crosses(*node, input) || lies_on_host(input);
                   });
    on_host_.push_back(on_host || !has_kernel(*node, kind) || handles_objects(*node));
  }
}

kernel_sites::kernel_sites(const graph& placed, device_kind kind) {
  find(
      placed, [=](const node&) { return kind; }, [](const node&, edge) { return false; });
}

kernel_sites::kernel_sites(const graph& placed, const std::vector<int>& chosen,
                           const device_list& devices) {
  auto place_of = [&](const node& node) { return chosen[static_cast<size_t>(node.id())]; };
  find(
      placed,
      [&](const node& node) {
        auto place = place_of(node);
        return place < 0 ? device_kind::cpu : kind_of(devices[static_cast<size_t>(place)]);
      },
      [&](const node& node, edge from) { return place_of(*from.node) != place_of(node); });
}

bool kernel_sites::lies_on_host(edge value) const {
  if (on_processor(*value.node) || runs_on_host(*value.node))
    return true;
  const auto& op = value.node->op();
  return &op == &internal_ops::feed || &op == &internal_ops::recv || op.start_operation ||
         is_given_by_frames(value);
}

bool kernel_sites::wants_on_host(const node& node, int input) const {
  if (on_processor(node))
    return true;
  if (runs_on_host(node))
    return !reads_no_elements(node);
  if (&node.op() == &internal_ops::frame_result)
    return node.attr<bool>("on_host");
  if (is_frame(node))
    return is_predicate(node, input);
  return !node.input_is_ref(input) && node.input_port(input).on_host;
}

bool kernel_sites::wants_on_device(const node& node, int input) const {
  if (on_processor(node) || runs_on_host(node) || node.input_is_ref(input))
    return false;
  const auto& op = node.op();
  if (&op == &internal_ops::frame_result)
    return false;
  if (is_frame(node)) { // once for all iterations
    const auto& from = node.inputs()[static_cast<size_t>(input)];
    return from.type() < dtype::string && !is_predicate(node, input) &&
           !is_few_integers(from.type(), from.dims());
  }
  if (op.start_operation && passes_elements_on(node)) {
    const auto& from = node.inputs()[static_cast<size_t>(input)];
    return !is_few_integers(from.type(), from.dims());
  }
  if (&op == &internal_ops::fetch || &op == &internal_ops::send ||
      (has(op.effects, effect::blocking) && !is_collective(op)))
    return false;
  return !node.input_port(input).on_host;
}

} // namespace troupe
