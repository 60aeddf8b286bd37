#include "troupe/api/train/checkpoint/kept_state.hpp"

#include "troupe/api/generated/ops.hpp"
#include "troupe/runtime/device/device_name.hpp"

#include <algorithm>
#include <map>

namespace troupe {
namespace {

bool is_mutable_table(const node& of) { return of.op().name.starts_with("MutableHashTable"); }

bool holds_something(const node& of) {
  switch (of.op().makes) {
    case resource::none:
    case resource::variable:
    case resource::mutex:
    case resource::files: return false;
    case resource::table: return is_mutable_table(of);
    default: return !of.op().per_step;
  }
}

bool belongs_to_step(const node& of) {
  return of.op().makes == resource::accumulator || of.op().makes == resource::clock;
}

bool on_accelerator(const node& of) {
  auto device = device_name::parse(of.device());
  return device && !device->kind.empty() && device->kind != "cpu";
}

bool can_be_kept(const node& of) {
  switch (of.op().makes) {
    case resource::queue: return !on_accelerator(of);
    case resource::reader:
    case resource::table: return true;
    default: return false;
  }
}

// Nodes that say the same stand for the same state, on one task.
std::string name_of(const node& of) {
  auto text = [&](const char* attr) {
    auto it = of.attrs().find(attr);
    const auto* value = it == of.attrs().end() ? nullptr : it->second.get_if<std::string>();
    return value ? *value : std::string{};
  };
  auto shared = text("shared_name"), container = text("container");
  if (!shared.empty() && !of.device().empty())
    shared += concat('@', of.device());
  return concat(container, container.empty() ? "" : "/", shared.empty() ? of.name() : shared);
}

std::string key_of(const node& of) { return concat(to_string(of.op().makes), ':', name_of(of)); }

} // namespace

std::vector<kept_value> add_kept_state(graph_builder& to, std::source_location where) {
  std::map<std::string, node*> all;
  for (const auto& one : to.nodes())
    if (holds_something(*one) && can_be_kept(*one))
      all.emplace(key_of(*one), one.get());
  std::vector<kept_value> made;
  auto given = [&](dtype type, const partial_shape& dims = {}) {
    return to.placeholder(type, dims, {}, where);
  };
  for (const auto& [key, of] : all) {
    edge handle{of, 0};
    if (of->op().makes == resource::table) {
      auto key_type = of->attr<dtype>("key_dtype"), value_type = of->attr<dtype>("value_dtype");
      auto pairs = lookup_table_export(handle, key_type, value_type, {}, where);
      auto keys = given(key_type), values = given(value_type);
      auto* restored = lookup_table_import(handle, keys, values, {}, where);
      made.push_back({concat(key, "/keys"), pairs.keys, keys, restored, true});
      made.push_back({concat(key, "/values"), pairs.values, values, restored, true});
      continue;
    }
    auto is_queue = of->op().makes == resource::queue;
    auto value = is_queue ? queue_serialize_state(handle, {}, where)
                          : reader_serialize_state(handle, {}, where);
    auto state = given(dtype::string, shape{});
    auto* restored = is_queue ? queue_restore_state(handle, state, {}, where)
                              : reader_restore_state(handle, state, {}, where);
    made.push_back({key, value, state, restored, true});
  }
  return made;
}

unkept_state state_not_kept(const graph& of, const std::vector<kept_value>& kept) {
  std::set<std::string> known;
  unkept_state found;
  for (const auto& one : kept)
    if (const auto& inputs = one.value.node->inputs(); !inputs.empty())
      if (const auto* behind = resource_behind(inputs[0]))
        known.insert(key_of(*behind));
  for (const auto& one : of.nodes())
    if (holds_something(*one) && !known.contains(key_of(*one)))
      (belongs_to_step(*one) ? found.of_step : found.lost)
          .insert(concat(to_string(one->op().makes), " '", name_of(*one), '\''));
  return found;
}

} // namespace troupe
