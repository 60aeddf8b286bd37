#include "troupe/api/device_functions.hpp"

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
  const auto* of = type->second.get_if<dtype>();
  const auto* shape = dims->second.get_if<partial_shape>();
  double bytes = of ? static_cast<double>(std::max<size_t>(size_of(*of), 1)) : 1;
  if (shape && shape->has_rank())
    for (auto extent : shape->extents())
      bytes *= static_cast<double>(std::max<int64_t>(extent, 1));
  return bytes;
}

// The variable or table that the node takes itself.
const node* state_taken(const node_spec& by, const op_def& op) {
  if (op.inputs.empty() || by.inputs.empty() || !(op.inputs[0].ref || op.inputs[0].handle))
    return nullptr;
  const auto& from = by.inputs[0];
  return from.exists() && from.node->output_is_ref(from.index) ? resource_behind(from) : nullptr;
}

class replica_chooser {
public:
  explicit replica_chooser(replica_devices_options options)
      : options_(std::move(options)), bytes_(static_cast<size_t>(options_.ps_tasks)) {}

  std::string choose(const node_spec& added, const op_def& op) {
    if (op.makes == resource::variable || op.makes == resource::table)
      return concat("/job:", options_.ps_job, "/task:", next_task(bytes_of(added)));
    if (const auto* state = state_taken(added, op))
      return state->device();
    return options_.worker;
  }

private:
  size_t next_task(double bytes) {
    using spread = replica_devices_options::spread;
    auto task = options_.variables == spread::by_turns
                    ? turn_++ % bytes_.size()
                    : static_cast<size_t>(std::ranges::min_element(bytes_) - bytes_.begin());
    bytes_[task] += bytes;
    return task;
  }

  const replica_devices_options options_;
  std::vector<double> bytes_; // by task
  size_t turn_ = 0;
};

// `inner` within `outer`.
device_name within(const device_name& outer, const device_name& inner) {
  auto made = inner;
  if (made.job.empty())
    made.job = outer.job;
  else if (made.job != outer.job && !outer.job.empty())
    return made;
  if (made.task < 0)
    made.task = outer.task;
  else if (made.task != outer.task && outer.task >= 0)
    return made;
  if (made.kind.empty()) {
    made.kind = outer.kind;
    made.ordinal = outer.ordinal;
  }
  return made;
}

} // namespace

device_function replica_devices(replica_devices_options options, std::source_location where) {
  auto fail = [&](const auto&... why) {
    throw error{invalid("replica_devices (", to_string(where), "): ", why...)};
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
    return scopes_.size(); // something else was pushed since
  auto first = scopes_.size() - 1;
  while (first > 0 && scopes_[first - 1].depth + 1 == scopes_[first].depth)
    --first;
  return first;
}

// Without what functions say.
device_name device_scopes::fixed(size_t depth) const {
  device_name found;
  for (auto i = first_within(depth); i < scopes_.size(); ++i)
    found = scopes_[i].resets ? device_name{} : within(found, scopes_[i].device);
  return found;
}

void device_scopes::push(graph& of, const device_name& device, std::string_view text) {
  auto depth = of.depth(graph::scope_kind::device);
  auto resets = text.empty();
  auto whole = resets ? device : within(fixed(depth), device);
  of.push_device(whole == device ? std::string{text} : to_string(whole));
  scopes_.push_back({depth + 1, device, resets});
}

void device_scopes::push(graph& of, device_function choose) {
  auto depth = of.depth(graph::scope_kind::device);
  of.push_device(to_string(fixed(depth)));
  scopes_.push_back({depth + 1, {}, false, std::move(choose)});
}

void device_scopes::push(graph& of, const node& beside) {
  auto depth = of.depth(graph::scope_kind::device);
  of.push_device(beside.device());
  auto device = device_name::parse(beside.device());
  scopes_.push_back({depth + 1, device ? *device : device_name{}, true, {}, &beside});
}

void device_scopes::pop_to(size_t depth) {
  while (!scopes_.empty() && scopes_.back().depth > depth)
    scopes_.pop_back();
}

void device_scopes::apply(const graph& to, node_spec& what, const op_def& op) const {
  auto depth = to.depth(graph::scope_kind::device);
  auto chosen = false; // by more than the text that the graph knows
  device_name device;
  std::vector<std::string> groups;
  const node* beside = nullptr;
  for (auto i = first_within(depth); i < scopes_.size(); ++i) {
    const auto& scope = scopes_[i];
    if (scope.resets) {
      device = scope.device;
      groups.clear();
    } else {
      device = within(device, scope.device);
    }
    if (scope.beside) {
      groups = {scope.beside->name()};
      beside = scope.beside;
      chosen = true;
    }
    if (!scope.choose)
      continue;
    auto said = device_name::parse(scope.choose(what, op));
    if (!said)
      throw error{said.status().within(
          concat("a device function, for ", what.op, " (", to_string(what.where), ')'))};
    device = within(device, *said);
    chosen = true;
  }
  if (!chosen)
    return;
  if (what.device.empty()) {
    // The text of the node beside says which parts are only preferred.
    auto same = beside ? device_name::parse(beside->device()) : device_name{};
    what.device = beside && same && *same == device ? beside->device() : to_string(device);
  }
  add_colocation(what.attrs, groups);
}

} // namespace detail
} // namespace troupe
