#include "troupe/serialization/reports/node_times_file.hpp"

#include "troupe/serialization/storage/file.hpp"

#include <nlohmann/json.hpp>

#include <sstream>

namespace troupe {
namespace {

using nlohmann::json;

constexpr std::string_view kind = "node times";
constexpr int version = 1;

// The member, if it is there and of the type.
template <class T>
const T* member(const json& of, const char* name) {
  auto it = of.find(name);
  return it == of.end() ? nullptr : it->get_ptr<const T*>();
}

// A time or size: any number that is not negative.
bool read_number(const json& of, const char* name, double& to) {
  auto it = of.find(name);
  if (it == of.end() || !it->is_number())
    return false;
  to = it->get<double>();
  return to >= 0 && to < 1e18;
}

result<node_time> read_one(const json& from) {
  node_time one;
  const auto* node = from.is_object() ? member<std::string>(from, "node") : nullptr;
  if (!node)
    return invalid("expected an object with the name of a node");
  one.node = *node;
  if (const auto* device = member<std::string>(from, "device"))
    one.device = *device;
  const auto* runs = member<json::number_unsigned_t>(from, "runs");
  if (!runs || !read_number(from, "mean_ns", one.mean_ns) ||
      !read_number(from, "mean_bytes", one.mean_bytes))
    return invalid("node '", one.node,
                   "': expected runs, mean_ns and mean_bytes, numbers from 0 on");
  one.runs = *runs;
  return one;
}

} // namespace

std::string node_times_json(std::span<const node_time> times) {
  auto nodes = json::array();
  for (const auto& one : times)
    nodes.push_back({{"node", one.node},
                     {"device", one.device},
                     {"runs", one.runs},
                     {"mean_ns", one.mean_ns},
                     {"mean_bytes", one.mean_bytes}});
  json root{{"troupe", kind}, {"version", version}, {"nodes", std::move(nodes)}};
  return root.dump(1, ' ', false, json::error_handler_t::replace);
}

result<std::vector<node_time>> parse_node_times(std::string_view text) {
  auto root = json::parse(text, nullptr, false);
  if (root.is_discarded() || !root.is_object())
    return invalid("node times: expected a JSON object");
  const auto* what = member<std::string>(root, "troupe");
  if (!what || *what != kind)
    return invalid("node times: expected \"troupe\": \"", kind, '"');
  auto made_by = root.find("version");
  if (made_by == root.end() || *made_by != version)
    return invalid("node times: expected version ", version);
  const auto* nodes = member<json::array_t>(root, "nodes");
  if (!nodes)
    return invalid("node times: expected a list of nodes");
  std::vector<node_time> all;
  for (const auto& each : *nodes) {
    auto one = read_one(each);
    if (!one)
      return one.status().within(concat("node times, entry ", all.size()));
    all.push_back(*std::move(one));
  }
  return all;
}

status write_node_times(const std::string& path, std::span<const node_time> times) {
  return write_file(path, node_times_json(times) + '\n').within("node times");
}

result<std::vector<node_time>> read_node_times(const std::string& path) {
  auto text = read_file(path);
  if (!text)
    return text.status().within("node times");
  auto parsed = parse_node_times(*text);
  if (!parsed)
    return parsed.status().within(path);
  return parsed;
}

} // namespace troupe
