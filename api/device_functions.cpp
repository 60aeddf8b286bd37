#include "troupe/api/device_functions.hpp"
// Chooses the devices of new nodes.

#include "troupe/api/error.hpp"
#include "troupe/runtime/graph/colocation.hpp"

#include <algorithm>
#include <memory>

namespace troupe {
namespace {

double bytes_of(const node_spec& variable) {
  auto type = variable.attrs.find("dtype"), dims = variable.attrs.find("shape");
  if (type == variable.attrs.end() || dims == variable.attrs.end())
    return 1;
  const auto* element_type = type->second.get_if<dtype>();
  const auto* declared_shape = dims->second.get_if<partial_shape>();
  double bytes =
      element_type ? static_cast<double>(std::max<size_t>(size_of(*element_type), 1)) : 1;
  if (declared_shape && declared_shape->has_rank())
    for (auto extent : declared_shape->extents())
      bytes *= static_cast<double>(std::max<int64_t>(extent, 1));
  return bytes;
}

// Returns the variable or table that the node takes by reference, or null.
const node* state_taken(const node_spec& spec, const op_def& op) {
  if (op.inputs.empty() || spec.inputs.empty() || !(op.inputs[0].ref || op.inputs[0].handle))
    return nullptr;
  const auto& input = spec.inputs[0];
  return input.exists() && input.node->output_is_ref(input.index) ? resource_behind(input)
                                                                  : nullptr;
}

class replica_chooser {
public:
  explicit replica_chooser(replica_devices_options options)
      : options_(std::move(options)), bytes_(static_cast<size_t>(options_.ps_tasks)) {}

  std::string choose(const node_spec& added, const op_def& op) {
    if (op.state_kind == resource::variable || op.state_kind == resource::table)
      return concat("/job:", options_.ps_job, "/task:", next_task(bytes_of(added)));
    if (const auto* state = state_taken(added, op))
      return state->device();
    return options_.worker;
  }

private:
  size_t next_task(double bytes) {
    using spread = replica_devices_options::spread;
    auto task = options_.variables == spread::round_robin
                    ? next_task_++ % bytes_.size()
                    : static_cast<size_t>(std::ranges::min_element(bytes_) - bytes_.begin());
    bytes_[task] += bytes;
    return task;
  }

  const replica_devices_options options_;
  std::vector<double> bytes_; // by task index
  size_t next_task_ = 0;
};

// Completes `inner` with the parts of `outer`.
device_name within(const device_name& outer, const device_name& inner) {
  auto combined = inner;
  if (combined.job.empty())
    combined.job = outer.job;
  else if (combined.job != outer.job && !outer.job.empty())
    return combined;
  if (combined.task < 0)
    combined.task = outer.task;
  else if (combined.task != outer.task && outer.task >= 0)
    return combined;
  if (combined.kind.empty()) {
    combined.kind = outer.kind;
    combined.ordinal = outer.ordinal;
  }
  return combined;
}

} // namespace

device_function replica_devices(replica_devices_options options, std::source_location where) {
  auto fail = [&](const auto&... parts) {
    throw error{invalid("replica_devices (", to_string(where), "): ", parts...)};
  };
  if (options.ps_tasks < 1)
    fail("ps_tasks must be at least 1, got ", options.ps_tasks);
  if (options.ps_job.empty())
    fail("ps_job has no name");
  if (auto worker = device_name::parse(options.worker); !worker)
    fail("worker: ", worker.status().message());
  auto chooser = std::make_shared<replica_chooser>(std::move(options));
  return [chooser](const node_spec& added, const op_def& op) { return chooser->choose(added, op); };
}

namespace detail {

size_t device_scopes::first_within(size_t depth) const {
  if (scopes_.empty() || scopes_.back().depth != depth)
    return scopes_.size(); // a scope was pushed to the graph directly since
  auto first = scopes_.size() - 1;
  while (first > 0 && scopes_[first - 1].depth + 1 == scopes_[first].depth)
    --first;
  return first;
}

// The device of the nested scopes, without device functions.
device_name device_scopes::fixed(size_t depth) const {
  device_name device;
  for (auto i = first_within(depth); i < scopes_.size(); ++i)
    device = scopes_[i].resets ? device_name{} : within(device, scopes_[i].device);
  return device;
}

void device_scopes::push(graph& owner, const device_name& device, std::string_view text) {
  auto depth = owner.depth(graph::scope_kind::device);
  auto resets = text.empty();
  auto full_name = resets ? device : within(fixed(depth), device);
  owner.push_device(full_name == device ? std::string{text} : to_string(full_name));
  scopes_.push_back({depth + 1, device, resets});
}

void device_scopes::push(graph& owner, device_function choose) {
  auto depth = owner.depth(graph::scope_kind::device);
  owner.push_device(to_string(fixed(depth)));
  scopes_.push_back({depth + 1, {}, false, std::move(choose)});
}

void device_scopes::push(graph& owner, const node& neighbor) {
  auto depth = owner.depth(graph::scope_kind::device);
  owner.push_device(neighbor.device());
  auto device = device_name::parse(neighbor.device());
  scopes_.push_back({depth + 1, device ? *device : device_name{}, true, {}, &neighbor});
}

void device_scopes::pop_to(size_t depth) {
  while (!scopes_.empty() && scopes_.back().depth > depth)
    scopes_.pop_back();
}

void device_scopes::apply(const graph& to, node_spec& spec, const op_def& op) const {
  auto depth = to.depth(graph::scope_kind::device);
  auto chosen = false; // by more than the device text on the graph's stack
  device_name device;
  std::vector<std::string> groups;
  const node* neighbor = nullptr;
  for (auto i = first_within(depth); i < scopes_.size(); ++i) {
    const auto& scope = scopes_[i];
    if (scope.resets) {
      device = scope.device;
      groups.clear();
    } else {
      device = within(device, scope.device);
    }
    if (scope.neighbor) {
      groups = {scope.neighbor->name()};
      neighbor = scope.neighbor;
      chosen = true;
    }
    if (!scope.choose)
      continue;
    auto result_device = device_name::parse(scope.choose(spec, op));
    if (!result_device)
      throw error{result_device.status().with_context(
          concat("a device function, for ", spec.op, " (", to_string(spec.where), ')'))};
    device = within(device, *result_device);
    chosen = true;
  }
  if (!chosen)
    return;
  if (spec.device.empty()) {
    // The neighbor's text also marks parts that are only preferred.
    auto neighbor_device = neighbor ? device_name::parse(neighbor->device()) : device_name{};
    spec.device = neighbor && neighbor_device && *neighbor_device == device ? neighbor->device()
                                                                            : to_string(device);
  }
  add_colocation(spec.attrs, groups);
}

} // namespace detail
} // namespace troupe
