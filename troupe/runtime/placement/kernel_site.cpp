#include "troupe/runtime/placement/kernel_site.hpp"

#include "troupe/runtime/graph/collective.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <algorithm>

namespace troupe {
namespace {

// What is so small is computed at once, rather than launched: the elements of a shape, a step's
// number.
constexpr int64_t few_elements = 256;

bool is_few_integers(dtype type, const partial_shape& dims) {
  if (type != dtype::i32 && type != dtype::i64)
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

bool handles_few_integers(const node& at) {
  for (const auto& input : at.inputs())
    if (!is_few_integers(input.type(), input.dims()))
      return false;
  for (int i = 0; i < at.outputs(); ++i)
    if (!is_few_integers(at.output_type(i), at.output_shape(i)))
      return false;
  return at.outputs() > 0;
}

bool has_refs(const node& at) {
  for (int i = 0; i < static_cast<int>(at.inputs().size()); ++i)
    if (at.input_is_ref(i))
      return true;
  return false;
}

bool has_kernel(const node& at, device_kind kind) {
  auto* kernel = at.graph().ops().find_kernel(at.op().name, kind);
  return kernel && kernel->find(at);
}

// Texts have no place in a device's memory.
bool handles_texts(const node& at) {
  for (int i = 0; i < static_cast<int>(at.inputs().size()); ++i)
    if (!at.input_is_ref(i) && at.inputs()[static_cast<size_t>(i)].type() == dtype::string)
      return true;
  for (int i = 0; i < at.outputs(); ++i)
    if (!at.output_is_ref(i) && at.output_type(i) == dtype::string)
      return true;
  return false;
}

// Shapes are known where a launch is made, whatever the elements are; nothing is needed for what
// has no inputs.
bool looks_at_no_elements(const node& at) {
  return has(at.op().effects, effect::of_shape) ||
         (at.inputs().empty() && !has(at.op().effects, effect::stateful) &&
          !has(at.op().effects, effect::random));
}

// What it makes is looked at by whoever launches: a shape, not a tensor of zeros.
bool makes_integers(const node& at) {
  for (int i = 0; i < at.outputs(); ++i)
    if (at.output_type(i) != dtype::i32 && at.output_type(i) != dtype::i64 &&
        at.output_type(i) != dtype::boolean)
      return false;
  return true;
}

bool is_send(const node& at) {
  return &at.op() == &internal_ops::send || &at.op() == &internal_ops::send_control;
}

// Whether it matters where it runs: an op on variables runs where they are.
bool is_movable(const node& at) {
  return has(at.op().effects, effect::of_shape) ||
         (!has(at.op().effects, effect::stateful) && !has(at.op().effects, effect::random) &&
          !has_refs(at));
}

} // namespace

kernel_site site_of(const node& at, device_kind kind) {
  if (is_collective(at.op()))
    return kernel_site::boundary; // its device launches it, whichever it is
  auto makes = at.op().makes;
  if (has(at.op().effects, effect::blocking) ||
      (makes != resource::none && makes != resource::variable))
    return kind == device_kind::cpu ? kernel_site::boundary : kernel_site::none;
  // A variable lies where something can be done with its type, as its kernels tell, if it has some.
  if (makes != resource::none)
    return has_kernel(at, kind) || !has_kernel(at, device_kind::cpu) ? kernel_site::boundary
                                                                     : kernel_site::none;
  if (internal_ops::is_boundary(at) || is_send(at))
    return kernel_site::boundary;
  if (kind == device_kind::cpu)
    return has_kernel(at, kind) ? kernel_site::device : kernel_site::none;
  auto on_device = has_kernel(at, kind) && !handles_texts(at);
  auto could_on_host = is_movable(at) && has_kernel(at, device_kind::cpu);
  // A constant is uploaded once, to stay, where a kernel wants it on the device.
  if (could_on_host && looks_at_no_elements(at) &&
      (makes_integers(at) || !on_device || at.inputs().empty()))
    return kernel_site::host;
  if (could_on_host && handles_few_integers(at))
    return kernel_site::host;
  return on_device ? kernel_site::device : kernel_site::none;
}

template <class KindOf, class Crosses>
void kernel_sites::find(const graph& of, KindOf kind_of, Crosses crosses) {
  for (const auto& at : of.nodes()) {
    auto kind = kind_of(*at);
    on_processor_.push_back(kind == device_kind::cpu);
    if (kind == device_kind::cpu || site_of(*at, kind) != kernel_site::host) {
      on_host_.push_back(false);
      continue;
    }
    // Few integers that a kernel of the device has made stay there, if they can.
    auto at_hand = looks_at_no_elements(*at) || std::ranges::all_of(at->inputs(), [&](edge one) {
                     return crosses(*at, one) || lies_on_host(one);
                   });
    on_host_.push_back(at_hand || !has_kernel(*at, kind) || handles_texts(*at));
  }
}

kernel_sites::kernel_sites(const graph& of, device_kind kind) {
  find(
      of, [=](const node&) { return kind; }, [](const node&, edge) { return false; });
}

kernel_sites::kernel_sites(const graph& of, const std::vector<int>& chosen,
                           const device_list& devices) {
  auto place_of = [&](const node& at) { return chosen[static_cast<size_t>(at.id())]; };
  find(
      of,
      [&](const node& at) {
        auto place = place_of(at);
        return place < 0 ? device_kind::cpu : kind_of(devices[static_cast<size_t>(place)]);
      },
      [&](const node& at, edge from) { return place_of(*from.node) != place_of(at); });
}

bool kernel_sites::lies_on_host(edge what) const {
  if (on_processor(*what.node) || runs_on_host(*what.node))
    return true;
  const auto& op = what.node->op();
  return &op == &internal_ops::feed || &op == &internal_ops::recv;
}

bool kernel_sites::wants_on_host(const node& at, int input) const {
  if (on_processor(at))
    return true;
  if (runs_on_host(at))
    return !looks_at_no_elements(at);
  return !at.input_is_ref(input) && at.input_port(input).on_host;
}

bool kernel_sites::wants_on_device(const node& at, int input) const {
  if (on_processor(at) || runs_on_host(at) || at.input_is_ref(input))
    return false;
  const auto& op = at.op();
  if (&op == &internal_ops::fetch || &op == &internal_ops::send ||
      (has(op.effects, effect::blocking) && !is_collective(op)))
    return false;
  return !at.input_port(input).on_host;
}

} // namespace troupe
