#include "troupe/api/collectives.hpp"
// Adds the nodes of collective operations.

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace troupe {
namespace {

using location = std::source_location;

// Hashes the devices of a group: every process gets the same key for the same devices.
int64_t key_of(const std::vector<std::string>& devices) {
  uint32_t key = 2166136261u;
  for (const auto& device : devices)
    for (auto byte : device + '\n')
      key = (key ^ static_cast<uint8_t>(byte)) * 16777619u;
  return static_cast<int64_t>(key >> 1);
}

attr_map keys_of(const graph& in, const std::vector<std::string>& devices) {
  // Graphs only grow, so each call gets a unique instance key.
  return {{"group_size", static_cast<int64_t>(devices.size())},
          {"group_key", key_of(devices)},
          {"instance_key", static_cast<int64_t>(in.nodes().size()) + 1}};
}

void check_devices(std::string_view function, const std::vector<std::string>& devices,
                   location where) {
  std::map<std::string, int> uses;
  for (const auto& device : devices) {
    if (device.empty())
      reject(function, where, "each edge must be on a device: make it within graph_builder::on()");
    if (uses[device]++)
      reject(function, where, "two edges are on ", device, "; each must be on another device");
  }
}

edge add_on(graph& in, const std::string& device, std::string_view op,
            std::vector<detail::operands> inputs, attr_map attrs, location where) {
  in.push_device(device);
  graph_scope on{in, graph_scope::kind::device};
  return detail::add_node(&in, op, std::move(inputs), std::move(attrs), {}, where).output(0);
}

std::vector<edge> add_members(std::string_view function, std::string_view op,
                              const std::vector<edge>& xs, std::vector<std::string> devices,
                              const attr_map& extra_attrs, location where) {
  if (xs.empty())
    reject(function, where, "needs at least one edge");
  if (!devices.empty() && devices.size() != xs.size())
    reject(function, where, "got ", devices.size(), " devices for ", xs.size(), " edges");
  const auto has_devices = !devices.empty();
  for (const auto& x : xs) {
    if (!x.exists() || &x.node->graph() != &xs.front().node->graph())
      reject(function, where, "all edges must be of one graph");
    if (x.type() != xs.front().type() || !x.dims().compatible(xs.front().dims()))
      reject(function, where, "'", x, "' is ", x.type(), x.dims(), ", but '", xs.front(), "' is ",
             xs.front().type(), xs.front().dims());
    if (!has_devices)
      devices.push_back(x.node->device());
  }
  check_devices(function, devices, where);
  auto& in = xs.front().node->graph();
  auto attrs = keys_of(in, devices);
  attrs.insert(extra_attrs.begin(), extra_attrs.end());
  std::vector<edge> outputs;
  for (size_t i = 0; i < xs.size(); ++i)
    outputs.push_back(add_on(in, devices[i], op, {{operand{xs[i], where}}}, attrs, where));
  return outputs;
}

attr_map reduction_attrs(reduce_by by) {
  const char* name = by == reduce_by::product ? "Mul"
                     : by == reduce_by::min   ? "Min"
                     : by == reduce_by::max   ? "Max"
                                              : "Add";
  return {{"merge_op", std::string{name}},
          {"final_op", std::string{by == reduce_by::mean ? "Div" : "Id"}}};
}

} // namespace

std::vector<edge> all_reduce(const std::vector<edge>& xs, reduce_by by, location where) {
  return add_members("all_reduce", "CollectiveReduce", xs, {}, reduction_attrs(by), where);
}

std::vector<edge> all_reduce(const std::vector<edge>& xs, const std::vector<std::string>& devices,
                             reduce_by by, location where) {
  if (devices.empty())
    reject("all_reduce", where, "needs at least one device");
  return add_members("all_reduce", "CollectiveReduce", xs, devices, reduction_attrs(by), where);
}

std::vector<edge> all_gather(const std::vector<edge>& xs, location where) {
  return add_members("all_gather", "CollectiveGather", xs, {}, {}, where);
}

std::vector<edge> reduce_scatter(const std::vector<edge>& xs, reduce_by by, location where) {
  return add_members("reduce_scatter", "CollectiveReduceScatter", xs, {}, reduction_attrs(by),
                     where);
}

std::vector<edge> broadcast(edge x, const std::vector<std::string>& devices, location where) {
  if (!x.exists())
    reject("broadcast", where, "x is an empty edge");
  if (devices.empty())
    reject("broadcast", where, "needs at least one device");
  check_devices("broadcast", devices, where);
  auto& in = x.node->graph();
  auto attrs = keys_of(in, devices);
  attrs.insert_or_assign("shape", x.dims());
  std::vector<edge> outputs{
      add_on(in, devices.front(), "CollectiveBcastSend", {{operand{x, where}}}, attrs, where)};
  attrs.insert_or_assign("T", x.type());
  for (size_t i = 1; i < devices.size(); ++i)
    outputs.push_back(add_on(in, devices[i], "CollectiveBcastRecv", {}, attrs, where));
  return outputs;
}

} // namespace troupe
