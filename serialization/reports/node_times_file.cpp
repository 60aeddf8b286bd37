#include "troupe/serialization/reports/node_times_file.hpp"

#include "troupe/serialization/storage/file.hpp"

#include <nlohmann/json.hpp>

#include <sstream>

namespace troupe {
namespace {

using nlohmann::json;

constexpr std::string_view kind = "node times";
constexpr int version = 1;

// The member of that name; null if it is missing or of another type.
template <class T>
const T* member(const json& object, const char* name) {
  auto entry = object.find(name);
  return entry == object.end() ? nullptr : entry->get_ptr<const T*>();
}

// Reads a time or size: any number that is not negative.
bool read_number(const json& object, const char* name, double& to) {
  auto entry = object.find(name);
  if (entry == object.end() || !entry->is_number())
    return false;
  to = entry->get<double>();
  return to >= 0 && to < 1e18;
}

result<node_time> read_node_time(const json& from) {
  node_time parsed;
  const auto* node = from.is_object() ? member<std::string>(from, "node") : nullptr;
  if (!node)
    return invalid("expected an object with the name of a node");
  parsed.node = *node;
  if (const auto* device = member<std::string>(from, "device"))
    parsed.device = *device;
  const auto* runs = member<json::number_unsigned_t>(from, "runs");
  if (!runs || !read_number(from, "mean_ns", parsed.mean_ns) ||
      !read_number(from, "mean_bytes", parsed.mean_bytes))
    return invalid("node '", parsed.node,
                   "': expected runs, mean_ns and mean_bytes, numbers from 0 on");
  parsed.runs = *runs;
  return parsed;
}

} // namespace

std::string node_times_json(std::span<const node_time> times) {
  auto nodes = json::array();
  for (const auto& entry : times)
    nodes.push_back({{"node", entry.node},
                     {"device", entry.device},
                     {"runs", entry.runs},
                     {"mean_ns", entry.mean_ns},
                     {"mean_bytes", entry.mean_bytes}});
  json root{{"troupe", kind}, {"version", version}, {"nodes", std::move(nodes)}};
  return root.dump(1, ' ', false, json::error_handler_t::replace);
}

result<std::vector<node_time>> parse_node_times(std::string_view text) {
  auto root = json::parse(text, nullptr, false);
  if (root.is_discarded() || !root.is_object())
    return invalid("node times: expected a JSON object");
  const auto* stored_kind = member<std::string>(root, "troupe");
  if (!stored_kind || *stored_kind != kind)
    return invalid("node times: expected \"troupe\": \"", kind, '"');
  auto stored_version = root.find("version");
  if (stored_version == root.end() || *stored_version != version)
    return invalid("node times: expected version ", version);
  const auto* nodes = member<json::array_t>(root, "nodes");
  if (!nodes)
    return invalid("node times: expected a list of nodes");
  std::vector<node_time> times;
  for (const auto& entry : *nodes) {
    auto parsed = read_node_time(entry);
    if (!parsed)
      return parsed.status().with_context(concat("node times, entry ", times.size()));
    times.push_back(*std::move(parsed));
  }
  return times;
}

status write_node_times(const std::string& path, std::span<const node_time> times) {
  return write_file(path, node_times_json(times) + '\n').with_context("node times");
}

result<std::vector<node_time>> read_node_times(const std::string& path) {
  auto text = read_file(path);
  if (!text)
    return text.status().with_context("node times");
  auto parsed = parse_node_times(*text);
  if (!parsed)
    return parsed.status().with_context(path);
  return parsed;
}

} // namespace troupe
