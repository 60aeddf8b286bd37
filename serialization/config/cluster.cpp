#include "troupe/serialization/config/cluster.hpp"

#include "troupe/serialization/config/address_text.hpp"
#include "troupe/serialization/storage/strict_json.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

namespace troupe {

bool is_job_name(std::string_view name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return !name.empty() && letter(name[0]) && std::ranges::all_of(name, inner);
}

bool is_address(std::string_view text) {
  auto colon = text.rfind(':');
  if (colon == text.npos || colon == 0)
    return false;
  auto host = text.substr(0, colon), digits = text.substr(colon + 1);
  auto bracketed = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  if ((host.find(':') != host.npos && !bracketed) || host.find_first_of(" \t\n/") != host.npos)
    return false;
  uint16_t port = 0;
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return problem == std::errc{} && end == digits.data() + digits.size() && port != 0;
}

namespace {

using nlohmann::json;

constexpr size_t longest_file = 16 << 20, longest_name = 256;
constexpr int deepest_cluster = 8;

std::string print(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace

result<cluster_spec> parse_cluster(std::string_view text, std::string_view origin) {
  auto bad = [&](const auto&... parts) { return invalid(origin, ": ", parts...); };
  auto parsed = parse_strict_json(text, deepest_cluster);
  if (!parsed)
    return bad(parsed.status().message());
  auto root = *std::move(parsed);
  // As in TF_CONFIG, other keys beside "cluster" describe this process.
  cluster_spec cluster;
  if (root.is_object() && root.contains("cluster") && root["cluster"].is_object()) {
    if (auto name = root.find("cluster_name"); name != root.end()) {
      if (!name->is_string() || name->get<std::string>().size() > longest_name)
        return bad("cluster_name must be a text of at most ", longest_name, " bytes, got ",
                   print(*name).substr(0, longest_name));
      cluster.name = name->get<std::string>();
    }
    root = json(root["cluster"]);
  }
  if (!root.is_object() || root.empty())
    return bad(R"(must be an object of jobs such as {"worker": ["127.0.0.1:7001"]})");
  std::map<std::string, task_name> tasks;
  for (const auto& [job, addresses] : root.items()) {
    if (!is_job_name(job))
      return bad(print(job),
                 " is not a valid name of a job: letters, digits, _ and - after a letter");
    if (!addresses.is_array() || addresses.empty())
      return bad("job '", job, "' must be a list of addresses, got ", print(addresses));
    for (const auto& entry : addresses) {
      if (!entry.is_string() || !is_address(entry.get<std::string>()))
        return bad("job '", job, "': ", print(entry), " is not an address; write \"host:port\"");
      auto address = entry.get<std::string>();
      task_name task{job, static_cast<int>(cluster.jobs[job].size())};
      auto [other, is_new] = tasks.emplace(address, task);
      if (!is_new)
        return bad(task, " has the address ", address, " of ", other->second);
      cluster.jobs[job].push_back(std::move(address));
    }
  }
  return cluster;
}

result<cluster_spec> read_cluster_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string text(longest_file + 1, '\0');
  // Opening a folder succeeds, but reading it fails.
  if (!file || (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && file.bad()))
    return failure(error_kind::not_found, "cannot read the cluster file ", path);
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > longest_file)
    return invalid("the cluster file ", path, " is longer than ", longest_file, " bytes");
  return parse_cluster(text, path);
}

std::string to_json(const cluster_spec& cluster) {
  json root = cluster.jobs;
  if (!cluster.name.empty())
    root = {{"cluster", cluster.jobs}, {"cluster_name", cluster.name}};
  return root.dump(2, ' ', false, json::error_handler_t::replace);
}

std::vector<task_name> tasks_of(const cluster_spec& cluster) {
  std::vector<task_name> tasks;
  for (const auto& [job, addresses] : cluster.jobs)
    for (size_t i = 0; i < addresses.size(); ++i)
      tasks.push_back({job, static_cast<int>(i)});
  return tasks;
}

result<std::string> address_of(const cluster_spec& cluster, const task_name& task) {
  auto entry = cluster.jobs.find(task.job);
  if (entry == cluster.jobs.end() || task.task < 0 ||
      static_cast<size_t>(task.task) >= entry->second.size()) {
    std::string known_tasks;
    for (const auto& known : tasks_of(cluster))
      known_tasks += concat(known_tasks.empty() ? "" : ", ", known);
    return failure(error_kind::not_found, "the cluster has no task ", task, ", only ", known_tasks);
  }
  return entry->second[static_cast<size_t>(task.task)];
}

} // namespace troupe
