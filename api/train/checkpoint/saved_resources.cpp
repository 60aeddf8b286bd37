#include "troupe/api/train/checkpoint/saved_resources.hpp"
// Reads and restores queues, readers and mutable tables for checkpoints.

#include "troupe/api/generated/ops.hpp"
#include "troupe/runtime/device/device_name.hpp"

#include <algorithm>
#include <map>

namespace troupe {
namespace {

bool is_mutable_table(const node& producer) {
  return producer.op().name.starts_with("MutableHashTable");
}

bool has_saved_state(const node& producer) {
  switch (producer.op().state_kind) {
    case resource::none:
    case resource::variable:
    case resource::mutex:
    case resource::files: return false;
    case resource::table: return is_mutable_table(producer);
    default: return !producer.op().per_step;
  }
}

bool belongs_to_step(const node& producer) {
  return producer.op().state_kind == resource::accumulator ||
         producer.op().state_kind == resource::clock;
}

bool is_on_accelerator(const node& producer) {
  auto device = device_name::parse(producer.device());
  return device && !device->kind.empty() && device->kind != "cpu";
}

bool can_be_saved(const node& producer) {
  switch (producer.op().state_kind) {
    case resource::queue: return !is_on_accelerator(producer);
    case resource::reader:
    case resource::table: return true;
    default: return false;
  }
}

// Returns a key that is equal for nodes of the same state on one task.
std::string name_of(const node& producer) {
  auto text = [&](const char* attr) {
    auto entry = producer.attrs().find(attr);
    const auto* value =
        entry == producer.attrs().end() ? nullptr : entry->second.get_if<std::string>();
    return value ? *value : std::string{};
  };
  auto shared = text("shared_name"), container = text("container");
  if (!shared.empty() && !producer.device().empty())
    shared += concat('@', producer.device());
  return concat(container, container.empty() ? "" : "/", shared.empty() ? producer.name() : shared);
}

std::string key_of(const node& producer) {
  return concat(to_string(producer.op().state_kind), ':', name_of(producer));
}

} // namespace

std::vector<saved_value> add_saved_state(graph_builder& to, std::source_location where) {
  std::map<std::string, node*> resources;
  for (const auto& candidate : to.nodes())
    if (has_saved_state(*candidate) && can_be_saved(*candidate))
      resources.emplace(key_of(*candidate), candidate.get());
  std::vector<saved_value> kept;
  auto add_placeholder = [&](dtype type, const partial_shape& dims = {}) {
    return to.placeholder(type, dims, {}, where);
  };
  for (const auto& [key, producer] : resources) {
    edge handle{producer, 0};
    if (producer->op().state_kind == resource::table) {
      auto key_type = producer->attr<dtype>("key_dtype"),
           value_type = producer->attr<dtype>("value_dtype");
      auto pairs = lookup_table_export(handle, key_type, value_type, {}, where);
      auto keys = add_placeholder(key_type), values = add_placeholder(value_type);
      auto* restored = lookup_table_import(handle, keys, values, {}, where);
      kept.push_back({concat(key, "/keys"), pairs.keys, keys, restored, true});
      kept.push_back({concat(key, "/values"), pairs.values, values, restored, true});
      continue;
    }
    auto is_queue = producer->op().state_kind == resource::queue;
    auto value = is_queue ? queue_serialize_state(handle, {}, where)
                          : reader_serialize_state(handle, {}, where);
    auto state = add_placeholder(dtype::string, shape{});
    auto* restored = is_queue ? queue_restore_state(handle, state, {}, where)
                              : reader_restore_state(handle, state, {}, where);
    kept.push_back({key, value, state, restored, true});
  }
  return kept;
}

unsaved_state find_unsaved_state(const graph& model, const std::vector<saved_value>& kept) {
  std::set<std::string> known;
  unsaved_state unsaved;
  for (const auto& saved : kept)
    if (const auto& inputs = saved.value.node->inputs(); !inputs.empty())
      if (const auto* producer = resource_behind(inputs[0]))
        known.insert(key_of(*producer));
  for (const auto& candidate : model.nodes())
    if (has_saved_state(*candidate) && !known.contains(key_of(*candidate)))
      (belongs_to_step(*candidate) ? unsaved.of_step : unsaved.lost)
          .insert(concat(to_string(candidate->op().state_kind), " '", name_of(*candidate), '\''));
  return unsaved;
}

} // namespace troupe
